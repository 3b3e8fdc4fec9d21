"""`tapeformer bench`: measurements."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tapeformer.cli.bench_gpu import gpu
from tapeformer.cli.bench_page import Folder, say, write
from tapeformer.cli.exits import INTERRUPTED
from tapeformer.cli.models import EngineName
from tapeformer.cli.options import Cluster

if TYPE_CHECKING:
    from tapeformer.bench.report import Section
    from tapeformer.bench.theorem import Point

bench = typer.Typer(
    rich_markup_mode=None,
    name="bench",
    help="Measurements, each a page with tables and plots.",
    add_completion=False,
    no_args_is_help=True,
)

Largest = Annotated[
    int | None, typer.Option("--largest", help="Leave out runs on more cells than this.")
]
Long = Annotated[bool, typer.Option("--long", help="Also run a million tokens for the memory.")]
Far = Annotated[bool, typer.Option("--long", help="Also run 10^7 and 10^8 tokens.")]
Compare = Annotated[
    int,
    typer.Option(
        "--compare", min=0, help="Also compare so many first tokens with the sparse engine's."
    ),
]

Rows = Annotated[str, typer.Option("--rows", help="Rows of Table 1, separated by commas.")]
Steps = Annotated[int, typer.Option("--largest", min=16, help="Leave out runs of more steps.")]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Processes that measure side by side.")]

SUMMARY = "Medians of repeated runs on one core, least and most in brackets."
RATES = """Each run begins afresh from its input and ends with the machine, after 10^6 steps, or, for the
dense and sparse engines, after 30 and 600 tokens; short runs are begun again and again. All
take turns. Making an engine is not counted (see First token), reading the prompt is."""
FIRST = """Seconds from a machine to its first token, once Python and PyTorch are loaded: compiling,
and then each engine with its prompt; native with and without machine code from the cache."""
TOKENS = """BB(5), 12 levels, native engine. Each row is a process of its own; the time is the median
of slices of 1,000 tokens, at most 1,000 of them, spread over the run. BB(5) halts after 47,176,870
steps; tokens are made all the same after that."""
LATER = (
    "The same model in one process: runs that have got so far take turns, 1,000 tokens at a time, so "
    "that other work on the machine slows all of them alike."
)
INPUTS = """binary_counter on distinct numbers of 14 digits, 5 levels, 200 steps each: seconds from words to
answers in one process, loading the model included, machine code in the cache. The GPU is there where
there is one."""
CROSSINGS = "From how many inputs on one engine makes more tokens per second than another, read off the plot."
WINDOW = "The excursions in the paper's construction, one level for all windows; native engine."
WINDOW_TIME = "The time per token does not grow with the window, once it is full."
LEVELS = """Fill and drain in the paper's construction at every number of levels. b is s^(1/k') rounded up to an
even number with b^k' >= s + 2; the least total chain of thought is marked as best."""
SINGLE = """Tokens from one step to the next, over the first 1,500 steps of zigzag on 64 cells."""
SPEEDUP = """BB(5)'s first 2,400 steps, base 2 with 6 levels, M steps in each token; the tape is the direct
simulation's."""
FIGURES = """The paper's Figures 1 and 2 drawn from runs of its construction, repaired, and where the heads of
two chains of thought attend. A head whose queue is not full yet attends to its own token."""
MEMORY = "Memory does not grow with the number of tokens."


@bench.command()
def theorem(
    output: Folder = Path("bench/theorem"),
    engine: EngineName = "auto",
    largest: Largest = None,
    long: Long = False,
    cluster: Cluster = None,
) -> None:
    """Measure the theorems: tokens per step, space, window, bits."""
    from tapeformer.bench.plots import ratios, tokens_per_step
    from tapeformer.bench.report import make_folder
    from tapeformer.bench.theorem import theorem as measured
    from tapeformer.engines.registry import engine_name

    name = engine_name(engine)
    make_folder(output)
    form = _theorem_form(output, name, largest)
    sections, rows = measured(name, largest, _tell, cluster)
    sections += form + _engine_costs(name, long)
    plots = tokens_per_step(output, rows, "fill_and_drain")
    plots += ratios(output, rows, "window over s") + ratios(output, rows, "queue cells over k s")
    sections[0] = replace(sections[0], plots=plots)
    write(output, "theorem", sections, shown=1)


def _theorem_form(output: Path, engine: str, largest: int | None) -> list[Section]:
    """Theorem 1 in its own form, what single steps cost, and the figures."""
    from tapeformer.bench import figures, theorem_form, theorem_plots
    from tapeformer.bench.report import Section

    space = min(largest or theorem_form.SPACE, theorem_form.SPACE)
    levels = theorem_form.against_levels(engine, space, _tell)
    steps = theorem_form.histograms(engine)
    speedups, drawn = theorem_form.steps_per_token(), figures.drawn(output)
    return [
        Section("Levels", LEVELS, levels, theorem_plots.against_levels(output, levels)),
        Section("Single steps", SINGLE, steps, theorem_plots.single_steps(output, steps)),
        Section(
            "Steps per token", SPEEDUP, speedups, theorem_plots.steps_per_token(output, speedups)
        ),
        Section("Figures", FIGURES, [{"figure": name} for name in drawn], drawn),
    ]


def _engine_costs(engine: str, long: bool) -> list[Section]:
    """Time against the window, memory against the number of tokens.

    `auto` changes engines on the way: its costs cannot be compared, and the sparse engine's are.
    """
    from tapeformer.bench.engine_cost import TOKEN_COUNTS, token_costs, window_costs
    from tapeformer.bench.report import Section

    name = "sparse" if engine == "auto" else engine
    windows = window_costs(name, say)
    tokens = token_costs("excursions", name, say, TOKEN_COUNTS[: 3 if long else 2], 1)
    return [Section("Window", WINDOW_TIME, windows), Section("Memory", MEMORY, tokens)]


def _tell(point: Point) -> None:
    say(f"{point.construction}, {point.levels} levels, {point.name}, s = {point.space}")


@bench.command()
def speed(output: Folder = Path("bench/speed")) -> None:
    """Time every engine beside automata-lib.

    The direct simulator too, all in one run; automata-lib is a test dependency.
    """
    from tapeformer.bench.contests import CONTESTS
    from tapeformer.bench.plots import speeds
    from tapeformer.bench.report import Section, make_folder
    from tapeformer.bench.speed import Patience, summary
    from tapeformer.bench.speed import speed as measured

    make_folder(output)
    rows, first = measured(CONTESTS, Patience(), say)
    with_plots = Section("Summary", SUMMARY, summary(rows), speeds(output, rows))
    sections = [with_plots, Section("Rates", RATES, rows), Section("First token", FIRST, first)]
    sections += _inputs(output)
    write(output, "speed", sections, shown=1)


def _inputs(output: Path) -> list[Section]:
    """Measure every engine against the number of inputs, and where one overtakes another."""
    import tempfile

    from tapeformer.bench.many_inputs import crossings, many_inputs
    from tapeformer.bench.plots import against_inputs
    from tapeformer.bench.report import Section

    with tempfile.TemporaryDirectory() as folder:
        rows = many_inputs(Path(folder), say)
    found = crossings(rows)
    return [
        Section("Inputs", INPUTS, rows, against_inputs(output, rows, found)),
        Section("Crossings", CROSSINGS, found),
    ]


@bench.command()
def scale(output: Folder = Path("bench/scale"), long: Far = False) -> None:
    """Time tokens, windows and numbers of inputs.

    With --long up to 10^8 tokens; every engine against the number of inputs.
    """
    from tapeformer.bench.engine_cost import (
        TOKEN_COUNTS,
        later_costs,
        token_costs,
        window_costs,
    )
    from tapeformer.bench.plots import costs
    from tapeformer.bench.report import Section, make_folder

    make_folder(output)
    counts = TOKEN_COUNTS[: 5 if long else 3]
    tokens = token_costs("busy_beaver_5", "native", say, counts)
    later = later_costs("busy_beaver_5", "native", say, counts)
    windows = window_costs("native", say, [2**n for n in range(6, 21, 2)])
    plots = costs(output, "scale_tokens", tokens, "tokens", ("ns per token", "peak MB"))
    plot = costs(output, "scale_window", windows, "window", ("ns per token",))
    sections = [
        Section("Tokens", TOKENS, tokens, plots),
        Section("Later", LATER, later),
        Section("Window", WINDOW, windows, plot),
        *_inputs(output),
    ]
    write(output, "scale", sections, " --long" if long else "")


@bench.command()
def laws(
    output: Folder = Path("bench/laws"),
    rows: Rows = "",
    largest: Steps = 256,
    jobs: Jobs = 1,
    cluster: Cluster = None,
) -> None:
    """Measure how the rows of Table 1 grow.

    Bits, window and tokens against t and s, with fits.

    Points are kept in the folder as they are measured: run the same command again to resume.
    """
    from tapeformer.bench.laws import FITS, FIXED_SPACE, FIXED_TIME, POINTS, measured_laws
    from tapeformer.bench.plots import laws as law_plots
    from tapeformer.bench.report import Section, make_folder
    from tapeformer.laboratory.laws import fits

    make_folder(output)
    names = [name for name in rows.split(",") if name]
    points = measured_laws(names, largest, say, jobs, output / "points.jsonl", cluster)
    fitted = fits(points, FIXED_SPACE, FIXED_TIME)
    sections = [
        Section("Fits", FITS, fitted, law_plots(output, points)),
        Section("Points", POINTS, points),
    ]
    write(output, "laws", sections, f" --largest {largest}")


@bench.command("rows")
def rows_drawn(output: Folder = Path("bench/rows"), rows: Rows = "") -> None:
    """Draw where the heads of every row of Table 1 look.

    In a real run; where a row has no heads, what its vector holds.
    """
    from tapeformer.bench.report import make_folder
    from tapeformer.bench.row_pictures import row_pictures
    from tapeformer.laboratory.registry import find_rows

    make_folder(output)
    row_pictures(output, find_rows([name for name in rows.split(",") if name]), say)
    print(f"written to {output}")


@bench.command()
def bb5(output: Folder = Path("bench/bb5"), compare: Compare = 0) -> None:
    """Run BB(5) to its end as a Transformer.

    The end is compared with that of the direct simulation.
    """
    from tapeformer.bench.beaver import TOKENS, Pace, beaver_model, beaver_to_its_end, compared
    from tapeformer.bench.plots import pace as pace_plot
    from tapeformer.bench.report import Section, make_folder
    from tapeformer.cli.progress import Watch

    make_folder(output)
    with Watch("tokens", TOKENS) as watch:
        pace = Pace(watch)
        row = beaver_to_its_end(pace)
    pieces = pace.rows()
    sections = [
        Section("Run", "Every token from the weights, one core.", [row]),
        Section("Pace", "Over the run, piece by piece.", pieces, pace_plot(output, pieces)),
    ]
    if compare and not watch.interrupted:
        with Watch("tokens compared", compare) as watch:
            same = compared(beaver_model(), compare, watch)
        sections.append(Section("Compared", "Token by token, from the first on.", [same]))
    write(output, "bb5", sections, f" --compare {compare}" if compare else "")
    if watch.interrupted:
        raise typer.Exit(INTERRUPTED)


bench.command()(gpu)
