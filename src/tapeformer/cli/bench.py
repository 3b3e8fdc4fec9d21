"""`tapeformer bench`: measurements."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tapeformer.cli.models import EngineName

if TYPE_CHECKING:
    from tapeformer.bench.theorem import Point

bench = typer.Typer(
    name="bench", help="Measurements, each a page with tables and plots.", no_args_is_help=True
)

Folder = Annotated[
    Path, typer.Option("-o", "--output", help="The folder for the page, tables and plots.")
]
Largest = Annotated[
    int | None, typer.Option("--largest", help="Leave out runs on more cells than this.")
]
Long = Annotated[bool, typer.Option("--long", help="Also run a million tokens for the memory.")]


@bench.command()
def theorem(
    output: Folder = Path("bench/theorem"),
    engine: EngineName = "auto",
    largest: Largest = None,
    long: Long = False,
) -> None:
    """Measure the theorems: tokens per step against s and k', space, window, bits."""
    from tapeformer.bench.engine_cost import TOKEN_COUNTS, memory_costs, window_costs
    from tapeformer.bench.plots import ratios, tokens_per_step
    from tapeformer.bench.report import Section, markdown, write_report
    from tapeformer.bench.theorem import theorem as measured
    from tapeformer.engines.registry import engine_name

    sections, rows = measured(engine, largest, _tell)
    name = engine_name(engine)
    text = "Seconds per token do not grow with the window, once it is full."
    sections.append(Section("Window", text, window_costs(name, _say)))
    text = "Memory does not grow with the number of tokens."
    sections.append(
        Section("Memory", text, memory_costs(name, _say, TOKEN_COUNTS[: 3 if long else 2]))
    )
    plots = tokens_per_step(output, rows, "fill_and_drain")
    plots += ratios(output, rows, "window over s") + ratios(output, rows, "queue cells over k s")
    sections[0] = replace(sections[0], plots=plots)
    page = write_report(output, "theorem", "tapeformer bench theorem", sections)
    print(markdown(sections[0].rows))
    print(f"\nwritten to {page}")


def _tell(point: Point) -> None:
    _say(f"{point.construction}, {point.levels} levels, {point.name}, s = {point.space}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
