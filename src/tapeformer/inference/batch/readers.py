"""Processes that read what a GPU has made: to read an input takes longer than to run it.

One process has the device. It hands out parts of what has ended together, and gets their lines.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from multiprocessing import current_process
from pathlib import Path
from tempfile import TemporaryDirectory

from tapeformer.dataclass import dataclass
from tapeformer.inference.batch.answer_lines import LineMaker, Lines
from tapeformer.inference.batch.runner import BatchModel, Block
from tapeformer.inference.decode import Reader
from tapeformer.inference.workers.ordered import answers_in_order
from tapeformer.inference.workers.processes import ProcessPool

MOST_READERS = 12
FEWEST_INPUTS = 1 << 17
"""To read fewer takes one process no longer than others take to start."""

Part = tuple[Block, Sequence[str]]
"""Inputs that have ended, and their texts."""


@dataclass(frozen=True)
class BlockLines:
    """The task of a reader: parts become lines.

    Both stand in files, which are named after each other: a pipe takes 64 KB at a time, and for each
    time a thread of the process that has the device would have to wait for the others.
    """

    model: BatchModel
    engine: str

    def ready(self) -> Callable[[Path], Sequence[str]]:
        """Load what is needed to read windows; then write the lines of a part, return their outcomes."""
        maker = LineMaker(self.model, Reader(self.model.bundle), self.engine)

        def written(part: Path) -> Sequence[str]:
            lines = maker.lines(*pickle.loads(part.read_bytes()))
            content_of(part).write_bytes(lines.content)
            return lines.outcomes

        return written


def content_of(part: Path) -> Path:
    """Return where the lines of a part are."""
    return part.with_suffix(".lines")


class Readers:
    """Some processes, or none: they begin to load what they need when the model does."""

    def __init__(self, model: BatchModel, count: int) -> None:
        self._task, self._count = BlockLines(model, model.options.engine), count
        self._parts = 0

    def __enter__(self) -> Readers:
        self._open = ExitStack()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def begun(self) -> Readers | None:
        """Start the processes, which take their time one by one; None where there are to be none."""
        if not self._count:
            return None
        self._folder = Path(self._open.enter_context(TemporaryDirectory(prefix="tapeformer")))
        starter = ThreadPoolExecutor(1)
        self._pool = starter.submit(self._started)
        self._open.callback(self._ended)
        starter.shutdown(wait=False)
        return self

    def _started(self) -> ProcessPool:
        pool = ProcessPool(self._task, self._count)
        pool.loading()
        return pool

    def _ended(self) -> None:
        if not self._pool.exception():
            self._pool.result().close()

    def lines(self, parts: Sequence[Part]) -> Iterator[Lines]:
        """Yield the lines of each part."""
        numbers = range(self._parts, self._parts + len(parts))
        self._parts += len(parts)
        files = [self._folder / f"{number}.part" for number in numbers]
        found = answers_in_order(self._pool.result(), map(_written, files, parts))
        for file, outcomes in zip(files, found, strict=True):
            content = content_of(file).read_bytes()
            for read in (file, content_of(file)):
                read.unlink()
            yield Lines(outcomes, content)


def _written(file: Path, part: Part) -> Path:
    file.write_bytes(pickle.dumps(part, pickle.HIGHEST_PROTOCOL))
    return file


def useful_readers(inputs: int) -> int:
    """Return how many processes are worth their start; a process that may start none has none."""
    cores = os.cpu_count() or 1
    alone = cores == 1 or inputs < FEWEST_INPUTS or current_process().daemon
    return 0 if alone else min(cores, MOST_READERS)
