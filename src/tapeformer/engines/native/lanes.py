"""Inputs as bits of words: flags packed and unpacked, and windows read where they lie in a ring."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.native.memory_layout import ValueMasks
from tapeformer.windows import Flags, Integers

Words = NDArray[np.uint64]


def packed(flags: Flags, inputs: int) -> Words:
    """Return flags of inputs, in the last dimension, as words for so many inputs."""
    wide = np.zeros((*flags.shape[:-1], inputs), bool)
    wide[..., : flags.shape[-1]] = flags
    return np.packbits(wide, axis=-1, bitorder="little").view(np.uint64)


def unpacked(words: Words, inputs: int) -> Flags:
    """Return the flags of the inputs in words."""
    octets = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(octets, axis=-1, bitorder="little", count=inputs).view(bool)


def numbers(digits: Words, lanes: Integers) -> Integers:
    """Return the numbers of some inputs, from a word for each binary digit."""
    octets = np.ascontiguousarray(digits).view(np.uint8)[:, lanes >> 3]
    bits = (octets >> (lanes & 7).astype(np.uint8)) & 1
    total: Integers = (bits.astype(np.int64) << np.arange(len(digits))[:, None]).sum(axis=0)
    return total


class Ring:
    """A ring of tokens in which every value of a factor is a word and every input a bit of it."""

    def __init__(self, memory: Words, value_masks: ValueMasks) -> None:
        self.octets = memory.view(np.uint8).reshape(-1)
        self.capacity, self.stride, elements = memory.shape
        self.word_octets = 8 * elements
        self.sizes = np.array([len(factor) for factor in value_masks])
        self.first_word = np.array([factor[0][0] for factor in value_masks])
        self.values = np.concatenate([np.arange(size) for size in self.sizes])
        self.values = self.values.astype(np.min_scalar_type(int(self.sizes.max())))

    def entry(self, places: Integers) -> Integers:
        """Return the octets at which tokens begin."""
        octets: Integers = (places & (self.capacity - 1)) * (self.stride * self.word_octets)
        return octets


class LaneTokens:
    """Tokens of some inputs: the octet at which each begins, and the bit of its input."""

    def __init__(self, ring: Ring, starts: Integers, bits: NDArray[np.uint8]) -> None:
        self.ring, self.starts, self.bits = ring, starts, bits

    def has(self, factor: Integers | int, value: Integers | int) -> Flags:
        """Say which of the tokens have a value."""
        words = self.ring.first_word[factor] + value
        octets = self.ring.octets.take(self.starts + words * self.ring.word_octets)
        found: Flags = (octets & self.bits) != 0
        return found

    def values(self, factor: Integers | int) -> Integers:
        """Return each token's value of a factor."""
        sizes = self.ring.sizes[factor]
        total = np.zeros(np.broadcast_shapes(self.starts.shape, sizes.shape), np.int64)
        for value in range(1, int(sizes.max(initial=0))):
            found = self.has(factor, np.minimum(value, sizes - 1)) & (value < sizes)
            total += value * found
        return total


class LaneWindows:
    """The windows of inputs that have ended, each at a place of its own: see `Windows`."""

    def __init__(self, ring: Ring, lanes: Integers, ends: Integers, window: int) -> None:
        self.ring, self.ends = ring, ends
        self.octet, self.bit = lanes >> 3, (1 << (lanes & 7)).astype(np.uint8)
        self.lengths = np.minimum(ends + 1, window)

    def at(self, inputs: Integers, ages: Integers) -> LaneTokens:
        """Return the tokens of some ages in the windows of some inputs."""
        starts = self.ring.entry(self.ends[inputs] - ages) + self.octet[inputs]
        return LaneTokens(self.ring, starts, self.bit[inputs])

    def rows(self, input: int) -> NDArray[np.int32]:
        """Return a whole window as rows of value numbers, oldest first."""
        ring, end = self.ring, int(self.ends[input])
        places = np.arange(end + 1 - int(self.lengths[input]), end + 1) & (ring.capacity - 1)
        shaped = ring.octets.reshape(ring.capacity, ring.stride, ring.word_octets)
        found = shaped[places, : len(ring.values), self.octet[input]] & self.bit[input] != 0
        rows = np.add.reduceat(found * ring.values, ring.first_word, axis=1)
        return rows.astype(np.int32)
