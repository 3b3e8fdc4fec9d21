"""A transition table that is left open: what each state does at each symbol is a constant of the step.

Machines of one tape with the same states and symbols then share one step circuit, and differ only in
the values of its constants.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from tapeformer.machine.record import Rule, TuringMachine

NO_RULE = "---"
"""The value of an entry of the table for which there is no rule."""


Entry = tuple[str, str]
"""A state and a symbol."""


def table_entries(machine: TuringMachine) -> dict[Entry, dict[str, Rule]]:
    """Return for each state that goes on, and each symbol, the rules that it may have, by their text.

    The states, symbols and moves are those of the machine, whatever its own rules say.
    """
    moves = sorted({rule.moves for rule in machine.rules})
    states = (state for state in machine.states if state not in machine.stopping)
    return {
        (state, symbol): {
            rule_text(rule): rule
            for write, move, following in product(machine.symbols, moves, machine.states)
            for rule in [Rule(state, (symbol,), (write,), move, following)]
        }
        for state, symbol in product(states, machine.symbols)
    }


def table_ports(machine: TuringMachine) -> dict[str, tuple[str, ...]]:
    """Return the port of each entry of the table, with its values."""
    return {
        entry_port(*entry): (NO_RULE, *rules) for entry, rules in table_entries(machine).items()
    }


def table_constants(entries: Iterable[Entry], member: TuringMachine) -> dict[str, str]:
    """Return the table of a member as constants: what its rules say for some entries."""
    return {
        entry_port(state, symbol): NO_RULE if rule is None else rule_text(rule)
        for state, symbol in entries
        for rule in [member.rule_for.get((state, (symbol,)))]
    }


def entry_port(state: str, symbol: str) -> str:
    """Return the port that says what a state does at a symbol."""
    return f"table {state} {symbol}"


def rule_text(rule: Rule) -> str:
    """Return what a rule of one tape does, such as `1 R B`."""
    return f"{rule.write[0]} {rule.moves[0].letter} {rule.next_state}"
