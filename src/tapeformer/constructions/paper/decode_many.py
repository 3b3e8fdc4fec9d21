"""Reading the windows of many inputs at once: what `decode` says of each, for completed steps.

The cells of a stack lie in one row, from the left end of its highest level to the right end of the
first. What is no symbol is left out at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tapeformer.constructions.decoded_many import (
    Cells,
    DecodedMany,
    TapeColumn,
    in_parts,
    tapes_between,
)
from tapeformer.constructions.paper.fields import Stack
from tapeformer.constructions.record import Domains, ManyDecoder
from tapeformer.constructions.value_names import ValueNames
from tapeformer.layout import Layout
from tapeformer.windows import Flags, Integers, Windows

DUMMY, BOTTOM, HOLE = range(3)
"""The numbers of cells that are no symbols; those of symbols are larger."""


def many_decoder(reading: Mapping[str, Any], layout: Layout, domains: Domains) -> ManyDecoder:
    """Return what reads windows at the end of a step."""
    tables = PaperTables(reading, layout, domains)
    cells = 8 * reading["tapes"] * sum(layout.lengths.values())

    def decoded(windows: Windows) -> DecodedMany:
        decode = partial(_decoded, tables, windows)
        return in_parts(decode, len(windows.lengths), cells)

    return decoded


def _decoded(tables: PaperTables, windows: Windows, inputs: Integers) -> DecodedMany:
    return _Decoding(tables, windows, inputs).decoded()


class PaperTables:
    """Factors and values by number, and the queues' lengths."""

    def __init__(self, reading: Mapping[str, Any], layout: Layout, domains: Domains) -> None:
        self.layout, self.tapes = layout, range(1, reading["tapes"] + 1)
        known = (reading["dummy"], reading["bottom"], reading["hole"], reading["blank"])
        self.values = ValueNames(reading, domains, known)
        self.stacks = [Stack(tape, side) for tape in self.tapes for side in ("left", "right")]
        self.blank = self.values.number[reading["blank"]]
        self.none = self.values.number.get(reading["none"], -1)
        mark = reading["mark"]
        self.marked = self.values.where(lambda name: name.endswith(mark))
        self.unmarked = self.values.changed(lambda name: name.removesuffix(mark))
        self.scans = self.values.where(lambda name: name.startswith(("scan", "more")))

    def queues(self, kinds: str, level: int) -> Integers:
        """Return the factors of some queues of a level: [stack, kind]."""
        names = [stack.queue(kind, level) for stack in self.stacks for kind in kinds]
        return self.values.factors(names).reshape(len(self.stacks), len(kinds))

    def registers(self, what: str) -> Integers:
        """Return the factors of a register of each stack."""
        return self.values.factors([stack.register(what) for stack in self.stacks])


class Clock(NamedTuple):
    """A level's clock in each input: how far its queues are past their left ends, and T_i's head."""

    offsets: Integers
    heads: Integers


class _Decoding:
    """Windows under way to configurations; `readable` are those that nothing speaks against."""

    def __init__(self, tables: PaperTables, windows: Windows, inputs: Integers) -> None:
        self.tables, self.windows, self.inputs = tables, windows, inputs
        self.layout, self.values = tables.layout, tables.values
        self.rows, self.columns = np.arange(len(inputs)), np.arange(len(tables.stacks))
        self.newest = windows.at(inputs, np.zeros(len(inputs), np.int64))
        self.registers = windows.at(inputs[:, None], np.zeros((1, 1), np.int64))
        top = self.layout.lengths[f"half{self.layout.levels}"]
        self.readable = windows.lengths[inputs] >= top
        self.readable &= self._has("phase", "run") & self._has("stepped", "1")
        operations = self.values.at(self.registers, tables.registers("op"))
        self.readable &= ~tables.scans[operations].any(axis=1)

    def decoded(self) -> DecodedMany:
        """Decode all whose step is complete."""
        levels = [self._level(level) for level in range(self.layout.levels, 0, -1)]
        rows = np.concatenate(levels, axis=2)
        inputs, stacks, places = np.nonzero(rows > HOLE)
        owners, symbols = inputs, rows[inputs, stacks, places]
        parts = [Cells(owners[stacks == stack], symbols[stacks == stack]) for stack in self.columns]
        state = self.values.factor["state"]
        return DecodedMany(
            readable=self.readable,
            states=self.newest.values(state),
            tapes=tuple(
                self._tape(t, parts[2 * t - 2], parts[2 * t - 1]) for t in self.tables.tapes
            ),
            state_names=self.values.domains[state],
            symbol_names=self.values.names,
        )

    def _has(self, name: str, value: str) -> Flags:
        factor = self.values.factor[name]
        return self.newest.has(factor, self.values.domains[factor].index(value))

    def _tape(self, tape: int, left: Cells, right: Cells) -> TapeColumn:
        """Return a tape of every input: two stacks and the symbol under the head, if there is one."""
        heads = self.values.at(self.newest, self.values.factor[f"tape{tape}/head"])
        heads = np.where(heads == self.tables.none, -1, heads)
        return tapes_between(len(self.rows), left, heads, right, self.tables.blank)

    def _level(self, level: int) -> Integers:
        """Return T_i of every stack: [input, stack, cell], what the buffer hands back included."""
        clock, size = self._clock(level), self.layout.lengths[f"half{level}"]
        ages = np.arange(size)
        tokens = self.windows.at(self.inputs[:, None, None, None], ages[:, None, None])
        halves = self.tables.unmarked[self.values.at(tokens, self.tables.queues("LR", level))]
        places = (clock.offsets[:, None] - ages) % size
        right = self._swapped(level)[..., None] ^ np.array([False, True])
        cells = np.zeros((len(self.rows), len(self.columns), 2 * size), np.int64)
        at = places[:, :, None, None] + size * right[:, None].astype(np.int64)
        cells[self.rows[:, None, None, None], self.columns[:, None], at] = halves
        if level > 1:
            self._hand_back(level, clock, cells)
        return cells

    def _clock(self, level: int) -> Clock:
        """Find the left mark in the input stack's queue; one that is lost makes a window unreadable."""
        size = self.layout.lengths[f"half{level}"]
        oldest_first = np.arange(size - 1, -1, -1)
        tokens = self.windows.at(self.inputs[:, None], oldest_first[None])
        marks = self.tables.marked[
            self.values.at(tokens, self.values.factor[Stack(1, "left").queue("L", level)])
        ]
        self.readable &= marks.any(axis=1)
        offsets = size - 1 - marks.argmax(axis=1)
        return Clock(offsets, offsets + size * self._has(f"half{level}", "1"))

    def _swapped(self, level: int) -> Flags:
        """Say which stacks have exchanged the halves of a level: [input, stack]."""
        if level == self.layout.levels:
            return np.zeros((len(self.rows), len(self.columns)), bool)
        factors = self.tables.registers(f"swap{level}")
        swapped: Flags = self.values.at(self.registers, factors) == self.values.number["1"]
        return swapped

    def _hand_back(self, level: int, clock: Clock, cells: Integers) -> None:
        """Put the buffer's symbols where they will come back, the oldest first."""
        length = self.layout.lengths[f"buffer{level}"]
        ages = np.arange(length - 1, -1, -1)
        there = ages < self.windows.lengths[self.inputs][:, None]
        within = np.minimum(ages, self.windows.lengths[self.inputs][:, None] - 1)
        tokens = self.windows.at(self.inputs[:, None, None], within[..., None])
        held = self.values.at(tokens, self.tables.queues("B", level)[:, 0])
        rows, places, stacks = np.nonzero((held != DUMMY) & there[..., None])
        at = (clock.heads[rows] + length - ages[places]) % cells.shape[2]
        cells[rows, stacks, at] = held[rows, places, stacks]
