"""What must be known beside machine code to use it: where a token's values stand in memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.nativecode.emit import room, shape_for
from tapeformer.engines.nativecode.logic import Logic
from tapeformer.engines.nativecode.words import Program

PIECE = 256
"""Tokens read at a time."""

Place = tuple[int, int]
"""A word of a token, and the bits of it that are set where a factor has the value."""

Places = tuple[tuple[Place, ...], ...]
"""The place of each value of each factor."""


@dataclass(frozen=True)
class Plan:
    """Sizes of the memory that machine code works on, and what is known of its margin.

    `keeps`: a token has further words, computed when it is absorbed. `places` has a place for
    each value of each factor.
    """

    parts: int
    stride: int
    room: int
    digits: int
    proven_margin: int | None
    keeps: bool
    places: Places


def plan_for(logic: Logic, program: Program, parts: int, places: Places) -> Plan:
    """The plan of a program."""
    return Plan(
        parts=parts,
        stride=shape_for(program, parts).stride,
        room=room(program),
        digits=len(program.margin),
        proven_margin=logic.proven_margin,
        keeps=program.width > len(program.following),
        places=places,
    )


def aligned(*shape: int) -> NDArray[np.uint64]:
    """Zeros that begin at a multiple of 64 bytes."""
    size = int(np.prod(shape))
    memory = np.zeros(size + 8, np.uint64)
    start = -(memory.ctypes.data // 8) % 8
    return memory[start : start + size].reshape(shape)


class Codec:
    """Tokens as numbers of values, and as words in memory."""

    def __init__(self, plan: Plan) -> None:
        self.stride = plan.stride
        flat = [place for factor in plan.places for place in factor]
        self.words = np.array([word for word, _ in flat])
        self.masks = np.array([mask for _, mask in flat], np.uint64)
        sizes = np.array([len(factor) for factor in plan.places])
        self.starts = np.cumsum([0, *sizes[:-1]])
        self.having = [np.flatnonzero(sizes > value) for value in range(int(sizes.max()))]

    def written(self, rows: NDArray[np.int32]) -> NDArray[np.uint64]:
        """Tokens as words."""
        entries = np.zeros((len(rows), self.stride), np.uint64)
        index = np.arange(len(rows))
        for factor, start in enumerate(self.starts.tolist()):
            bits = start + rows[:, factor]
            entries[index, self.words[bits]] |= self.masks[bits]
        return entries

    def read(self, entries: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Words as tokens; in pieces, and by columns, because that keeps memory near."""
        rows = np.zeros((len(entries), len(self.starts)), np.int32)
        for start in range(0, len(entries), PIECE):
            columns = np.ascontiguousarray(entries[start : start + PIECE].T)
            rows[start : start + PIECE] = self._values(columns).T
        return rows

    def _values(self, columns: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Factors x tokens, from words x tokens: each value but the first adds its number."""
        values = np.zeros((len(self.starts), columns.shape[1]), np.int32)
        for value, factors in enumerate(self.having[1:], start=1):
            bits = self.starts[factors] + value
            found = (columns[self.words[bits]] & self.masks[bits, None]) != 0
            values[factors] += found * np.int32(value)
        return values
