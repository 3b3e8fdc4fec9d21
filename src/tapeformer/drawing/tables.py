"""Machines as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.markup import escape
from rich.table import Table

from tapeformer.drawing.symbols import visible
from tapeformer.machine.record import TuringMachine

MOST_ROWS = 200


def gallery_table(machines: Iterable[TuringMachine]) -> Table:
    """The gallery, one line each."""
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "tapes", "states", "rules", "what it does"):
        table.add_column(heading, overflow="fold")
    for machine in machines:
        sizes = (str(machine.tapes), str(len(machine.states)), str(len(machine.rules)))
        first_sentence = machine.description.split(". ")[0].rstrip(".").replace("\n", " ")
        table.add_row(machine.name, *sizes, escape(first_sentence))
    return table


def facts_table(machine: TuringMachine) -> Table:
    """What a machine is: sizes, roles, conventions."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in facts(machine).items():
        table.add_row(name, escape(value))
    return table


def facts(machine: TuringMachine) -> dict[str, str]:
    """The lines of a machine's description, those that say something."""
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


def rules_table(machine: TuringMachine, everything: bool) -> Table:
    """The rules; only the first of a long list unless everything is wanted."""
    table = Table(box=None, pad_edge=False)
    for heading in ("state", "reads", "writes", "moves", "next"):
        table.add_column(heading, overflow="fold")
    shown = machine.rules if everything else machine.rules[:MOST_ROWS]
    before = None
    for rule in shown:
        table.add_row(
            "" if rule.state == before else escape(rule.state),
            escape(" ".join(map(visible, rule.read))),
            "" if rule.write == rule.read else escape(" ".join(map(visible, rule.write))),
            " ".join(move.letter for move in rule.moves),
            "" if rule.next_state == rule.state else escape(rule.next_state),
        )
        before = rule.state
    if len(shown) < len(machine.rules):
        table.caption = f"{len(machine.rules) - len(shown)} more rules: add --all"
    return table


def _kind(machine: TuringMachine) -> str:
    one_way = machine.tape_kind.value == "one-way"
    return "bounded on the left" if one_way else "infinite both ways"


def _names(names: Iterable[str], most: int = 40) -> str:
    listed = list(names)
    more = f" ... ({len(listed) - most} more)" if len(listed) > most else ""
    return " ".join(listed[:most]) + more
