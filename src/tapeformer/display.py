"""Show machines and results in a notebook, as HTML; loaded only when one is displayed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from tapeformer.drawing.diagram import MOST_STATES_INLINE, diagram
from tapeformer.drawing.facts import RULE_COLUMNS, facts, rule_cells
from tapeformer.drawing.symbols import visible
from tapeformer.faults import counted
from tapeformer.machine.record import TuringMachine
from tapeformer.machine.verify import checked, require_machine
from tapeformer.simulator.outcome import Tape
from tapeformer.simulator.result import Result

MOST_ROWS = 100
MOST_CELLS = 60


def state_diagram(machine: TuringMachine) -> str:
    """Return the state diagram of a small machine as SVG."""
    return diagram(checked(require_machine(machine)))


def machine_html(machine: TuringMachine) -> str:
    """Return the facts of a machine, its diagram if it is small, and its rules."""
    rows = [rule_cells(rule) for rule in machine.rules[:MOST_ROWS]]
    parts = [facts_html(facts(machine))]
    if len(machine.states) <= MOST_STATES_INLINE:
        parts.append(f'<div style="max-width: 40em">{diagram(machine)}</div>')
    parts.append(table_html(RULE_COLUMNS, rows))
    if len(machine.rules) > MOST_ROWS:
        parts.append(f"<p>{counted(len(machine.rules) - MOST_ROWS, 'more rule')}</p>")
    return "<div>" + "".join(parts) + "</div>"


def result_html(result: Result) -> str:
    """Return how a run ended, and its tapes with their heads."""
    values = {
        "outcome": result.outcome.value,
        "state": result.state,
        "steps": f"{result.steps:,}",
        "space": counted(result.space, "cell"),
    }
    return f"<div>{facts_html(values)}{tapes_html(result.tapes)}</div>"


def facts_html(values: Mapping[str, str]) -> str:
    """Return names and values as a table with two columns."""
    rows = (f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in values.items())
    return f"<table>{''.join(rows)}</table>"


def table_html(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with headings; every text is escaped."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def tapes_html(tapes: Sequence[Tape]) -> str:
    """Return a row of cells for each tape, the head's cell marked."""
    return "".join(f"<table><tr>{''.join(_cells(tape))}</tr></table>" for tape in tapes)


def _cells(tape: Tape) -> Iterable[str]:
    first, last = min(0, tape.head), max(len(tape.content) - 1, tape.head)
    start = max(first, min(tape.head - MOST_CELLS // 2, last + 1 - MOST_CELLS))
    end = min(last + 1, start + MOST_CELLS)
    yield from [f"<td>… {start - first:,} more</td>"] if start > first else []
    for at in range(start, end):
        symbol = visible(tape.content[at]) if 0 <= at < len(tape.content) else ""
        style = "border: 2px solid #2b5c8a" if at == tape.head else "border: 1px solid #bbb"
        yield f'<td style="{style}; text-align: center">{escape(symbol)}</td>'
    yield from [f"<td>… {last + 1 - end:,} more</td>"] if end <= last else []
