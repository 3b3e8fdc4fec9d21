"""`tapeformer bench gpu`: the GPU engine checked and timed, part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from tapeformer.cli.bench_page import Folder, say, write
from tapeformer.faults import Fault, TapeformerError, did_you_mean, quoted

if TYPE_CHECKING:
    from types import ModuleType

    from tapeformer.bench.report import Row


class Part(NamedTuple):
    """A measurement: its title, how it is done, and its rows for a given number of inputs."""

    title: str
    how: str
    rows: Callable[[int], Iterator[Row]]


def _bench() -> ModuleType:
    from tapeformer.bench import gpu

    return gpu


PARTS = {
    "kernels": Part(
        "Kernels",
        """All blocks that run side by side, every input under way; median of five launches
of 1,024 tokens.""",
        lambda _: _bench().kernel_rows(say),
    ),
    "first": Part(
        "First answer",
        "A process that answers one line, from its start to its end, with nothing cached.",
        lambda _: _bench().first_answer_rows(),
    ),
    "compared": Part(
        "Compared",
        "Every factor of every token of distinct inputs, on the GPU and by the native engine.",
        lambda _: _bench().compared_rows(say),
    ),
    "files": Part(
        "End to end",
        """binary_counter on distinct numbers of 24 digits, 12 levels: from reading the file to the last
answer on disk. The two cores answer a sample of the file; their time is scaled.""",
        lambda inputs: _bench().end_to_end_rows(say, inputs),
    ),
    "few": Part(
        "Few and many inputs",
        """Files of few and of many inputs, from reading to the last answer on disk; `auto` runs the
first 256 as machine code before it chooses.""",
        lambda _: _bench().crossing_rows(say),
    ),
}

Inputs = Annotated[
    int, typer.Option("--inputs", min=4096, help="Lines of the files that are answered.")
]
Only = Annotated[
    str,
    typer.Option("--only", help="Only these, separated by commas: " + ", ".join(PARTS) + "."),
]


def gpu(output: Folder = Path("bench/gpu"), inputs: Inputs = 10**6, only: Only = "") -> None:
    """Check and time the GPU engine.

    Kernels, tokens beside native's, and files of inputs.
    """
    from tapeformer.bench.report import Section, make_folder

    asked = [_known(part) for part in only.split(",") if part] or list(PARTS)
    _bench().check_device()
    make_folder(output)
    parts = [PARTS[part] for part in asked]
    sections = [Section(part.title, part.how, _told(part.rows(inputs))) for part in parts]
    write(output, "gpu", sections, f" --inputs {inputs} --only {','.join(asked)}")


def _known(part: str) -> str:
    """Return the name of a part; raise, suggesting the nearest one, if there is none."""
    if part in PARTS:
        return part
    what, expected = f"there is no part {quoted(part)}", "one of " + ", ".join(PARTS)
    raise TapeformerError(Fault(what, expected=expected, remedy=did_you_mean(part, PARTS)))


def _told(rows: Iterator[Row]) -> list[Row]:
    """Print each row as it is measured: the page is only written at the end."""
    found = []
    for row in rows:
        say(", ".join(f"{key} {value}" for key, value in row.items()))
        found.append(row)
    return found
