"""A file of inputs, one per line, read in chunks: memory does not grow with the file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import IO

from tapeformer.faults import Fault, SourceLocation, TapeformerError

PIECE = 1 << 18
"""Bytes to read at once."""
UTF8_MARK = b"\xef\xbb\xbf"


class Inputs:
    """Lines of text, which can be iterated repeatedly; an empty line is the empty word.

    As a context manager it closes its file. Lines appended to the file later are ignored.
    """

    def __init__(self, content: bytes | IO[bytes], name: str = "", most: int | None = None) -> None:
        self._file = BytesIO(content) if isinstance(content, bytes) else content
        self._name, self._most = name, most

    def __enter__(self) -> Inputs:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        return islice(self._lines(), self._count)

    def first(self, count: int) -> Inputs:
        """Return only the first lines."""
        return Inputs(self._file, self._name, count)

    def is_file(self, path: Path) -> bool:
        """Say whether the lines are read from this file."""
        try:
            mine, other = os.fstat(self._file.fileno()), path.stat()
        except OSError:  # of bytes in memory, too
            return False
        return os.path.samestat(mine, other)

    @cached_property
    def _count(self) -> int:
        count, last = 0, b"\n"
        for piece in self._pieces():
            count, last = count + piece.count(b"\n"), piece[-1:] or last
        count += last != b"\n"
        return count if self._most is None else min(count, self._most)

    def _lines(self) -> Iterator[str]:
        unended: list[bytes] = []
        for piece in self._pieces():
            lines, newline, rest = piece.rpartition(b"\n")
            if newline:
                yield from _texts(b"".join((*unended, lines)))
                unended = []
            unended.append(rest)
        if any(unended):
            yield from _texts(b"".join(unended))

    def _pieces(self) -> Iterator[bytes]:
        """Read the file from its start; iterators over it do not disturb each other."""
        place = 0
        try:
            while piece := self._read(place):
                yield piece if place else piece.removeprefix(UTF8_MARK)
                place += len(piece)
        except OSError as error:
            raise unreadable(self._name, error) from None

    def _read(self, place: int) -> bytes:
        self._file.seek(place)
        return self._file.read(PIECE)


def _texts(lines: bytes) -> list[str]:
    """Split lines at line feeds, and drop a carriage return before one."""
    text = lines.decode("utf-8", "replace")
    found = text.split("\n")
    return [line.removesuffix("\r") for line in found] if "\r" in text else found


def opened(path: Path) -> Inputs:
    """Open a file of inputs."""
    try:
        file = path.open("rb", buffering=0)
    except OSError as error:
        raise unreadable(str(path), error) from None
    return Inputs(file, str(path)) if file.seekable() else spooled(file, str(path))


def spooled(source: IO[bytes], name: str) -> Inputs:
    """Copy what can be read only once into a temporary file."""
    from shutil import copyfileobj
    from tempfile import TemporaryFile

    try:
        with source:
            file = TemporaryFile(buffering=0)  # noqa: SIM115
            copyfileobj(source, file, PIECE)
    except OSError as error:
        raise unreadable(name, error) from None
    return Inputs(file, name)


def unreadable(name: str, error: OSError) -> TapeformerError:
    """Return the error for a file of lines that cannot be read."""
    why = f"the file cannot be read: {error.strerror or error}"
    remedy = "name a file with one input, or one machine, on each line"
    return TapeformerError(Fault(why, SourceLocation(name), remedy=remedy))
