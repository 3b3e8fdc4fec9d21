"""Reading the windows of many inputs at once: what `decode` says of each, without listing its rings.

A cell is found only where a level is started and the cell is no dummy. The cells of all stacks of all
inputs are in flat arrays; `owner` numbers the stacks of all inputs, those of the first input first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeformer.constructions.decoded import Decoded, tape_between
from tapeformer.constructions.realtime.cell_tables import CellTables
from tapeformer.constructions.realtime.decode import BEHIND
from tapeformer.constructions.realtime.fields import KINDS, NO_MARK, TRACKS, Stack, length_rule
from tapeformer.constructions.record import Domains
from tapeformer.layout import Layout
from tapeformer.simulator.result import Tape
from tapeformer.windows import Flags, Integers, Windows


class Cells(NamedTuple):
    """Cells of stacks: the owner of each, its place counted from the bottom, its symbol."""

    owners: Integers
    places: Integers
    symbols: Integers

    def joined(self, other: Cells) -> Cells:
        """Return these cells and others."""
        pairs = zip(self, other, strict=True)
        return Cells(*(np.concatenate(pair) for pair in pairs))


class Ring(NamedTuple):
    """A level's columns in the inputs that have started it: [input, column].

    Only `marked` ones count. `starts` is the column at position 0: those from there on are the ones
    that this turn has passed.
    """

    inputs: Integers
    marked: Flags
    starts: Integers


def many_decoder(
    reading: Mapping[str, Any], layout: Layout, domains: Domains
) -> Callable[[Windows], list[Decoded | None]]:
    """Return what reads windows; it gives None where one must be read by `decode`."""
    tables = CellTables(reading, domains)
    return lambda windows: _Decoding(tables, layout, windows).decoded()


class _Decoding:
    """Windows under way to configurations; `readable` are those that nothing speaks against."""

    def __init__(self, tables: CellTables, layout: Layout, windows: Windows) -> None:
        self.tables, self.layout, self.windows = tables, layout, windows
        self.count, self.stacks = len(windows.lengths), len(tables.stacks)
        self.everyone = np.arange(self.count)
        self.newest = windows.at(self.everyone, np.zeros(self.count, np.int64))
        self.readable = self._has("phase", "run")

    def decoded(self) -> list[Decoded | None]:
        """Decode all that are past booting."""
        stacks = self._texts(self._cells())
        tapes = range(1, self.tables.reading["tapes"] + 1)
        found = zip(*(self._tapes(tape, stacks) for tape in tapes), strict=True)
        domain = self.tables.domains[self.tables.factor["state"]]
        states = self.newest.values(self.tables.factor["state"]).tolist()
        read = zip(self.readable.tolist(), states, found, strict=True)
        return [
            Decoded(domain[state], content, settled=True) if readable else None
            for readable, state, content in read
        ]

    def _has(self, name: str, value: str) -> Flags:
        return self.newest.has(self.tables.factor[name], self.tables.value(name, value))

    def _cells(self) -> Cells:
        """Return the cells of all stacks: levels from the highest down, then the registers."""
        empty = np.zeros(0, np.int64)
        cells = Cells(empty, empty, empty)
        for level in range(self.layout.levels, 0, -1):
            ring = self._ring(level)
            if len(ring.inputs):
                cells = self._with_level(level, ring, cells)
        tokens = self.windows.at(self.everyone[:, None, None], np.zeros((1, 1, 1), np.int64))
        symbols = self.tables.cells(tokens, self.tables.top)
        inputs, stacks, tracks = np.nonzero(symbols != 0)
        owners = inputs * self.stacks + stacks
        return self._on_top(cells, owners, symbols[inputs, stacks, tracks])

    def _on_top(self, cells: Cells, owners: Integers, symbols: Integers) -> Cells:
        """Append cells, sorted by owner, to those of deeper levels."""
        places = self._counts(cells.owners)[owners] + _numbered(owners)
        return cells.joined(Cells(owners, places, symbols))

    def _counts(self, owners: Integers) -> Integers:
        return np.bincount(owners, minlength=self.count * self.stacks)

    def _ring(self, level: int) -> Ring:
        """Find a level's columns, main from front to back and then delay."""
        inputs = np.flatnonzero(self._has(f"started{level}", "1") & self.readable)
        marks: list[Flags] = []
        for mark in (NO_MARK, "1"):
            names = [Stack(1, "left").mark(kind, level) for kind in KINDS]
            factors = np.array([self.tables.factor[name] for name in names])
            values = np.array([self.tables.value(name, mark) for name in names])
            marks.append(self._columns(level, inputs, factors, values))
        there = np.concatenate(self._ages(level)) < self.windows.lengths[inputs][:, None]
        first = marks[1] & there
        self.readable[inputs[~first.any(axis=1)]] = False
        return Ring(inputs, ~marks[0] & there, first.argmax(axis=1))

    def _ages(self, level: int) -> list[Integers]:
        lengths = [self.layout.lengths[length_rule(kind, level)] for kind in KINDS]
        return [np.arange(length - 1, -1, -1) for length in lengths]

    def _columns(self, level: int, inputs: Integers, factors: Integers, values: Integers) -> Flags:
        """Say which columns have values: [input, column, ...] for [main or delay, ...] factors."""
        found = []
        for ages, factor, value in zip(self._ages(level), factors, values, strict=True):
            new = (1,) * factor.ndim
            within = np.minimum(ages, self.windows.lengths[inputs][:, None] - 1)
            rows = inputs.reshape(-1, 1, *new)
            found.append(
                self.windows.at(rows, within.reshape(*within.shape, *new)).has(factor, value)
            )
        return np.concatenate(found, axis=1)

    def _with_level(self, level: int, ring: Ring, above: Cells) -> Cells:
        """Return the cells from this level up; what is being handed down comes before the rest."""
        behind, still_above = self._moving(level, ring)
        owners, tracks, symbols = self._in_order(level, ring, behind)
        down = tracks < 0
        arrived = self._counts(owners[down])
        splits = self._counts(above.owners) - still_above
        later = above.places >= splits[above.owners]
        places = above.places + np.where(later, arrived[above.owners], 0)
        handed = splits[owners[down]] + _numbered(owners[down])
        cells = Cells(above.owners, places, above.symbols)
        cells = cells.joined(Cells(owners[down], handed, symbols[down]))
        return self._on_top(cells, owners[~down], symbols[~down])

    def _moving(self, level: int, ring: Ring) -> tuple[Integers, Integers]:
        """Return how many tracks lower passed columns are, and how many cells are still above."""
        behind = np.zeros((self.count, self.stacks), np.int64)
        still_above = np.zeros((self.count, self.stacks), np.int64)
        if level < self.layout.levels:
            starts = np.zeros(self.count, np.int64)
            starts[ring.inputs] = ring.starts
            for number, stack in enumerate(self.tables.stacks):
                name = stack.register(f"op{level + 1}")
                for operation, tracks in BEHIND.items():
                    behind[self._has(name, operation), number] = tracks
                still_above[:, number] = np.where(self._has(name, "pull"), starts, 0)
        return behind.reshape(-1), still_above.reshape(-1)

    def _in_order(
        self, level: int, ring: Ring, behind: Integers
    ) -> tuple[Integers, Integers, Integers]:
        """Return a level's cells by owner, track (as before this turn) and position: see `decode`."""
        factors, dummies = self.tables.tracks(level)
        empty = self._columns(level, ring.inputs, factors, dummies)
        rows, columns, stacks, tracks = np.nonzero(ring.marked[:, :, None, None] & ~empty)
        inputs, starts = ring.inputs[rows], ring.starts[rows]
        owners = inputs * self.stacks + stacks
        keys = tracks + np.where(columns >= starts, behind[owners], 0)
        size = ring.marked.shape[1]
        ranks = (owners * (TRACKS + 2) + keys + 1) * size + (columns - starts) % size
        main = self.layout.lengths[length_rule("main", level)]
        delayed = columns >= main
        ages = np.where(delayed, size, main) - 1 - columns
        tokens = self.windows.at(inputs, ages)
        symbols = self.tables.cells(tokens, factors[delayed.astype(int), stacks, tracks])
        order = np.argsort(ranks)
        return owners[order], keys[order], symbols[order]

    def _texts(self, cells: Cells) -> list[list[str]]:
        """Return the symbols of each stack, without its bottom, which must be the first."""
        order = np.argsort(cells.owners * (len(cells.owners) + 1) + cells.places)
        symbols, owners = cells.symbols[order], cells.owners[order]
        ends = np.cumsum(self._counts(owners))
        starts = np.concatenate([[0], ends[:-1]])
        bottom = np.append(symbols, 0)[np.minimum(starts, len(symbols))] == self.tables.bottom
        single = self._counts(owners[symbols == self.tables.bottom]) == 1
        sound = bottom & single & (ends > starts)
        self.readable &= sound.reshape(self.count, self.stacks).all(axis=1)
        names = self.tables.symbols
        texts = [names[symbol] for symbol in symbols.tolist()]
        return [texts[a + 1 : b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]

    def _tapes(self, tape: int, stacks: Sequence[list[str]]) -> list[Tape]:
        """Return a tape of every input: two stacks and the symbol under the head."""
        names, blank = self.tables.symbols, self.tables.reading["blank"]
        heads = self.tables.heads(self.newest, tape).tolist()
        left = stacks[2 * tape - 2 :: self.stacks]
        right = stacks[2 * tape - 1 :: self.stacks]
        return [
            tape_between(before, [names[head], *reversed(after)], blank)
            for before, head, after in zip(left, heads, right, strict=True)
        ]


def _numbered(owners: Integers) -> Integers:
    """Number entries that are sorted by owner, from 0 in each."""
    if not len(owners):
        return owners
    new = np.flatnonzero(np.concatenate([[True], owners[1:] != owners[:-1]]))
    return np.arange(len(owners)) - np.repeat(new, np.diff(np.append(new, len(owners))))
