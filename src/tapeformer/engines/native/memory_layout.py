"""What must be known beside machine code to use it: where a token's values stand in memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.logic.program import Program
from tapeformer.engines.logic.symbolic_position import Logic
from tapeformer.engines.native.llvm_functions import room, shape_for

PIECE = 256
"""Tokens read at a time: what is worked on then stays near the processor."""

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


def least_margin(plan: Plan, digits: Iterable[int]) -> float:
    """The smaller one of what is proven of the margin and of a number's binary digits."""
    proven = float("inf") if plan.proven_margin is None else plan.proven_margin
    least = sum(int(digit) << place for place, digit in enumerate(digits))
    return float(min(proven, least) if plan.digits else proven)


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
        sizes = [len(factor) for factor in plan.places]
        self.starts = np.cumsum([0, *sizes[:-1]])
        self._reading = _Reading(plan, np.array(sizes))

    def written(self, rows: NDArray[np.int32]) -> NDArray[np.uint64]:
        """Tokens as words."""
        entries = np.zeros((len(rows), self.stride), np.uint64)
        index = np.arange(len(rows))
        for factor, start in enumerate(self.starts.tolist()):
            bits = start + rows[:, factor]
            entries[index, self.words[bits]] |= self.masks[bits]
        return entries

    def read(self, entries: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Words as tokens, in pieces."""
        rows = np.empty((len(entries), len(self.starts)), np.int32)
        for start in range(0, len(entries), PIECE):
            octets = entries[start : start + PIECE].view(np.uint8)
            rows[start : start + PIECE] = self._reading.values(octets).T
        return rows


class _Reading:
    """Where to find every value but the first of a factor: an octet of a token, a bit of it.

    Factors stand in the order of their sizes, so that those with a further value come first; then
    all first values are looked for at once, all second ones, and so on, with one token beside the
    other.
    """

    def __init__(self, plan: Plan, sizes: NDArray[np.int64]) -> None:
        order = np.argsort(-sizes, kind="stable")
        self.back = np.argsort(order)
        self.having = [int((sizes > value).sum()) for value in range(1, int(sizes.max()))]
        found = [
            (*_bit(plan.places[factor][value]), value)
            for value, count in enumerate(self.having, start=1)
            for factor in order[:count].tolist()
        ]
        octets, masks, numbers = np.array(found, np.int64).reshape(-1, 3).T
        self.used, self.octets = np.unique(octets, return_inverse=True)
        self.masks = masks.astype(np.uint8)[:, None]
        self.numbers = numbers.astype(np.min_scalar_type(int(sizes.max())))[:, None]

    def values(self, octets: NDArray[np.uint8]) -> NDArray[np.unsignedinteger]:
        """Factors x tokens, from tokens x octets: each value adds its number."""
        columns = np.ascontiguousarray(octets[:, self.used].T)
        found = ((columns[self.octets] & self.masks) != 0) * self.numbers
        values = np.zeros((len(self.back), len(octets)), self.numbers.dtype)
        start = 0
        for count in self.having:
            values[:count] += found[start : start + count]
            start += count
        return values[self.back]


def _bit(place: Place) -> Place:
    """The octet of a token that has the lowest bit of a place, and the bit in it."""
    word, mask = place
    low = (mask & -mask).bit_length() - 1
    return 8 * word + low // 8, 1 << low % 8
