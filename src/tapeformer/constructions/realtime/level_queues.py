"""The queues of some levels as arrays: where their cells and marks are, and how they join to rings."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from tapeformer.constructions.realtime.cell_tables import CellTables
from tapeformer.constructions.realtime.names import KINDS, NO_MARK, TRACKS, Stack, length_rule
from tapeformer.layout import Layout
from tapeformer.windows import Integers


class QueueTable(NamedTuple):
    """An entry for each queue, main before delay, level by level; then one for each of its cells.

    Of a queue: its level (as the place in a list), its length, its last column in the level's ring, the
    factor of its marks, and the values of the first mark and of none. Of a cell: its factor, the value
    that is no symbol, its queue, stack and track.
    """

    levels: Integers
    lengths: Integers
    backs: Integers
    marks: Integers
    first_marks: Integers
    no_marks: Integers
    cells: Integers
    dummies: Integers
    queues: Integers
    stacks: Integers
    tracks: Integers


class LevelQueues:
    """The tables of all sets of levels that are asked for.

    `started` has the factors that say whether a level has started, the highest first, and their values.
    """

    def __init__(self, tables: CellTables, layout: Layout) -> None:
        self.tables, self.layout = tables, layout
        names = [f"started{level}" for level in range(layout.levels, 0, -1)]
        factors = np.array([tables.factor[name] for name in names])
        self.started = factors, np.array([tables.value(name, "1") for name in names])

    @cache  # noqa: B019
    def of(self, levels: tuple[int, ...]) -> QueueTable:
        """Return the table of some levels."""
        tables, queues = self.tables, list(product(levels, KINDS))
        names = [Stack(1, "left").mark(kind, level) for level, kind in queues]
        lengths = [self.layout.lengths[length_rule(kind, level)] for level, kind in queues]
        ring_ends = np.cumsum(np.reshape(lengths, (len(levels), len(KINDS))), axis=1)
        cells, dummies = (
            np.concatenate([table.ravel() for table in part])
            for part in zip(*map(tables.tracks, levels), strict=True)
        )
        number = np.arange(len(cells))
        each = len(cells) // len(queues)
        return QueueTable(
            levels=np.repeat(np.arange(len(levels)), len(KINDS)),
            lengths=np.array(lengths),
            backs=ring_ends.ravel() - 1,
            marks=np.array([tables.factor[name] for name in names]),
            first_marks=np.array([tables.value(name, "1") for name in names]),
            no_marks=np.array([tables.value(name, NO_MARK) for name in names]),
            cells=cells,
            dummies=dummies,
            queues=number // each,
            stacks=number % each // TRACKS,
            tracks=number % TRACKS,
        )
