"""Windows of inputs that have ended, read from the device where they lie.

Of each factor the tokens that heads could still fetch are there, and no others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.gpu.device import Address, Device
from tapeformer.engines.gpu.memory_layout import BLOCK_THREADS, WORD_INPUTS, KernelLayout
from tapeformer.engines.logic.factor_codes import digits_of, values_by_code
from tapeformer.windows import Flags, Found, Integers, find_in_all

Words = NDArray[np.uint32]


@dataclass(frozen=True)
class BlockMemory:
    """The memory of all blocks on a device, and how each block's part is laid out."""

    device: Device
    layout: KernelLayout
    rings: Address
    newest: Address

    def ring(self, block: int, number: int) -> Words:
        """Return a ring of a block: slots, words, threads."""
        ring = self.layout.rings[number]
        start = block * self.layout.memory_words + ring.offset
        words = self._words(self.rings, start, ring.words * ring.length)
        return words.reshape(ring.length, ring.words, BLOCK_THREADS)

    def newest_token(self, block: int) -> Words:
        """Return the words of the newest token that are kept on the chip: words, threads."""
        count = len(self.layout.newest_words)
        return self._words(self.newest, block * count, count).reshape(count, BLOCK_THREADS)

    def _words(self, base: Address, start: int, count: int) -> Words:
        size = 4 * BLOCK_THREADS
        return self.device.download(base + size * start, size * count).view(np.uint32)


class DeviceWindows:
    """The windows of some inputs: block and lane of each, and the place of its newest token."""

    def __init__(
        self, memory: BlockMemory, blocks: Integers, lanes: Integers, ends: Integers, window: int
    ) -> None:
        self.memory, self.ends, self.window = memory, ends, window
        self.lengths = np.minimum(ends + 1, window)
        self.used, self.block_index = np.unique(blocks, return_inverse=True)
        self.threads, self.bits = lanes // WORD_INPUTS, lanes % WORD_INPUTS
        self._rings: dict[int, Words] = {}
        self._newest: Words | None = None

    def at(self, inputs: Integers, ages: Integers) -> DeviceTokens:
        """Return the tokens of some ages in the windows of some inputs."""
        return DeviceTokens(self, *np.broadcast_arrays(inputs, ages))

    def find(self, factors: Integers, values: Integers, newest: Integers, *, having: bool) -> Found:
        """Find those of the newest tokens that have values, or that have them not."""
        return find_in_all(self, factors, values, newest, having=having)

    def rows(self, input: int) -> NDArray[np.int32]:
        """Return a window, oldest first; what no head can fetch any more is 0 in it."""
        ages = np.arange(int(self.lengths[input]))[::-1]
        rows = np.zeros((len(ages), len(self.memory.layout.sizes)), np.int32)
        for factor in range(rows.shape[1]):
            kept = ages < self.kept(factor)
            tokens = self.at(np.array(input), ages[kept])
            rows[kept, factor] = tokens.values(factor)
        return rows

    def kept(self, factor: int) -> int:
        """Return of how many tokens a factor is kept."""
        ring = self.memory.layout.ring_of.get(factor)
        return 1 if ring is None else self.memory.layout.rings[ring].length

    def ring(self, number: int) -> Words:
        """Return a ring of all blocks that are used: blocks, slots, words, threads."""
        if number not in self._rings:
            found = [self.memory.ring(block, number) for block in self.used.tolist()]
            self._rings[number] = np.stack(found)
        return self._rings[number]

    def newest(self) -> Words:
        """Return what is kept on the chip of all blocks that are used: blocks, words, threads."""
        if self._newest is None:
            found = [self.memory.newest_token(block) for block in self.used.tolist()]
            self._newest = np.stack(found)
        return self._newest


@dataclass(frozen=True, eq=False)
class DeviceTokens:
    """Tokens of some inputs and ages, of one shape."""

    windows: DeviceWindows
    inputs: Integers
    ages: Integers

    def has(self, factor: Integers | int, value: Integers | int) -> Flags:
        """Say which of the tokens have a value."""
        found: Flags = self.values(factor) == value
        return found

    def values(self, factor: Integers | int) -> Integers:
        """Return each token's value of a factor; of several factors one after another."""
        if isinstance(factor, int):
            return self._values(factor, self.inputs, self.ages)
        factors, inputs, ages = np.broadcast_arrays(factor, self.inputs, self.ages)
        found = np.zeros(factors.shape, np.int64)
        for one in np.unique(factors).tolist():
            here = factors == one
            found[here] = self._values(one, inputs[here], ages[here])
        return found

    def _values(self, factor: int, inputs: Integers, ages: Integers) -> Integers:
        size = self.windows.memory.layout.sizes[factor]
        code = np.zeros(inputs.shape, np.int64)
        for digit, words in enumerate(self._digits(factor, inputs, ages)):
            code |= (words.astype(np.int64) >> self.windows.bits[inputs] & 1) << digit
        return values_by_code(size)[code]

    def _digits(self, factor: int, inputs: Integers, ages: Integers) -> Iterator[Words]:
        """Yield the words that have the digits of a factor."""
        windows, layout = self.windows, self.windows.memory.layout
        blocks, threads = windows.block_index[inputs], windows.threads[inputs]
        number, digits = layout.ring_of.get(factor), range(digits_of(layout.sizes[factor]))
        if number is None:
            first = layout.newest_words.index((factor, 0)) if digits else 0
            yield from (windows.newest()[blocks, first + digit, threads] for digit in digits)
            return
        ring = layout.rings[number]
        slots = (windows.ends[inputs] - ages) % ring.length
        first = ring.first_word[factor]
        yield from (windows.ring(number)[blocks, slots, first + d, threads] for d in digits)
