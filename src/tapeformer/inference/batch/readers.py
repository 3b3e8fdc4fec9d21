"""Processes that read what a GPU has made: reading an input takes longer than running it.

One process owns the device. It hands out parts of what ended together, and gets their lines back.
"""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from functools import cached_property
from multiprocessing import current_process
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from tapeformer.dataclass import dataclass
from tapeformer.inference.batch.answer_lines import LineMaker, Lines
from tapeformer.inference.batch.runner import BatchModel, Block
from tapeformer.inference.decode import Reader
from tapeformer.workers.ordered import answers_in_order
from tapeformer.workers.places import usable_cores
from tapeformer.workers.processes import ProcessPool

MOST_READERS = 12
FEWEST_INPUTS = 1 << 17
"""Fewer inputs take one process no longer to read than others take to start."""

log = logging.getLogger("tapeformer")

Part = tuple[Block, Sequence[str]]
"""Ended inputs, and their texts."""


@dataclass(frozen=True)
class BlockLines:
    """The task of a reader: parts become lines.

    Both travel in files, the lines in one named after the part's. A pipe takes 64 KB at a time, and
    each time a thread of the process that owns the device would have to wait for its other threads.
    """

    model: BatchModel
    engine: str

    def ready(self) -> Callable[[Path], Sequence[str] | OSError]:
        """Load what reads windows; return a function that writes a part's lines to its file."""
        maker = LineMaker(self.model, Reader(self.model.bundle), self.engine)

        def written(part: Path) -> Sequence[str] | OSError:
            try:
                lines = maker.lines(*pickle.loads(part.read_bytes()))
                content_of(part).write_bytes(lines.content)
            except OSError as error:
                return error
            return lines.outcomes

        return written


def content_of(part: Path) -> Path:
    """Return the file for the lines of a part."""
    return part.with_suffix(".lines")


class Readers:
    """Some reader processes, or none: they start to load when the model does.

    What they cannot read is read by the process that owns the device, only more slowly.
    """

    def __init__(self, model: BatchModel, count: int) -> None:
        self._task, self._count = BlockLines(model, model.options.engine), count
        self._started: Future[ReaderPool] | None = None
        self._lock, self._ended = Lock(), False

    def __enter__(self) -> Readers:
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes; later calls of `lines` are cancelled."""
        with self._lock:
            self._ended = True
        if self._started is not None and not self._started.exception():
            self._started.result().close()

    def begin(self) -> None:
        """Start the processes in the background."""
        with self._lock:
            if self._count and not self._ended:
                starter = ThreadPoolExecutor(1)
                self._started = starter.submit(ReaderPool, self._task, self._count)
                starter.shutdown(wait=False)

    @cached_property
    def _pool(self) -> ReaderPool | None:
        """The processes, once they have started; None if there are none."""
        try:
            return None if self._started is None else self._started.result()
        except (OSError, RuntimeError) as error:
            warn(error)
            return None

    def lines(self, parts: Sequence[Part], maker: LineMaker) -> Iterator[Lines]:
        """Return the lines of each part."""
        if self._ended:
            raise CancelledError
        windows = [part for part in parts if part[0].found is None]
        if len(windows) < 2 or self._pool is None:
            return (maker.lines(*part) for part in parts)
        return _joined(parts, self._pool.lines(windows), maker)


def _joined(
    parts: Sequence[Part], read: Iterator[Lines | None], maker: LineMaker
) -> Iterator[Lines]:
    """Yield what the readers made of windows, and make the lines of the rest here."""
    for part in parts:
        lines = next(read) if part[0].found is None else None
        yield maker.lines(*part) if lines is None else lines


class ReaderPool:
    """Started processes, and the folder in which parts and lines are exchanged."""

    def __init__(self, task: BlockLines, count: int) -> None:
        self._folder = TemporaryDirectory(prefix="tapeformer", ignore_cleanup_errors=True)
        self._parts, self._warned = 0, False
        self._pool = ProcessPool(task, count)
        try:
            self._pool.loading()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End all processes at once; a part that is just being written is lost without a word."""
        self._warned = True
        self._pool.close()
        self._folder.cleanup()

    def lines(self, parts: Sequence[Part]) -> Iterator[Lines | None]:
        """Yield the lines of each part; None if a file cannot be written or read."""
        numbers = range(self._parts, self._parts + len(parts))
        self._parts += len(parts)
        files = [Path(self._folder.name, f"{number}.part") for number in numbers]
        found = answers_in_order(self._pool, map(self._written, files, parts))
        for file, outcomes in zip(files, found, strict=True):
            yield self._taken(file, outcomes)

    def _written(self, file: Path, part: Part) -> Path:
        """Write a part; if that fails, its reader finds no file."""
        try:
            file.write_bytes(pickle.dumps(part, pickle.HIGHEST_PROTOCOL))
        except OSError as error:
            self._warn(error)
            file.unlink(missing_ok=True)
        return file

    def _taken(self, file: Path, outcomes: Sequence[str] | OSError) -> Lines | None:
        """Return the lines of a part, and remove both of its files."""
        try:
            if isinstance(outcomes, OSError):
                raise outcomes
            return Lines(outcomes, content_of(file).read_bytes())
        except OSError as error:
            self._warn(error)
            return None
        finally:
            for read in (file, content_of(file)):
                read.unlink(missing_ok=True)

    def _warn(self, error: OSError) -> None:
        if not self._warned:
            warn(error)
        self._warned = True


def warn(error: Exception) -> None:
    """Warn that other processes cannot help, and why."""
    log.warning(
        "warning: one process reads what the GPU makes: %s; the temporary folder (TMPDIR) needs "
        "room, and a name of less than 80 characters",
        error,
    )


def useful_readers(inputs: int) -> int:
    """Return how many processes are worth starting: none from a daemon, which may not start any."""
    cores = usable_cores()
    alone = cores == 1 or inputs < FEWEST_INPUTS or current_process().daemon
    return 0 if alone else min(cores, MOST_READERS)
