"""Inputs as bits of words: packing and unpacking of flags, and windows read in place from rings."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.native.batch_memory import BatchMemory
from tapeformer.windows import Flags, Found, Integers

Words = NDArray[np.uint64]


def packed(flags: Flags, inputs: int) -> Words:
    """Pack flags, one per input along the last axis, into words for `inputs` inputs."""
    wide = np.zeros((*flags.shape[:-1], inputs), bool)
    wide[..., : flags.shape[-1]] = flags
    return np.packbits(wide, axis=-1, bitorder="little").view(np.uint64)


def unpacked(words: Words, inputs: int) -> Flags:
    """Unpack words into flags, one per input along the last axis."""
    octets = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(octets, axis=-1, bitorder="little", count=inputs).view(bool)


def numbers(digits: Words, lanes: Integers) -> Integers:
    """Return the numbers of some inputs, stored as one word per binary digit."""
    used = np.flatnonzero(digits.any(axis=1))
    octets = np.ascontiguousarray(digits[used]).view(np.uint8)[:, lanes >> 3]
    bits = (octets >> (lanes & 7).astype(np.uint8)) & 1
    total: Integers = (bits.astype(np.int64) << used[:, None]).sum(axis=0)
    return total


class LaneTokens:
    """Tokens of some inputs: each has a position, and a byte and bit of its input within a word."""

    def __init__(self, windows: LaneWindows, inputs: Integers, ages: Integers) -> None:
        self.windows, self.memory, self.octets = windows, windows.memory, windows.octets
        self.inputs, self.places = inputs, windows.ends[inputs] - ages
        self.lanes, self.bits = windows.lane[inputs], windows.bit[inputs]

    def has(self, factor: Integers | int, value: Integers | int) -> Flags:
        """Say which of the tokens have a factor's value."""
        memory = self.memory
        coded = memory.coded[factor]
        if not np.any(coded):
            resident: Flags = self._value(factor) == value
            return resident
        code, digits = memory.code_of[factor, value], memory.digits[factor]
        starts, found = self._starts(factor), None
        for digit in range(int(np.max(digits))):
            same = self._at(starts, np.minimum(digit, np.maximum(digits - 1, 0)))
            same = (same == (code >> digit & 1).astype(bool)) | (digit >= digits)
            found = same if found is None else found & same
        if found is None:
            found = np.ones(np.broadcast_shapes(starts.shape, self.bits.shape), bool)
        return found if np.all(coded) else np.where(coded, found, self._value(factor) == value)

    def values(self, factor: Integers | int) -> Integers:
        """Return each token's value of a factor."""
        memory = self.memory
        coded, digits = memory.coded[factor], memory.digits[factor]
        if not np.any(coded):
            return self._value(factor)
        starts = self._starts(factor)
        code = np.zeros(np.broadcast_shapes(starts.shape, self.bits.shape), np.int64)
        for digit in range(int(np.max(digits, where=coded, initial=0))):
            found = self._at(starts, np.minimum(digit, np.maximum(digits - 1, 0)))
            code |= (found & (digit < digits)).astype(np.int64) << digit
        found = memory.value_of[factor, np.where(coded, code, 0)]
        return found if np.all(coded) else np.where(coded, found, self._value(factor))

    def _value(self, factor: Integers | int) -> Integers:
        """Return the values of resident factors; for other factors they are meaningless."""
        same = self.inputs.shape == self.places.shape
        inputs = self.inputs if same else np.broadcast_to(self.inputs, self.places.shape)
        found: Integers = self.windows.resident[self.memory.resident_of[factor], inputs]
        return found

    def _starts(self, factor: Integers | int) -> Integers:
        """Return the byte offset of each factor's first word, at the byte of each input."""
        memory, rings = self.memory, self.memory.factor_ring[factor]
        if rings.size and (rings == rings.flat[0]).all():
            rings = rings.flat[0]
        entries = memory.starts[rings] + (self.places & memory.masks[rings]) * memory.strides[rings]
        first = memory.index[np.minimum(memory.first[factor], len(memory.index) - 1)]
        found: Integers = memory.shape.octets * (entries + first) + self.lanes
        return found

    def _at(self, starts: Integers, words: Integers | int) -> Flags:
        found: Flags = (
            self.octets.take(starts + self.memory.shape.octets * words) & self.bits
        ) != 0
        return found


class LaneWindows:
    """The windows of ended inputs, each at a position of its own: see `Windows`.

    Each factor is kept only for the tokens that heads could still fetch.
    """

    def __init__(
        self, memory: BatchMemory, words: Words, lanes: Integers, ends: Integers, window: int
    ) -> None:
        self.memory, self.ends = memory, ends
        self.words, self.octets = words, words.view(np.uint8).reshape(-1)
        self.lanes, self.lane = lanes, lanes >> 3
        self.bit = (1 << (lanes & 7)).astype(np.uint8)
        self.lengths = np.minimum(ends + 1, window)
        most = memory.shape.bits
        flags, self.input_of = np.zeros(most, bool), np.zeros(most, np.int64)
        flags[lanes], self.input_of[lanes] = True, np.arange(len(lanes))
        self.used = packed(flags, most)

    def at(self, inputs: Integers, ages: Integers) -> LaneTokens:
        """Return the tokens of some ages in the windows of some inputs."""
        return LaneTokens(self, inputs, ages)

    @cached_property
    def resident(self) -> Integers:
        """Each resident factor's newest value in each input; two token buffers take turns."""
        odd = self.ends & 1 == 1
        if odd.all() or not odd.any():
            return self._resident(int(odd.any()))
        return np.where(odd, self._resident(1), self._resident(0))

    def _resident(self, turn: int) -> Integers:
        """Return each resident factor's value in one of the two token buffers."""
        memory = self.memory
        (there, _), *_ = memory.parts(turn)
        bits = unpacked(self.words[there], memory.shape.bits)
        numbered = bits * memory.resident_values[:, None]
        values = np.add.reduceat(numbered, memory.resident_starts, axis=0)
        return values[:, self.lanes].astype(np.int64)

    def find(self, factors: Integers, values: Integers, newest: Integers, *, having: bool) -> Found:
        """Find which of the newest tokens have (or lack) a value of a factor, query by query.

        Each ring is searched whole, for all inputs at once; older tokens are dropped afterwards.
        """
        coded = self.memory.coded[factors]
        found = [self._found_newest(np.flatnonzero(~coded), factors, values, having)]
        rings = np.where(coded, self.memory.factor_ring[factors], -1)
        for ring in sorted(set(rings[coded].tolist())):
            mine = np.flatnonzero(rings == ring)
            places, numbers, lanes = self._found_in(ring, factors[mine], values[mine], having)
            found.append(self._aged(places, mine[numbers], lanes, self.memory.masks[ring]))
        inputs, ages, numbers = (np.concatenate(part) for part in zip(*found, strict=True))
        recent = (ages < newest[numbers]) & (ages < self.lengths[inputs])
        return inputs[recent], ages[recent], numbers[recent]

    def _found_newest(
        self, mine: Integers, factors: Integers, values: Integers, having: bool
    ) -> Found:
        """Search the newest tokens for (or for the lack of) values of resident factors."""
        known = self.resident[self.memory.resident_of[factors[mine]]]
        numbers, inputs = np.nonzero((known == values[mine, None]) == having)
        return inputs, np.zeros(len(inputs), np.int64), mine[numbers]

    def _found_in(self, ring: int, factors: Integers, values: Integers, having: bool) -> Found:
        """Return the slots of a ring, the queries and the lanes that have (or lack) a value."""
        memory = self.memory
        length = int(memory.masks[ring]) + 1
        start, stride = memory.starts[ring], memory.strides[ring]
        entries = self.words[start : start + length * stride].reshape(length, stride, -1)
        first = memory.index[np.minimum(memory.first[factors], len(memory.index) - 1)]
        digits = memory.digits[factors]
        code = memory.code_of[factors, values]
        has = np.broadcast_to(self.used, (length, len(factors), len(self.used))).copy()
        for digit in range(int(digits.max())):
            some = np.flatnonzero(digit < digits)
            words = entries[:, first[some] + digit]
            has[:, some] &= np.where((code[some] >> digit & 1)[:, None] == 1, words, ~words)
        octets = (has if having else has ^ self.used).view(np.uint8)
        places, numbers, lanes = np.nonzero(octets)
        bits = np.unpackbits(octets[places, numbers, lanes, None], axis=-1, bitorder="little")
        which, bit = np.nonzero(bits)
        return places[which], numbers[which], 8 * lanes[which] + bit

    def _aged(self, places: Integers, numbers: Integers, lanes: Integers, mask: int) -> Found:
        """Turn lanes into inputs, and slots of a ring into ages."""
        inputs = self.input_of[lanes]
        return inputs, (self.ends[inputs] - places) & mask, numbers

    def rows(self, input: int) -> NDArray[np.int32]:
        """Return a window, oldest token first; values that no head can fetch any more are 0."""
        ages = np.arange(int(self.lengths[input]))[::-1, None]
        tokens = self.at(np.array(input), ages)
        found = tokens.values(np.arange(len(self.memory.sizes)))
        return np.where(ages < self.memory.kept, found, 0).astype(np.int32)
