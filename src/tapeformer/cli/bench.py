"""`tapeformer bench`: measurements."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tapeformer.cli.models import EngineName

if TYPE_CHECKING:
    from tapeformer.bench.report import Section
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


@bench.command()
def speed(output: Folder = Path("bench/speed")) -> None:
    """Measure every engine, the direct simulator and automata-lib (a test dependency) in one run."""
    from tapeformer.bench.report import Section
    from tapeformer.bench.speed import speed as measured

    text = "Medians of repeated runs, least and most beside them; one core."
    _write(output, "speed", [Section("Rates", text, measured(_say))])


@bench.command()
def scale(output: Folder = Path("bench/scale"), long: Long = False) -> None:
    """Measure the native engine against the number of tokens (with --long to 10^8) and the window."""
    from tapeformer.bench.engine_cost import window_costs
    from tapeformer.bench.report import Section
    from tapeformer.bench.speed import scale as measured

    counts = (10**4, 10**5, 10**6, 10**7, 10**8)[: 5 if long else 3]
    windows = tuple(2**n for n in range(6, 21, 2))
    sections = [
        Section("Tokens", "BB(5), 12 levels, native engine.", measured(counts, _say)),
        Section("Window", "One level, native engine.", window_costs("native", _say, windows)),
    ]
    _write(output, "scale", sections)


@bench.command()
def bb5(output: Folder = Path("bench/bb5")) -> None:
    """Run BB(5) to its end through the Transformer, and compare with the direct simulation."""
    from tapeformer.bench.report import Section
    from tapeformer.bench.speed import beaver_to_its_end
    from tapeformer.cli.progress import Watch

    with Watch("tokens", 47_176_873) as watch:
        row = beaver_to_its_end(watch)
    _write(output, "bb5", [Section("BB(5)", "Every token from the weights, one core.", [row])])


def _write(output: Path, name: str, sections: list[Section]) -> None:
    from tapeformer.bench.report import markdown, write_report

    page = write_report(output, name, f"tapeformer bench {name}", sections)
    for section in sections:
        print(markdown(section.rows))
    print(f"\nwritten to {page}")
