"""The file of answers, to which one run at a time appends whole lines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from time import monotonic
from typing import IO

from tapeformer.faults import Fault, SourceLocation, TapeformerError

SYNC_SECONDS = 1.0


class AnswerWriter:
    """Appends to a file of answers, and syncs it to disk about once a second."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        self._file, self._path, self._synced = file, path, monotonic()

    def cut(self, size: int) -> None:
        """Cut the file to this size: this removes the partial line of a run that was killed."""
        try:
            self._file.truncate(size)
        except OSError as error:
            raise _unwritable(self._path, error) from None

    def append(self, content: bytes) -> None:
        """Write whole lines, unbuffered: they survive even if this process is killed."""
        rest = memoryview(content)
        try:
            while rest:
                rest = rest[os.write(self._file.fileno(), rest) :]
        except OSError as error:
            raise _unwritable(self._path, error) from None
        if monotonic() - self._synced > SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Wait until everything is on disk."""
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _unwritable(self._path, error) from None
        self._synced = monotonic()


@contextmanager
def alone_with(answers: Path) -> Iterator[AnswerWriter]:
    """Open the file of answers for this run alone: raise if another run is writing it."""
    if os.path.exists(answers) and not os.path.isfile(answers):
        raise _unwritable(answers, OSError(0, "it is not a file"))
    is_new = not os.path.lexists(answers)
    try:
        file = answers.open("ab", buffering=0)
    except OSError as error:
        raise _unwritable(answers, error) from None
    with file:
        if not _locked(file):
            raise TapeformerError(
                Fault(
                    "another run is writing these answers",
                    SourceLocation(str(answers)),
                    remedy="wait until it has ended, or name another file of answers",
                )
            )
        with _removed_if_unused(answers) if is_new else nullcontext():
            yield AnswerWriter(file, answers)


@contextmanager
def _removed_if_unused(answers: Path) -> Iterator[None]:
    """Remove a new file again if work ends with an error before anything was written."""
    try:
        yield
    except TapeformerError:
        with suppress(OSError):
            if not answers.stat().st_size:
                answers.unlink()
        raise


@contextmanager
def earlier(answers: Path) -> Iterator[IO[bytes]]:
    """Open the answers of an earlier run for reading."""
    try:
        with answers.open("rb") as lines:
            yield lines
    except OSError as error:
        why = f"the answers cannot be read: {error.strerror or error}"
        remedy = "name another file of answers"
        raise TapeformerError(Fault(why, SourceLocation(str(answers)), remedy=remedy)) from None


def _locked(file: IO[bytes]) -> bool:
    """Lock the file for this run and say whether that worked; the lock ends with the process."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _unwritable(answers: Path, error: OSError) -> TapeformerError:
    why = f"the answers cannot be written: {error.strerror or error}"
    remedy = "name another file of answers, or make room and give the same command again"
    return TapeformerError(Fault(why, SourceLocation(str(answers)), remedy=remedy))
