"""The file of answers: one run at a time appends whole lines to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import IO

from tapeformer.faults import Fault, SourceLocation, TapeformerError

SYNC_SECONDS = 1.0


class AnswerWriter:
    """Appends to a file of answers; a power failure loses those of the last second at most."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        self._file, self._path, self._synced = file, path, monotonic()

    def cut(self, size: int) -> None:
        """Remove what comes after so many bytes: half a line of a run that was killed."""
        try:
            self._file.truncate(size)
        except OSError as error:
            raise _unwritable(self._path, error) from None

    def append(self, content: bytes) -> None:
        """Write whole lines: the operating system has them even if this process is killed."""
        rest = memoryview(content)
        try:
            while rest:
                rest = rest[os.write(self._file.fileno(), rest) :]
        except OSError as error:
            raise _unwritable(self._path, error) from None
        if monotonic() - self._synced > SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Wait until all is on the disk itself."""
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _unwritable(self._path, error) from None
        self._synced = monotonic()


@contextmanager
def alone_with(answers: Path) -> Iterator[AnswerWriter]:
    """Open the file of answers, which no other run may write meanwhile."""
    if answers.exists() and not answers.is_file():
        raise _unwritable(answers, OSError(0, "it is not a file"))
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
        yield AnswerWriter(file, answers)


def _locked(file: IO[bytes]) -> bool:
    """Return whether this run has the file for itself; the lock goes with the process, even if killed."""
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
