"""Reading the windows of many inputs at once: what `decode` says of each, once the ring has come round.

The ring of every input is a row, turned to its first cell; free cells are left out at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from tapeformer.constructions.decoded_many import (
    Cells,
    DecodedMany,
    TapeColumn,
    in_parts,
    without_outer_blanks,
)
from tapeformer.constructions.post.several.decode import BACK
from tapeformer.constructions.post.several.names import BEFORE, HERE, NOT_YET, RING, first_of, track
from tapeformer.constructions.record import Domains, ManyDecoder
from tapeformer.constructions.value_names import ValueNames
from tapeformer.layout import Layout
from tapeformer.windows import Flags, Integers, Windows


def many_decoder(reading: Mapping[str, Any], layout: Layout, domains: Domains) -> ManyDecoder:
    """Return what reads windows of one tape or of several."""
    tables = RingTables(reading, layout, domains)
    decode = _several_tapes if "tapes" in reading else _one_tape

    def decoded(windows: Windows) -> DecodedMany:
        part = partial(_decoded, tables, windows, decode)
        return in_parts(part, len(windows.lengths), 8 * layout.lengths[RING])

    return decoded


class RingTables:
    """Values by number, and what their signs say."""

    def __init__(self, reading: Mapping[str, Any], layout: Layout, domains: Domains) -> None:
        self.length, self.tapes = layout.lengths[RING], int(reading.get("tapes", 1))
        head, first = reading["head"], reading.get("first", "")
        self.values = ValueNames(reading, domains, (reading["free"], reading["blank"]))
        self.free = self.values.number[reading["free"]]
        self.blank = self.values.number[reading["blank"]]
        self.has_head = self.values.where(lambda name: head in name)
        self.is_first = self.values.where(lambda name: bool(first) and first in name)
        self.plain = self.values.changed(lambda name: name.replace(head, "").replace(first, ""))
        self.back = np.array([BACK.get(name, 0) for name in self.values.names], np.int64)


class Rings:
    """The rings of some inputs, and their newest tokens."""

    def __init__(self, tables: RingTables, windows: Windows, inputs: Integers) -> None:
        self.tables, self.count = tables, len(inputs)
        ages = np.arange(tables.length - 1, -1, -1)
        self.whole = windows.lengths[inputs] >= tables.length
        within = np.minimum(ages, windows.lengths[inputs][:, None] - 1)
        self.queue = windows.at(inputs[:, None], within)
        self.newest = windows.at(inputs, np.zeros(self.count, np.int64))

    def register(self, name: str) -> Integers:
        """Return the number of a register's value in each input."""
        return self.tables.values.at(self.newest, self.tables.values.factor[name])

    def track(self, queue: str, *held: str) -> Integers:
        """Return a track in the order of the queue, with the cells held: [input, cell]."""
        cells = self.tables.values.at(self.queue, self.tables.values.factor[queue])
        return np.concatenate([cells, *(self.register(name)[:, None] for name in held)], axis=1)

    def turned(self, cells: Integers, first: Integers) -> Integers:
        """Return a track that begins at the first cell."""
        size = cells.shape[1]
        return np.take_along_axis(cells, (first[:, None] + np.arange(size)) % size, axis=1)


Tapes = tuple[Flags, tuple[TapeColumn, ...]]
"""Which inputs are readable, and their tapes."""


def _decoded(
    tables: RingTables, windows: Windows, decode: Callable[[Rings], Tapes], inputs: Integers
) -> DecodedMany:
    rings = Rings(tables, windows, inputs)
    readable, tapes = decode(rings)
    state = tables.values.factor["state"]
    return DecodedMany(
        readable=readable & rings.whole,
        states=rings.newest.values(state),
        tapes=tapes,
        state_names=tables.values.domains[state],
        symbol_names=tables.values.names,
    )


def _one_tape(rings: Rings) -> Tapes:
    """Read rings whose cells carry their signs with them."""
    tables = rings.tables
    cells = rings.track(RING, BEFORE, HERE)
    marks = tables.is_first[cells]
    turned = rings.turned(cells, marks.argmax(axis=1))
    real = turned != tables.free
    heads = tables.has_head[turned] & real
    rows, columns = np.nonzero(real)
    found = Cells(rows, tables.plain[turned[rows, columns]])
    tape = without_outer_blanks(rings.count, found, _before(heads, real), tables.blank)
    return marks.any(axis=1) & heads.any(axis=1), (tape,)


def _several_tapes(rings: Rings) -> Tapes:
    """Read rings that have a track for each tape, one for the first cell's mark."""
    tables = rings.tables
    marks = rings.track(*map(first_of, (RING, BEFORE, HERE))) == tables.values.number["1"]
    first, readable = marks.argmax(axis=1), marks.any(axis=1)
    tracks = [
        rings.turned(rings.track(*(track(place, tape) for place in (RING, BEFORE, HERE))), first)
        for tape in range(tables.tapes)
    ]
    real = tracks[0] != tables.free
    found = [_taken_back(rings, tape, cells, real) for tape, cells in enumerate(tracks)]
    for sound, _ in found:
        readable &= sound
    return readable, tuple(column for _, column in found)


def _taken_back(rings: Rings, tape: int, cells: Integers, real: Flags) -> tuple[Flags, TapeColumn]:
    """Read a tape; one that has acted in a step under way is taken back to what it was before."""
    tables = rings.tables
    heads = tables.has_head[cells] & real
    rows, columns = np.nonzero(real)
    symbols, sizes = cells[rows, columns], real.sum(axis=1)
    starts, place = np.cumsum(sizes) - sizes, _before(heads, real)
    has = np.flatnonzero(heads.any(axis=1))
    symbols[(starts + place)[has]] = tables.plain[symbols[(starts + place)[has]]]
    done = rings.register(track("done", tape))
    place = place + tables.back[done]
    sound = heads.any(axis=1) & (place >= 0) & (place < sizes)
    old = np.flatnonzero(sound & (done != tables.values.number[NOT_YET]))
    symbols[(starts + place)[old]] = rings.register(track("read", tape))[old]
    return sound, without_outer_blanks(rings.count, Cells(rows, symbols), place, tables.blank)


def _before(heads: Flags, real: Flags) -> Integers:
    """Return how many real cells come before each head."""
    at = heads.argmax(axis=1)
    passed: Integers = np.cumsum(real, axis=1)[np.arange(len(at)), at]
    return passed - 1
