"""Windows of ended inputs, read from device memory on demand.

Each factor is kept only for the tokens that a head could still fetch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.gpu.device import Address
from tapeformer.engines.gpu.memory_layout import (
    BLOCK_INPUTS,
    BLOCK_THREADS,
    WORD_INPUTS,
    KernelLayout,
)
from tapeformer.engines.gpu.prompt_masks import packed_words
from tapeformer.engines.gpu.served_memory import DeviceMemory
from tapeformer.engines.logic.factor_codes import codes, digits_of, values_by_code
from tapeformer.windows import Flags, Found, Integers

Words = NDArray[np.uint32]

ALL, LANES = 0xFFFFFFFF, np.arange(WORD_INPUTS, dtype=np.uint32)
"""A word with every lane set, and the numbers of a word's lanes."""
ON_CHIP = -1
"""Instead of a ring's number: the words of the newest token that are kept on the chip."""


class FactorPlaces:
    """For each factor: its ring, its first word there, how many words, and each code's value."""

    def __init__(self, layout: KernelLayout) -> None:
        sizes, on_chip = layout.sizes, layout.newest_words
        self.digits = np.array([digits_of(size) for size in sizes])
        self.ring = np.array([layout.ring_of.get(f, ON_CHIP) for f in range(len(sizes))])
        first = {factor: word for word, (factor, digit) in enumerate(on_chip) if not digit}
        for ring in layout.rings:
            first |= ring.first_word
        self.first = np.array([first.get(factor, 0) for factor in range(len(sizes))])
        self.values = np.full((len(sizes), 1 << int(self.digits.max(initial=0))), -1)
        for factor, size in enumerate(sizes):
            self.values[factor, : 1 << digits_of(size)] = values_by_code(size)


@dataclass(frozen=True)
class BlockMemory:
    """The memory of all blocks on a device, and the layout of a block's part."""

    device: DeviceMemory
    layout: KernelLayout
    rings: Address
    newest: Address

    @cached_property
    def places(self) -> FactorPlaces:
        """Where factors are in a block's memory."""
        return FactorPlaces(self.layout)

    def ring(self, blocks: Integers, number: int) -> Words:
        """Read a ring of some blocks, indexed by block, slot, word and thread."""
        ring = self.layout.rings[number]
        starts = blocks * self.layout.memory_words + ring.offset
        words = self._words(self.rings, starts, ring.words * ring.length)
        return words.reshape(-1, ring.length, ring.words, BLOCK_THREADS)

    def newest_tokens(self, blocks: Integers) -> Words:
        """Read the newest token's words on the chip, indexed by block, word and thread."""
        count = len(self.layout.newest_words)
        return self._words(self.newest, blocks * count, count).reshape(-1, count, BLOCK_THREADS)

    def _words(self, base: Address, starts: Integers, count: int) -> Words:
        size = 4 * BLOCK_THREADS
        return self.device.gathered((base + size * starts).tolist(), size * count).view(np.uint32)


class DeviceWindows:
    """The windows of some inputs: each has a block, a lane and the position of its newest token."""

    def __init__(
        self, memory: BlockMemory, blocks: Integers, lanes: Integers, ends: Integers, window: int
    ) -> None:
        self._given = memory, blocks, lanes, ends, window
        self.memory, self.ends = memory, ends
        self.lengths = np.minimum(ends + 1, window)
        self.used, self.block_index = np.unique(blocks, return_inverse=True)
        self.threads, self.bits = lanes // WORD_INPUTS, lanes % WORD_INPUTS
        self._rings: dict[int, Words] = {}
        self._newest: Words | None = None

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return DeviceWindows, self._given

    def at(self, inputs: Integers, ages: Integers) -> DeviceTokens:
        """Return the tokens of some ages in the windows of some inputs."""
        return DeviceTokens(self, *np.broadcast_arrays(inputs, ages))

    def find(self, factors: Integers, values: Integers, newest: Integers, *, having: bool) -> Found:
        """Find which of the newest tokens have (or lack) a value of a factor, query by query."""
        asked = zip(factors.tolist(), values.tolist(), newest.tolist(), strict=True)
        none = np.zeros(0, np.int64)
        parts = [(none, none, none)]
        for place, (factor, value, most) in enumerate(asked):
            inputs, ages = self._found(self._having(factor, value, having), most)
            parts.append((inputs, ages, np.full(len(inputs), place)))
        inputs, ages, places = (np.concatenate(part) for part in zip(*parts, strict=True))
        return inputs, ages, places

    def _having(self, factor: int, value: int, having: bool) -> Words:
        """Return the lanes that have (or lack) a value, as words by block, slot and thread."""
        places = self.memory.places
        words, first = self.words(int(places.ring[factor])), int(places.first[factor])
        code = codes(self.memory.layout.sizes[factor])[value]
        flags = np.full(words[:, :, 0].shape, ALL, np.uint32)
        for digit in range(int(places.digits[factor])):
            word = words[:, :, first + digit]
            flags &= word if code >> digit & 1 else ~word
        flags = flags if having else ~flags
        return flags & packed_words(self._lane_inputs >= 0).reshape(len(flags), 1, -1)

    def _found(self, flags: Words, newest: int) -> tuple[Integers, Integers]:
        """Return the inputs and ages of the bits that are set, among the newest tokens only."""
        blocks, slots, threads = np.nonzero(flags)
        some, bits = np.nonzero(flags[blocks, slots, threads][:, None] >> LANES & 1)
        inputs = self._lane_inputs[blocks[some], threads[some] * WORD_INPUTS + bits]
        ages = (self.ends[inputs] - slots[some]) % flags.shape[1]
        kept = ages < np.minimum(newest, self.lengths[inputs])
        return inputs[kept], ages[kept]

    @cached_property
    def _lane_inputs(self) -> Integers:
        """The input in each lane of the used blocks; -1 where it is none of these."""
        inputs = np.full((len(self.used), BLOCK_INPUTS), -1)
        inputs[self.block_index, self.threads * WORD_INPUTS + self.bits] = np.arange(len(self.ends))
        return inputs

    def rows(self, input: int) -> NDArray[np.int32]:
        """Return a window, oldest token first; values that no head can fetch any more are 0."""
        ages = np.arange(int(self.lengths[input]))[::-1]
        rows = np.zeros((len(ages), len(self.memory.layout.sizes)), np.int32)
        for factor in range(rows.shape[1]):
            kept = ages < self.kept(factor)
            tokens = self.at(np.array(input), ages[kept])
            rows[kept, factor] = tokens.values(factor)
        return rows

    def kept(self, factor: int) -> int:
        """Return for how many tokens a factor is kept."""
        ring = self.memory.layout.ring_of.get(factor)
        return 1 if ring is None else self.memory.layout.rings[ring].length

    def words(self, number: int) -> Words:
        """Return a ring, or the words on the chip as one slot, by block, slot, word and thread."""
        return self.newest()[:, None] if number == ON_CHIP else self.ring(number)

    def ring(self, number: int) -> Words:
        """Return a ring of all used blocks, read once."""
        if number not in self._rings:
            self._rings[number] = self.memory.ring(self.used, number)
        return self._rings[number]

    def newest(self) -> Words:
        """Return the words on the chip of all used blocks, read once."""
        if self._newest is None:
            self._newest = self.memory.newest_tokens(self.used)
        return self._newest


@dataclass(frozen=True, eq=False)
class DeviceTokens:
    """Tokens of some inputs and ages, two arrays of one shape."""

    windows: DeviceWindows
    inputs: Integers
    ages: Integers

    def has(self, factor: Integers | int, value: Integers | int) -> Flags:
        """Say which of the tokens have a factor's value."""
        found: Flags = self.values(factor) == value
        return found

    def values(self, factor: Integers | int) -> Integers:
        """Return each token's value of a factor; several factors broadcast with the tokens."""
        places = self.windows.memory.places
        factors, inputs, ages = np.broadcast_arrays(factor, self.inputs, self.ages)
        rings, found = places.ring[factors], np.zeros(factors.shape, np.int64)
        for ring in np.unique(places.ring[factor]).tolist():
            here = np.nonzero(rings == ring)
            found[here] = self._values(ring, factors[here], inputs[here], ages[here])
        return found

    def _values(self, ring: int, factors: Integers, inputs: Integers, ages: Integers) -> Integers:
        """Return values of factors that share a ring."""
        windows, places = self.windows, self.windows.memory.places
        words, first, digits = windows.words(ring), places.first[factors], places.digits[factors]
        blocks, threads = windows.block_index[inputs], windows.threads[inputs]
        slots = (windows.ends[inputs] - ages) % words.shape[1]
        bits, code = windows.bits[inputs], np.zeros(inputs.shape, np.int64)
        for digit in range(int(digits.max(initial=0))):
            word = np.minimum(first + digit, words.shape[2] - 1)
            ones = words[blocks, slots, word, threads] >> bits & 1
            code |= np.where(digit < digits, ones, 0) << digit
        return places.values[factors, code]
