"""What the windows of many inputs say, as columns: an object for an input is made where one is wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tapeformer.constructions.decoded import Decoded
from tapeformer.dataclass import dataclass
from tapeformer.simulator.outcome import Tape
from tapeformer.windows import Flags, Integers, numbered_within

MOST_CELLS = 1 << 22
"""Cells of queues that are read at once: a limit to the memory that it takes."""


class Cells(NamedTuple):
    """Cells of many inputs, one input after another: the input of each cell, and its symbol."""

    owners: Integers
    symbols: Integers


@dataclass(frozen=True, eq=False)
class TapeColumn:
    """One tape of many inputs: its content as numbers of symbols, and the place of its head.

    The content of an input ends in `cells` where `ends` says, and begins where that before it ends.
    """

    cells: Integers
    ends: Integers
    heads: Integers

    @cached_property
    def bounds(self) -> list[tuple[int, int]]:
        """Where the content of each input begins and ends."""
        ends = self.ends.tolist()
        return list(zip([0, *ends[:-1]], ends, strict=True))

    def content(self, number: int, names: Sequence[str]) -> tuple[str, ...]:
        """Return the symbols of one input."""
        start, end = self.bounds[number]
        return tuple(names[symbol] for symbol in self.cells[start:end].tolist())

    def texts(self, names: Sequence[str], glue: str) -> list[str]:
        """Return the content of every input as one text."""
        letters = np.array([ord(name) if len(name) == 1 else 0 for name in names], "<u4")
        found = letters[self.cells]
        if not glue and found.all():
            text = found.tobytes().decode("utf-32-le", "surrogatepass")
            return [text[start:end] for start, end in self.bounds]
        written = [names[symbol] for symbol in self.cells.tolist()]
        return [glue.join(written[start:end]) for start, end in self.bounds]


@dataclass(frozen=True, eq=False)
class DecodedMany:
    """Configurations of many inputs after completed steps, in numbers of states and symbols.

    Of inputs that are not `readable` nothing is known: `decode` must read their windows.
    """

    readable: Flags
    states: Integers
    tapes: tuple[TapeColumn, ...]
    state_names: tuple[str, ...]
    symbol_names: tuple[str, ...]

    def decoded(self, number: int) -> Decoded:
        """Return the configuration of one input that is readable."""
        tapes = (
            Tape(column.content(number, self.symbol_names), int(column.heads[number]))
            for column in self.tapes
        )
        return Decoded(self.state_names[self.states[number]], tuple(tapes), settled=True)


def tapes_between(count: int, left: Cells, heads: Integers, right: Cells, blank: int) -> TapeColumn:
    """Return a tape of every input: a stack, the symbol under the head (-1: none), another stack.

    The cells of both stacks come from their bottoms up.
    """
    before, after = (np.bincount(cells.owners, minlength=count) for cells in (left, right))
    under = heads >= 0
    sizes = before + under + after
    starts = np.cumsum(sizes) - sizes
    symbols = np.empty(int(sizes.sum()), np.int64)
    symbols[starts[left.owners] + numbered(left.owners)] = left.symbols
    symbols[(starts + before)[under]] = heads[under]
    symbols[(starts + sizes - 1)[right.owners] - numbered(right.owners)] = right.symbols
    cells = Cells(np.repeat(np.arange(count), sizes), symbols)
    return without_outer_blanks(count, cells, before, blank)


def without_outer_blanks(count: int, cells: Cells, heads: Integers, blank: int) -> TapeColumn:
    """Return a tape of every input from its cells, left to right, and the place of its head in them."""
    inputs = np.arange(count)
    plain = np.flatnonzero(cells.symbols != blank)
    owners = cells.owners[plain]
    some, end = np.searchsorted(owners, inputs), np.searchsorted(owners, inputs, side="right")
    written, bounded = end > some, np.append(plain, 0)
    first, last = bounded[some], bounded[end - 1]
    place = np.arange(len(cells.owners))
    inside = (place >= first[cells.owners]) & (place <= last[cells.owners])
    inside &= written[cells.owners]
    starts = np.searchsorted(cells.owners, inputs)
    sizes = np.where(written, last - first + 1, 0)
    return TapeColumn(
        cells=cells.symbols[inside],
        ends=np.cumsum(sizes),
        heads=np.where(written, heads + starts - first, 0),
    )


def numbered(owners: Integers) -> Integers:
    """Number entries that are sorted by owner, from 0 in each."""
    if not len(owners):
        return owners
    new = np.flatnonzero(np.concatenate([[True], owners[1:] != owners[:-1]]))
    return numbered_within(np.diff(np.append(new, len(owners))))


def in_parts(decode: Callable[[Integers], DecodedMany], count: int, cells: int) -> DecodedMany:
    """Decode inputs that have so many cells each, a part of them at a time where those are many."""
    size = max(1, MOST_CELLS // max(1, cells))
    starts = range(0, max(1, count), size)
    parts = [decode(np.arange(start, min(start + size, count))) for start in starts]
    return parts[0] if len(parts) == 1 else _joined(parts)


def _joined(parts: Sequence[DecodedMany]) -> DecodedMany:
    columns = zip(*(part.tapes for part in parts), strict=True)
    return replace(
        parts[0],
        readable=np.concatenate([part.readable for part in parts]),
        states=np.concatenate([part.states for part in parts]),
        tapes=tuple(map(_joined_tapes, columns)),
    )


def _joined_tapes(parts: Sequence[TapeColumn]) -> TapeColumn:
    sizes = [np.diff(part.ends, prepend=0) for part in parts]
    return TapeColumn(
        cells=np.concatenate([part.cells for part in parts]),
        ends=np.cumsum(np.concatenate(sizes)),
        heads=np.concatenate([part.heads for part in parts]),
    )
