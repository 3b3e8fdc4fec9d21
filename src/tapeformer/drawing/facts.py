"""What is shown about a machine and its rules, as plain texts."""

from __future__ import annotations

from collections.abc import Iterable

from tapeformer.drawing.symbols import visible
from tapeformer.machine.record import Rule, TuringMachine

RULE_COLUMNS = ("state", "reads", "writes", "moves", "next")


def facts(machine: TuringMachine) -> dict[str, str]:
    """Return what is known about a machine, without what is empty."""
    accepting = f" (on {machine.accept_on.value})" if machine.accepting else ""
    lines = {
        "machine": machine.name,
        "description": machine.description,
        "read as": machine.origin,
        "tapes": f"{machine.tapes}, {_kind(machine)}",
        "states": f"{len(machine.states)}: {_names(machine.states)}",
        "symbols": f"{len(machine.symbols)}: {_names(map(visible, machine.symbols))}",
        "blank": visible(machine.blank),
        "start": machine.start,
        "accepting": _names(sorted(machine.accepting)) + accepting,
        "rejecting": _names(sorted(machine.rejecting)),
        "halting": _names(sorted(machine.halting)),
        "rules": str(len(machine.rules)),
        "cases": str(len(machine.cases) or ""),
        "input in file": machine.spell(machine.default_word or ()),
    }
    return {name: value for name, value in lines.items() if value}


def rule_cells(rule: Rule) -> tuple[str, ...]:
    """Return the cells of a rule; one that keeps the symbols or the state leaves them empty."""
    return (
        visible(rule.state),
        " ".join(map(visible, rule.read)),
        "" if rule.write == rule.read else " ".join(map(visible, rule.write)),
        " ".join(move.letter for move in rule.moves),
        "" if rule.next_state == rule.state else visible(rule.next_state),
    )


def _kind(machine: TuringMachine) -> str:
    one_way = machine.tape_kind.value == "one-way"
    return "bounded on the left" if one_way else "infinite both ways"


def _names(names: Iterable[str], most: int = 40) -> str:
    listed = list(names)
    more = f" ... ({len(listed) - most} more)" if len(listed) > most else ""
    return " ".join(listed[:most]) + more
