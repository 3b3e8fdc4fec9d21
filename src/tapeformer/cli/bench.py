"""`tapeformer bench`: measurements."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tapeformer.cli.exits import INTERRUPTED
from tapeformer.cli.models import EngineName
from tapeformer.cli.options import Cluster
from tapeformer.faults import Fault, TapeformerError, did_you_mean, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from tapeformer.bench.report import Row, Section
    from tapeformer.bench.theorem import Point

bench = typer.Typer(
    rich_markup_mode=None,
    name="bench",
    help="Measurements, each a page with tables and plots.",
    no_args_is_help=True,
)

Folder = Annotated[
    Path, typer.Option("-o", "--output", help="The folder for the page, tables and plots.")
]
Largest = Annotated[
    int | None, typer.Option("--largest", help="Leave out runs on more cells than this.")
]
Inputs = Annotated[
    int, typer.Option("--inputs", min=4096, help="Lines of the files that are answered.")
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
GPU_PARTS = {
    "kernels": (
        "Kernels",
        """All blocks that run side by side, every input under way; median of five launches
of 1,024 tokens.""",
    ),
    "first": (
        "First answer",
        "A process that answers one line, from its start to its end, with nothing cached.",
    ),
    "compared": (
        "Compared",
        "Every factor of every token of distinct inputs, on the GPU and by the native engine.",
    ),
    "files": (
        "End to end",
        """binary_counter on distinct numbers of 24 digits, 12 levels: from reading the file to the last
answer on disk. The two cores answer a sample of the file; their time is scaled.""",
    ),
    "few": (
        "Few and many inputs",
        """Files of few and of many inputs, from reading to the last answer on disk; `auto` runs the
first 256 as machine code before it chooses.""",
    ),
}
"""What is measured on a GPU: for each part its title and how it is measured."""
Only = Annotated[
    str,
    typer.Option("--only", help="Only these, separated by commas: " + ", ".join(GPU_PARTS) + "."),
]
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
    """Measure the theorems: tokens per step against s and k', space, window, bits."""
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
    _write(output, "theorem", sections, shown=1)


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
    windows = window_costs(name, _say)
    tokens = token_costs("excursions", name, _say, TOKEN_COUNTS[: 3 if long else 2], 1)
    return [Section("Window", WINDOW_TIME, windows), Section("Memory", MEMORY, tokens)]


def _tell(point: Point) -> None:
    _say(f"{point.construction}, {point.levels} levels, {point.name}, s = {point.space}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@bench.command()
def speed(output: Folder = Path("bench/speed")) -> None:
    """Measure every engine, the direct simulator and automata-lib (a test dependency) in one run."""
    from tapeformer.bench.contests import CONTESTS
    from tapeformer.bench.plots import speeds
    from tapeformer.bench.report import Section, make_folder
    from tapeformer.bench.speed import Patience, summary
    from tapeformer.bench.speed import speed as measured

    make_folder(output)
    rows, first = measured(CONTESTS, Patience(), _say)
    with_plots = Section("Summary", SUMMARY, summary(rows), speeds(output, rows))
    sections = [with_plots, Section("Rates", RATES, rows), Section("First token", FIRST, first)]
    sections += _inputs(output)
    _write(output, "speed", sections, shown=1)


def _inputs(output: Path) -> list[Section]:
    """Measure every engine against the number of inputs, and where one overtakes another."""
    import tempfile

    from tapeformer.bench.many_inputs import crossings, many_inputs
    from tapeformer.bench.plots import against_inputs
    from tapeformer.bench.report import Section

    with tempfile.TemporaryDirectory() as folder:
        rows = many_inputs(Path(folder), _say)
    found = crossings(rows)
    return [
        Section("Inputs", INPUTS, rows, against_inputs(output, rows, found)),
        Section("Crossings", CROSSINGS, found),
    ]


@bench.command()
def scale(output: Folder = Path("bench/scale"), long: Far = False) -> None:
    """Measure tokens (with --long to 10^8), windows, and every engine against the number of inputs."""
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
    tokens = token_costs("busy_beaver_5", "native", _say, counts)
    later = later_costs("busy_beaver_5", "native", _say, counts)
    windows = window_costs("native", _say, [2**n for n in range(6, 21, 2)])
    plots = costs(output, "scale_tokens", tokens, "tokens", ("ns per token", "peak MB"))
    plot = costs(output, "scale_window", windows, "window", ("ns per token",))
    sections = [
        Section("Tokens", TOKENS, tokens, plots),
        Section("Later", LATER, later),
        Section("Window", WINDOW, windows, plot),
        *_inputs(output),
    ]
    _write(output, "scale", sections, " --long" if long else "")


@bench.command()
def laws(
    output: Folder = Path("bench/laws"),
    rows: Rows = "",
    largest: Steps = 256,
    jobs: Jobs = 1,
    cluster: Cluster = None,
) -> None:
    """Measure how the rows of Table 1 grow: bits, window and tokens against t and s, with fits.

    Points are kept in the folder as they are measured: run the same command again to resume.
    """
    from tapeformer.bench.laws import FITS, FIXED_SPACE, FIXED_TIME, POINTS, measured_laws
    from tapeformer.bench.plots import laws as law_plots
    from tapeformer.bench.report import Section, make_folder
    from tapeformer.laboratory.laws import fits

    make_folder(output)
    names = [name for name in rows.split(",") if name]
    points = measured_laws(names, largest, _say, jobs, output / "points.jsonl", cluster)
    fitted = fits(points, FIXED_SPACE, FIXED_TIME)
    sections = [
        Section("Fits", FITS, fitted, law_plots(output, points)),
        Section("Points", POINTS, points),
    ]
    _write(output, "laws", sections, f" --largest {largest}")


@bench.command("rows")
def rows_drawn(output: Folder = Path("bench/rows"), rows: Rows = "") -> None:
    """Draw a real run of every row of Table 1: where its heads look, or what its vector holds."""
    from tapeformer.bench.report import make_folder
    from tapeformer.bench.row_pictures import row_pictures
    from tapeformer.laboratory.registry import find_rows

    make_folder(output)
    row_pictures(output, find_rows([name for name in rows.split(",") if name]), _say)
    print(f"written to {output}")


@bench.command()
def bb5(output: Folder = Path("bench/bb5"), compare: Compare = 0) -> None:
    """Run BB(5) to its end through the Transformer, and compare with the direct simulation."""
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
    _write(output, "bb5", sections, f" --compare {compare}" if compare else "")
    if watch.interrupted:
        raise typer.Exit(INTERRUPTED)


@bench.command()
def gpu(output: Folder = Path("bench/gpu"), inputs: Inputs = 10**6, only: Only = "") -> None:
    """Check and time the GPU engine: kernels, tokens beside native's, files of inputs."""
    from tapeformer.bench import gpu as measured
    from tapeformer.bench.report import Section, make_folder

    parts: dict[str, Callable[[], Iterator[Row]]] = {
        "kernels": lambda: measured.kernel_rows(_say),
        "first": measured.first_answer_rows,
        "compared": lambda: measured.compared_rows(_say),
        "files": lambda: measured.end_to_end_rows(_say, inputs),
        "few": lambda: measured.crossing_rows(_say),
    }
    asked = [_known(part, GPU_PARTS) for part in only.split(",") if part] or list(parts)
    measured.check_device()
    make_folder(output)
    sections = [Section(*GPU_PARTS[part], _told(parts[part]())) for part in asked]
    _write(output, "gpu", sections, f" --inputs {inputs} --only {','.join(asked)}")


def _known(part: str, parts: Collection[str]) -> str:
    """Return the name of a part, or raise with the nearest."""
    if part in parts:
        return part
    what, expected = f"there is no part {quoted(part)}", "one of " + ", ".join(parts)
    raise TapeformerError(Fault(what, expected=expected, remedy=did_you_mean(part, parts)))


def _told(rows: Iterator[Row]) -> list[Row]:
    """Say each row when it is measured: the page is written at the end only."""
    found = []
    for row in rows:
        _say(", ".join(f"{key} {value}" for key, value in row.items()))
        found.append(row)
    return found


def _write(
    output: Path, name: str, sections: list[Section], options: str = "", shown: int | None = None
) -> None:
    """Write a page, and prints its first sections."""
    from tapeformer.bench.report import markdown, write_report

    page = write_report(output, name, f"tapeformer bench {name}{options}", sections)
    for section in sections[:shown]:
        print(f"{markdown(section.rows)}\n")
    print(f"written to {page}")
