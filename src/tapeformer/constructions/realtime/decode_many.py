"""Reading the windows of many inputs at once: what `decode` says of each, without listing its rings.

A cell is found only where a level is started and the cell is no dummy. The cells of all stacks of all
inputs are in flat arrays; `owner` numbers the stacks of all inputs, those of the first input first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from tapeformer.constructions.decoded_many import (
    Cells,
    DecodedMany,
    TapeColumn,
    numbered,
    tapes_between,
)
from tapeformer.constructions.realtime.cell_tables import CellTables
from tapeformer.constructions.realtime.level_queues import LevelQueues, QueueTable
from tapeformer.constructions.realtime.names import BEHIND, KINDS, TRACKS, length_rule
from tapeformer.constructions.record import Domains, ManyDecoder
from tapeformer.layout import Layout
from tapeformer.windows import Flags, Integers, Windows

NOWHERE = 1 << 62
"""The place of a mark that is not there."""


class PlacedCells(NamedTuple):
    """Cells of stacks: the owner of each, its place counted from the bottom, its symbol."""

    owners: Integers
    places: Integers
    symbols: Integers

    def joined(self, other: PlacedCells) -> PlacedCells:
        """Return these cells and others."""
        pairs = zip(self, other, strict=True)
        return PlacedCells(*(np.concatenate(pair) for pair in pairs))


class LevelCells(NamedTuple):
    """The cells of a level in the inputs that have started it, and a column for each input.

    `starts` is the column at position 0: those from there on are the ones that this turn has passed.
    """

    owners: Integers
    tracks: Integers
    columns: Integers
    symbols: Integers
    starts: Integers


def many_decoder(reading: Mapping[str, Any], layout: Layout, domains: Domains) -> ManyDecoder:
    """Return what reads windows that are past booting."""
    tables = CellTables(reading, domains)
    queues = LevelQueues(tables, layout)
    return lambda windows: _Decoding(tables, queues, windows).decoded()


class _Decoding:
    """Windows under way to configurations; `readable` are those that nothing speaks against."""

    def __init__(self, tables: CellTables, queues: LevelQueues, windows: Windows) -> None:
        self.tables, self.queues, self.windows = tables, queues, windows
        self.layout = queues.layout
        self.count, self.stacks = len(windows.lengths), len(tables.stacks)
        self.everyone = np.arange(self.count)
        self.newest = windows.at(self.everyone, np.zeros(self.count, np.int64))
        self.readable = self._has("phase", "run")

    def decoded(self) -> DecodedMany:
        """Decode all that are past booting."""
        tables, cells = self.tables, self._in_stacks(self._cells())
        tapes = range(1, tables.reading["tapes"] + 1)
        state = tables.factor["state"]
        return DecodedMany(
            readable=self.readable,
            states=self.newest.values(state),
            tapes=tuple(self._tape(tape, cells) for tape in tapes),
            state_names=tables.domains[state],
            symbol_names=tables.symbols,
        )

    def _has(self, name: str, value: str) -> Flags:
        return self.newest.has(self.tables.factor[name], self.tables.value(name, value))

    def _cells(self) -> PlacedCells:
        """Return the cells of all stacks: levels from the highest down, then the registers."""
        empty = np.zeros(0, np.int64)
        cells = PlacedCells(empty, empty, empty)
        for level, found in self._levels():
            cells = self._with_level(level, found, cells)
        tokens = self.windows.at(self.everyone[:, None, None], np.zeros((1, 1, 1), np.int64))
        symbols = self.tables.cells(tokens, self.tables.top)
        inputs, stacks, tracks = np.nonzero(symbols != 0)
        owners = inputs * self.stacks + stacks
        return self._on_top(cells, owners, symbols[inputs, stacks, tracks])

    def _on_top(self, cells: PlacedCells, owners: Integers, symbols: Integers) -> PlacedCells:
        """Append cells, sorted by owner, to those of deeper levels."""
        places = self._counts(cells.owners)[owners] + numbered(owners)
        return cells.joined(PlacedCells(owners, places, symbols))

    def _counts(self, owners: Integers) -> Integers:
        return np.bincount(owners, minlength=self.count * self.stacks)

    def _levels(self) -> Iterator[tuple[int, LevelCells]]:
        """Find the cells of all levels that have started, from the highest down."""
        every = np.arange(self.layout.levels, 0, -1)
        tokens = self.windows.at(self.everyone[:, None], np.zeros((1, 1), np.int64))
        flags = tokens.has(*self.queues.started).T
        some = flags.any(axis=1)
        if not some.any():
            return
        levels, started = tuple(every[some].tolist()), flags[some]
        table = self.queues.of(levels)
        starts = self._starts(table, started)
        number, cells = self._found(table, started)
        for index, level in enumerate(levels):
            mine = number == index
            owners, tracks, columns, symbols = (part[mine] for part in cells)
            yield level, LevelCells(owners, tracks, columns, symbols, starts[index])

    def _starts(self, table: QueueTable, started: Flags) -> Integers:
        """Return the columns at position 0: [level, input]."""
        starts = np.full(started.shape, NOWHERE)
        marks = (table.marks, table.first_marks, table.lengths)
        inputs, ages, queues = self.windows.find(*marks, having=True)
        np.minimum.at(starts, (table.levels[queues], inputs), table.backs[queues] - ages)
        self.readable &= (~started | (starts < NOWHERE)).all(axis=0)
        return np.where(started & (starts < NOWHERE), starts, 0)

    def _found(
        self, table: QueueTable, started: Flags
    ) -> tuple[Integers, tuple[Integers, Integers, Integers, Integers]]:
        """Return the level of each cell; and their owners, tracks, columns and symbols."""
        lengths = table.lengths[table.queues]
        inputs, ages, cells = self.windows.find(table.cells, table.dummies, lengths, having=False)
        queues = table.queues[cells]
        tokens = self.windows.at(inputs, ages)
        counting = started[table.levels[queues], inputs]
        counting &= ~tokens.has(table.marks[queues], table.no_marks[queues])
        inputs, ages, cells = inputs[counting], ages[counting], cells[counting]
        symbols = self.tables.cells(self.windows.at(inputs, ages), table.cells[cells])
        queues, owners = table.queues[cells], inputs * self.stacks + table.stacks[cells]
        columns = table.backs[queues] - ages
        return table.levels[queues], (owners, table.tracks[cells], columns, symbols)

    def _with_level(self, level: int, found: LevelCells, above: PlacedCells) -> PlacedCells:
        """Return the cells from this level up; what is being handed down comes before the rest."""
        behind, still_above = self._moving(level, found.starts)
        owners, tracks, symbols = self._in_order(level, found, behind)
        down = tracks < 0
        arrived = self._counts(owners[down])
        splits = self._counts(above.owners) - still_above
        later = above.places >= splits[above.owners]
        places = above.places + np.where(later, arrived[above.owners], 0)
        handed = splits[owners[down]] + numbered(owners[down])
        cells = PlacedCells(above.owners, places, above.symbols)
        cells = cells.joined(PlacedCells(owners[down], handed, symbols[down]))
        return self._on_top(cells, owners[~down], symbols[~down])

    def _moving(self, level: int, starts: Integers) -> tuple[Integers, Integers]:
        """Return how many tracks lower passed columns are, and how many cells are still above."""
        if level == self.layout.levels:
            none = np.zeros(self.count * self.stacks, np.int64)
            return none, none
        names = [stack.register(f"op{level + 1}") for stack in self.tables.stacks]
        factors = np.array([self.tables.factor[name] for name in names])
        tokens = self.windows.at(self.everyone[:, None], np.zeros((1, 1), np.int64))
        behind = self.tables.behind[factors, tokens.values(factors)]
        still_above = np.where(behind == BEHIND["pull"], starts[:, None], 0)
        return behind.reshape(-1), still_above.reshape(-1)

    def _in_order(
        self, level: int, found: LevelCells, behind: Integers
    ) -> tuple[Integers, Integers, Integers]:
        """Return a level's cells by owner, track (as before this turn) and position: see `decode`."""
        starts = found.starts[found.owners // self.stacks]
        passed = found.columns >= starts
        tracks = found.tracks + np.where(passed, behind[found.owners], 0)
        size = sum(self.layout.lengths[length_rule(kind, level)] for kind in KINDS)
        places = (found.columns - starts) % size
        order = np.argsort((found.owners * (TRACKS + 2) + tracks + 1) * size + places)
        return found.owners[order], tracks[order], found.symbols[order]

    def _in_stacks(self, cells: PlacedCells) -> Cells:
        """Return the cells of each stack in order, without its bottom, which must be the first."""
        order = np.argsort(cells.owners * (len(cells.owners) + 1) + cells.places)
        symbols, owners = cells.symbols[order], cells.owners[order]
        bottoms = symbols == self.tables.bottom
        first = np.concatenate([[True], owners[1:] != owners[:-1]])[: len(owners)]
        sound = self._counts(owners[bottoms & first]) == 1
        sound &= self._counts(owners[bottoms]) == 1
        self.readable &= sound.reshape(self.count, self.stacks).all(axis=1)
        return Cells(owners[~first], symbols[~first])

    def _tape(self, tape: int, cells: Cells) -> TapeColumn:
        """Return a tape of every input: two stacks and the symbol under the head."""
        inputs, stacks = np.divmod(cells.owners, self.stacks)
        left, right = (
            Cells(inputs[stacks == stack], cells.symbols[stacks == stack])
            for stack in (2 * tape - 2, 2 * tape - 1)
        )
        heads = self.tables.heads(self.newest, tape)
        return tapes_between(self.count, left, heads, right, self.tables.blank)
