"""`tapeformer table1`: every row of the paper's Table 1, and ours, on one machine."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tapeformer.cli import options as shared
from tapeformer.cli.exits import INTERRUPTED
from tapeformer.cli.models import StepsPerToken
from tapeformer.cli.options import Reading, provides, reading
from tapeformer.cli.output import print_table
from tapeformer.cli.progress import Watch
from tapeformer.machine.word import parse_word
from tapeformer.sources import find_machine

if TYPE_CHECKING:
    from tapeformer.laboratory.measure import Measurement
    from tapeformer.laboratory.table import Asked

DIFFERENT = 1

Machine = Annotated[
    str,
    typer.Argument(
        metavar="[MACHINE]",
        help=shared.MACHINE_HELP + " A small example if left out.",
        show_default=False,
    ),
]
Rows = Annotated[
    str, typer.Option("--rows", help="Rows separated by commas; all if left out.", metavar="NAMES")
]
Steps = Annotated[
    int,
    typer.Option("--steps", min=1, help="Compare up to so many of the machine's own steps."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        help="A folder for a page (Markdown), tables (CSV) and plots. Rows are kept there as they"
        " are measured: run the same command again to resume.",
    ),
]


@provides(how=reading)
def table1(
    how: Reading,
    machine: Machine = "",
    word: shared.Word = "",
    spaced: shared.Spaced = False,
    rows: Rows = "",
    steps: Steps = 100,
    steps_per_token: StepsPerToken = 1,
    output: Output = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON list, nothing else.")
    ] = False,
) -> None:
    """Run the constructions of the paper's Table 1, and ours.

    Each is measured on one machine, beside the others.
    """
    from tapeformer.laboratory.registry import find_rows
    from tapeformer.laboratory.table import DEFAULT_MACHINE, DEFAULT_WORD, Asked, measured, record

    names = [name.strip() for name in rows.split(",") if name.strip()]
    chosen = find_rows(names, steps_per_token)
    found = find_machine(machine or DEFAULT_MACHINE, how.format_name, how.conventions)
    text = word if machine else DEFAULT_WORD
    asked = Asked(chosen, found, parse_word(found, text, spaced), steps, steps_per_token)
    kept = None
    if output is not None:
        from tapeformer.bench.report import make_folder

        make_folder(output)
        kept = output / "rows.jsonl"
    with Watch("runs", hint="Ctrl-C stops and prints the rows that are complete") as watch:
        results = list(measured(asked, kept, watch))
    if as_json:
        json.dump([record(result) for result in results], sys.stdout, ensure_ascii=False, indent=1)
        print()
    else:
        _print(asked, results)
    if output is not None:
        _write(output, asked, results, not as_json)
    failed = any(result.first_wrong is not None for result in results)
    raise typer.Exit(INTERRUPTED if watch.interrupted else DIFFERENT if failed else 0)


def _print(asked: Asked, results: list[Measurement]) -> None:
    from tapeformer.drawing.tables import records_table
    from tapeformer.laboratory.table import printed, shown

    title = f"{asked.machine.name} on {asked.machine.spell(asked.word)!r}"
    print_table(records_table(printed(asked.rows), "As printed in the paper"))
    print_table(records_table(shown(results), f"As measured: {title}"))
    for result in results:
        if result.reason:
            print(f"{result.row}: {result.reason}")


def _write(output: Path, asked: Asked, results: list[Measurement], tell: bool) -> None:
    from tapeformer.bench.table1 import write_table

    page = write_table(output, asked, results)
    if tell:
        print(f"written to {page}")
