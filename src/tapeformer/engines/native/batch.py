"""Many inputs at once: every bit of a machine word is another input, and each ends on its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from tapeformer.engines.batch import Counted, Ended, Limits, Prompts
from tapeformer.engines.logic.attention_offsets import AttentionOffsets
from tapeformer.engines.memory import Costs, check_memory
from tapeformer.engines.native.build import BATCH_ELEMENTS, batch_code
from tapeformer.engines.native.cache import CodeCache
from tapeformer.engines.native.compiler import loaded
from tapeformer.engines.native.lanes import LaneWindows, Ring, Words, numbers, packed, unpacked
from tapeformer.engines.native.llvm_batch_loop import FRESH, LIVE
from tapeformer.engines.native.llvm_loop import COUNTER
from tapeformer.engines.native.memory_layout import MemoryLayout, aligned
from tapeformer.engines.stream import Value
from tapeformer.weights.positions import window_for
from tapeformer.weights.record import TransformerWeights
from tapeformer.windows import Flags, Integers

INPUTS = 64 * BATCH_ELEMENTS
"""As many as a word has bits."""

RING_OCTETS = 1 << 23
"""A ring has places to spare up to this size: windows of ended inputs stay in them for a while."""

FAR = 1 << 16
"""A limit that is at least so many tokens away need not be known more exactly."""


class Batch:
    """Machine code for up to 256 inputs of one model; raises NotLogicError where there is none.

    `processes`: how many do the same side by side, and must all find room in memory.
    """

    name, inputs = "native", INPUTS

    def __init__(
        self,
        weights: TransformerWeights,
        offsets: Sequence[int],
        cache: Path | None = None,
        processes: int = 1,
    ) -> None:
        code = batch_code(weights, CodeCache(cache))
        self.layout, self.window = code.layout, window_for(offsets)
        self.capacity = _capacity(code.layout, self.window)
        check_memory(_costs(code.layout, self.capacity, processes), self.window)
        self.distances = AttentionOffsets(weights, offsets, self.window)
        self.code = loaded(code.machine_code)
        self.memory = aligned(self.capacity, self.layout.stride, BATCH_ELEMENTS)
        self.ring = Ring(self.memory, self.layout.value_masks)

    def word(self, value: Value) -> int:
        """Return the word of a token that says whether it has a value."""
        return self.layout.value_masks[value[0]][value[1]][0]

    def run(self, prompts: Prompts, stop: Value, count: Counted, limits: Limits) -> Iterator[Ended]:
        """Run every prompt until its watched value changes, or to a limit; yield those that end."""
        most = max((adds for _, adds in count), default=1)
        return _Run(self, prompts, self._asked(stop, count), most, limits).to_the_end()

    def _asked(self, stop: Value, count: Counted) -> Integers:
        """Return what machine code is asked for: see `llvm_batch_loop`."""
        pairs = [
            (self.word(value), digit)
            for value, adds in count
            for digit in range(adds.bit_length())
            if adds >> digit & 1
        ]
        numbers = (self.word(stop), self.capacity - self.window, len(pairs), *sum(pairs, ()))
        return np.array(numbers, np.int64)


def _capacity(layout: MemoryLayout, window: int) -> int:
    """Return the places of a ring: a power of two that is larger than the window."""
    octets = 8 * BATCH_ELEMENTS * layout.stride
    return max(1 << window.bit_length(), 1 << (RING_OCTETS // octets).bit_length() - 1)


def _costs(layout: MemoryLayout, capacity: int, processes: int) -> Costs:
    """Return what the rings take, and to read a whole window: a number for each of its values."""
    places = sum(len(factor) for factor in layout.value_masks)
    ring = 8 * BATCH_ELEMENTS * layout.stride * capacity
    return Costs("batch", processes * ring, processes * 4 * places, None)


class _PromptWords:
    """The tokens of prompts as words; most words are the same in all of them."""

    def __init__(self, batch: Batch, prompts: Prompts) -> None:
        self.prompts = prompts
        width = int(batch.ring.sizes.sum())
        bits = np.zeros((width, len(prompts.rows)), bool)
        bits[batch.ring.first_word[:, None] + prompts.rows.T, np.arange(len(prompts.rows))] = True
        self.width, self.common = width, bits.all(axis=1)
        self.varying = np.flatnonzero(bits.any(axis=1) & ~self.common)
        self.bits = bits[self.varying]

    def write(self, entry: Words, place: int) -> None:
        """Replace a token in an entry of the ring, for all inputs whose prompts reach so far."""
        reading = self.prompts.lengths > place
        mask = packed(reading, INPUTS)
        entry[: self.width] &= ~mask
        entry[: self.width][self.common] |= mask
        bits = self.bits[:, self.prompts.ids[place]] & reading
        entry[self.varying] |= packed(bits, INPUTS)


class _Run:
    """The state of one batch: `newest` is the place of the newest token, the same for all.

    A token adds at most `weight` to a counter.
    """

    def __init__(
        self, batch: Batch, prompts: Prompts, asked: Integers, weight: int, limits: Limits
    ) -> None:
        self.batch, self.prompts, self.limits, self.asked = batch, prompts, limits, asked
        self.words = _PromptWords(batch, prompts)
        self.weight = weight
        self.slots = aligned(batch.layout.spill_slots, BATCH_ELEMENTS)
        self.counters = aligned(COUNTER, BATCH_ELEMENTS)
        self.margin = aligned(max(1, batch.layout.margin_digits), BATCH_ELEMENTS)
        self.lanes = aligned(2 + 2 * 64, BATCH_ELEMENTS)
        times = self.lanes[2:].reshape(2, INPUTS).view(np.int64)
        times[:] = -1
        self.first_at, self.ended_at = times
        self.pending = np.zeros(len(prompts), bool)
        self.newest = -1
        self.arrays = (self.slots, self.lanes, self.asked, self.counters, self.margin)
        self.memory = batch.memory.ctypes.data
        self.addresses = [array.ctypes.data for array in self.arrays]

    def to_the_end(self) -> Iterator[Ended]:
        """Read the prompts side by side, then run until every input has ended."""
        for place in range(int(self.prompts.lengths.max(initial=0))):
            while place > max(self.newest, 0):
                yield from self._step(1)
            yield from self._feed(place)
        while self.lanes[LIVE].any():
            yield from self._step(self._room())
        yield from self._stopped(self._live())

    def _feed(self, place: int) -> Iterator[Ended]:
        """Write the prompts' token at a place; an input whose prompt is over then begins to run."""
        self.newest = max(self.newest, place)
        self.words.write(self.batch.memory[place & (self.batch.capacity - 1)], place)
        begin = self.prompts.lengths == place + 1
        if not begin.any():
            return
        self.pending |= begin
        mask = packed(begin, INPUTS)
        self.lanes[LIVE] |= mask
        self.lanes[FRESH] |= mask
        self.margin |= mask
        if self.limits.tokens <= 0 or self.limits.counted <= 0:
            yield self._ended(begin, stopped=False)

    def _room(self) -> int:
        """Return tokens that no live input's limit forbids."""
        seen = self.newest + 1
        far = min(self.limits.tokens - seen, self.limits.counted // self.weight - seen)
        if far >= FAR:
            return far
        live = np.flatnonzero(self._live())
        tokens = seen - self.prompts.lengths[live]
        steps = (self.limits.counted - numbers(self.counters, live)) // self.weight
        return max(1, int(np.minimum(self.limits.tokens - tokens, steps).min()))

    def _live(self) -> Flags:
        return unpacked(self.lanes[LIVE], len(self.prompts))

    def _step(self, most: int) -> Iterator[Ended]:
        """Run until a window of an ended input must be read, or a limit."""
        batch = self.batch
        back, held = batch.distances.at(min(self.newest + 1, batch.window))
        most = min(most, self._spare(), most if held is None else held)
        made = batch.code.run(
            self.memory, self.newest, batch.capacity - 1, most, back.ctypes.data, *self.addresses
        )
        doubted = made < 0
        self.newest += -1 - made if doubted else made
        live = self._live()
        if not self._spare():
            yield from self._stopped(live)
        if doubted:
            unsure = unpacked(self.slots[0], len(self.prompts)) & live
            yield self._ended(unsure, stopped=False, doubted=True)
        else:
            yield from self._limited(live)

    def _spare(self) -> int:
        """Return tokens that can be made before the window of an ended input is overwritten."""
        waiting = self.pending & (self.ended_at[: len(self.pending)] >= 0)
        oldest = self.ended_at[: len(self.pending)].min(where=waiting, initial=self.newest)
        return int(self.batch.capacity - self.batch.window - (self.newest - oldest))

    def _stopped(self, live: Flags) -> Iterator[Ended]:
        stopped = self.pending & ~live
        if stopped.any():
            yield self._ended(stopped, stopped=True)

    def _limited(self, live: Flags) -> Iterator[Ended]:
        """End inputs whose limit is reached."""
        seen = self.newest + 1
        if not live.any() or seen < min(self.limits.tokens, -(-self.limits.counted // self.weight)):
            return
        over = live & (seen - self.prompts.lengths >= self.limits.tokens)
        lanes = np.flatnonzero(live)
        over[lanes] |= numbers(self.counters, lanes) >= self.limits.counted
        if over.any():
            yield self._ended(over, stopped=False)

    def _ended(self, which: Flags, stopped: bool, doubted: bool = False) -> Ended:
        """Report inputs, which are under way no longer."""
        lanes = np.flatnonzero(which)
        self.pending &= ~which
        self.lanes[LIVE] &= ~packed(which, INPUTS)
        ends = self.ended_at[lanes] if stopped else np.full(len(lanes), self.newest)
        lengths = self.prompts.lengths[lanes]
        tokens, first = ends + 1 - lengths, self.first_at[lanes]
        return Ended(
            inputs=lanes,
            tokens=tokens,
            counted=numbers(self.counters, lanes),
            before=np.where(first < 0, tokens, first - lengths),
            margin=self.batch.layout.least_margins(numbers(self.margin, lanes), tokens),
            stopped=np.full(len(lanes), stopped),
            doubted=np.full(len(lanes), doubted),
            windows=LaneWindows(self.batch.ring, lanes, ends, self.batch.window),
        )
