"""`tapeformer dataset`: chains of thought as training data, written or checked."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from tapeformer.cli import options as shared
from tapeformer.cli.exits import INTERRUPTED
from tapeformer.cli.models import compile_options
from tapeformer.cli.options import provides
from tapeformer.cli.output import print_json
from tapeformer.cli.progress import Watch
from tapeformer.faults import Fault, TapeformerError, quoted

if TYPE_CHECKING:
    from tapeformer.compile.options import CompileOptions
    from tapeformer.export.dataset import DatasetOptions

Machines = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="MACHINE...",
        help="Gallery names, files, busy-beaver strings, or folders of compiled bundles.",
        show_default=False,
    ),
]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", help="The folder to write.", show_default=False)
]
Verify = Annotated[
    Path | None,
    typer.Option("--verify", metavar="DIR", help="Check every row of a dataset instead."),
]
WordsFile = Annotated[
    Path | None, typer.Option("--words", help="A file with one word per line.", show_default=False)
]
Count = Annotated[int, typer.Option("--count", help="Words to draw for each machine.")]
Lengths = Annotated[str, typer.Option("--lengths", metavar="A:B", help="Lengths to draw.")]
Seed = Annotated[int, typer.Option("--seed", help="Chooses the words; the same seed, the same.")]
Mirrored = Annotated[
    float, typer.Option("--mirrored", help="Share of drawn words that read the same backwards.")
]
TrainUpTo = Annotated[
    int | None,
    typer.Option(
        "--train-up-to",
        help="Longest word for training; longer ones are for testing.",
        show_default="half-way",
    ),
]
HeldOut = Annotated[float, typer.Option("--held-out", help="Share kept for validation.")]
MaxSteps = Annotated[int, typer.Option("--max-steps", help="Cut a run after so many steps.")]
ChatSteps = Annotated[int, typer.Option("--chat-steps", help="Longest run written as a chat.")]
RowsPerShard = Annotated[int, typer.Option("--rows-per-shard", help="Rows in a Parquet file.")]


@provides(compiling=compile_options)
def dataset(
    compiling: CompileOptions,
    machines: Machines = None,
    output: Output = None,
    verify: Verify = None,
    words: WordsFile = None,
    count: Count = 1000,
    lengths: Lengths = "0:32",
    seed: Seed = 0,
    mirrored: Mirrored = 0.0,
    train_up_to: TrainUpTo = None,
    held_out: HeldOut = 0.1,
    max_steps: MaxSteps = 10**6,
    chat_steps: ChatSteps = 200,
    rows_per_shard: RowsPerShard = 5000,
    spaced: shared.Spaced = False,
    cluster: shared.Cluster = None,
    as_json: shared.Json = False,
) -> None:
    """Write chains of thought as training data, or check them.

    Parquet for `datasets`, and chats as JSON lines. Run the same command again to resume. Each
    machine is a configuration for load_dataset.
    """
    from tapeformer.export.dataset import DatasetOptions

    if verify is not None:
        _check(verify, as_json)
    if not machines or output is None:
        remedy = "tapeformer dataset MACHINE... -o DIR, or --verify DIR to check one"
        raise TapeformerError(Fault("no machine or no folder was named", remedy=remedy))
    asked = DatasetOptions(
        words=words,
        count=count,
        lengths=_range(lengths),
        seed=seed,
        mirrored=mirrored,
        train_up_to=train_up_to,
        held_out=held_out,
        max_steps=max_steps,
        chat_steps=chat_steps,
        rows_per_shard=rows_per_shard,
        spaced=spaced,
        compile=compiling,
    )
    _write(machines, output, asked, cluster, as_json)


def _range(text: str) -> tuple[int, int]:
    """Read A:B, or one length alone."""
    first, _, last = text.partition(":")
    try:
        return int(first), int(last or first)
    except ValueError:
        raise TapeformerError(
            Fault("bad --lengths", expected="A:B, two whole numbers", got=quoted(text))
        ) from None


def _write(
    machines: list[str], output: Path, asked: DatasetOptions, cluster: str | None, as_json: bool
) -> None:
    from tapeformer.export.dataset import write_dataset

    started = time.perf_counter()
    with Watch("rows") as watch:
        counts = write_dataset(machines, output, asked, watch=watch, cluster=cluster)
    seconds = round(time.perf_counter() - started, 3)
    if as_json:
        print_json({"folder": str(output), "machines": counts, "seconds": seconds})
    else:
        for name, splits in counts.items():
            for split, found in splits.items():
                print(f"{name}, {split}: {found['rows']:,} rows, {found['tokens']:,} tokens")
        print(f"in {output}, after {seconds:.1f} s")
    if watch.interrupted:
        print("interrupted: run the same command again to resume", file=sys.stderr)
        raise typer.Exit(INTERRUPTED)


def _check(folder: Path, as_json: bool) -> NoReturn:
    from tapeformer.export.dataset import verify_dataset

    with Watch("rows") as watch:
        found = verify_dataset(folder, watch=watch)
    if as_json:
        print_json({"folder": str(folder), "agreed": found.agreed, **vars(found)})
    else:
        for difference in found.differences:
            print(difference)
        told = f"{found.rows:,} rows, {found.tokens:,} tokens, {found.steps:,} steps checked"
        print(f"{told}: {f'{found.wrong:,} rows differ' if found.wrong else 'all agree'}")
    if watch.interrupted:
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(0 if found.agreed else 1)
