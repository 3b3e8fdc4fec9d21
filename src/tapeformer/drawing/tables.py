"""Show machines as tables in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from tapeformer.drawing.facts import RULE_COLUMNS, facts, rule_cells
from tapeformer.machine.record import TuringMachine

MOST_ROWS = 200


def gallery_table(machines: Iterable[TuringMachine]) -> Table:
    """Return the gallery, one line per machine."""
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "tapes", "states", "rules", "what it does"):
        table.add_column(heading, overflow="fold")
    for machine in machines:
        sizes = (str(machine.tapes), str(len(machine.states)), str(len(machine.rules)))
        first_sentence = machine.description.split(". ")[0].rstrip(".").replace("\n", " ")
        table.add_row(machine.name, *sizes, escape(first_sentence))
    return table


def facts_table(machine: TuringMachine) -> Table:
    """Return what a machine is: sizes, roles, conventions."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in facts(machine).items():
        table.add_row(name, escape(value))
    return table


def rules_table(machine: TuringMachine, everything: bool) -> Table:
    """Return the rules; only the first of a long list unless everything is wanted."""
    table = Table(box=None, pad_edge=False)
    for heading in RULE_COLUMNS:
        table.add_column(heading, overflow="fold")
    shown = machine.rules if everything else machine.rules[:MOST_ROWS]
    before = None
    for rule in shown:
        state, *others = map(escape, rule_cells(rule))
        table.add_row("" if rule.state == before else state, *others)
        before = rule.state
    if len(shown) < len(machine.rules):
        table.caption = f"{len(machine.rules) - len(shown)} more rules: add --all"
    return table


def records_table(records: Sequence[Mapping[str, Any]], title: str) -> Table:
    """Return records with equal keys, one line each."""
    table = Table(box=None, pad_edge=False, title=title, title_justify="left")
    for heading in records[0] if records else ():
        table.add_column(heading, no_wrap=True)
    for record in records:
        table.add_row(*(escape(_cell(value)) for value in record.values()))
    return table


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
