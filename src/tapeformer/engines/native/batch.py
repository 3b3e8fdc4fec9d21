"""Many inputs at once: every bit of a machine word is another input, and each ends on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.logic.attention_offsets import AttentionOffsets
from tapeformer.engines.memory import Costs, check_memory
from tapeformer.engines.native.build import BATCH_ELEMENTS, batch_code
from tapeformer.engines.native.cache import Cache
from tapeformer.engines.native.compiler import loaded
from tapeformer.engines.native.llvm_loop import COUNTER
from tapeformer.engines.native.memory_layout import MemoryLayout, aligned
from tapeformer.engines.stream import Value
from tapeformer.weights.positions import window_for
from tapeformer.weights.record import TransformerWeights

INPUTS = 64 * BATCH_ELEMENTS
"""As many as a word has bits."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Ended:
    """One input at its end: tokens made, how many were counted, how many before the first of them.

    `window` has the last tokens, oldest first. `doubted`: a neuron was neither 0 nor 1, and
    another engine must be asked; `stopped`: the watched value has changed, otherwise a limit was
    reached.
    """

    tokens: int
    counted: int
    before: int
    margin: float
    window: NDArray[np.int32]
    stopped: bool
    doubted: bool


@dataclass(frozen=True)
class Limits:
    """When an input ends although the watched value has not changed."""

    counted: int
    tokens: int


class Batch:
    """Machine code for up to 256 inputs of one model; raises NotLogicError where there is none.

    `processes`: how many do the same side by side, and must all find room in memory.
    """

    def __init__(
        self,
        weights: TransformerWeights,
        offsets: Sequence[int],
        cache: Path | None = None,
        processes: int = 1,
    ) -> None:
        code = batch_code(weights, Cache(cache))
        self.layout, self.window = code.layout, window_for(offsets)
        per_token = processes * _bytes_per_token(code.layout)
        check_memory(Costs("batch", 0, per_token, None), self.window)
        self.distances = AttentionOffsets(weights, offsets, self.window)
        self.capacity = 1 << self.window.bit_length()
        self.code = loaded(code.machine_code)
        self.starts = np.cumsum([0, *(len(factor) for factor in self.layout.value_masks)])[:-1]
        sizes = [len(factor) for factor in self.layout.value_masks]
        self.values = np.concatenate([np.arange(size) for size in sizes])
        self.values = self.values.astype(np.min_scalar_type(max(sizes)))
        self.memory = aligned(self.capacity, self.layout.stride, BATCH_ELEMENTS)

    def word(self, value: Value) -> int:
        """The word of a token that says whether it has a value."""
        return self.layout.value_masks[value[0]][value[1]][0]

    def run(
        self,
        prompts: Sequence[NDArray[np.int32]],
        stop: Value,
        count: Value,
        limits: Limits,
    ) -> list[Ended]:
        """Every prompt until its watched value changes, or to a limit."""
        return _Run(self, prompts, stop, count, limits).to_the_end()


def _bytes_per_token(layout: MemoryLayout) -> int:
    """What a token of the window takes: twice its words, as the ring is a power of two.

    To read an input's window takes an octet and a number more for each place of a value.
    """
    places = sum(len(factor) for factor in layout.value_masks)
    return 2 * 8 * BATCH_ELEMENTS * layout.stride + 4 * places


class _Run:
    """The state of one batch: `newest` is the place of the newest token, the same for all."""

    def __init__(
        self,
        batch: Batch,
        prompts: Sequence[NDArray[np.int32]],
        stop: Value,
        count: Value,
        limits: Limits,
    ) -> None:
        self.batch, self.prompts, self.limits = batch, prompts, limits
        self.lengths = np.array([len(prompt) for prompt in prompts], np.int64)
        self.ended: dict[int, Ended] = {}
        self.live = np.zeros(len(prompts), bool)
        self.fresh = np.zeros(len(prompts), bool)
        self.before = np.full(len(prompts), -1, np.int64)
        self.words = np.array([batch.word(stop), batch.word(count), batch.word(count)], np.int64)
        self.slots = aligned(batch.layout.spill_slots, BATCH_ELEMENTS)
        self.counters = aligned(COUNTER, BATCH_ELEMENTS)
        self.margin = aligned(max(1, batch.layout.margin_digits), BATCH_ELEMENTS)
        self.newest = -1

    def to_the_end(self) -> list[Ended]:
        """Reads the prompts side by side, then runs until every input has ended."""
        for place in range(int(self.lengths.max(initial=0))):
            while place > max(self.newest, 0):
                self._step(1)
            self._feed(place)
        while self.live.any():
            self._step(self._room())
        return [self.ended[index] for index in range(len(self.prompts))]

    def _feed(self, place: int) -> None:
        """Writes the prompt's token at a place; an input whose prompt is over then begins to run."""
        self.newest = max(self.newest, place)
        reading = self.lengths > place
        rows = np.array([p[place] if len(p) > place else p[0] for p in self.prompts], np.int32)
        entry = self.batch.memory[place % self.batch.capacity]
        kept = ~packed(reading)
        bits = np.zeros((len(self.batch.values), len(rows)), bool)
        bits[self.batch.starts[:, None] + rows.T, np.arange(len(rows))] = True
        entry[: len(bits)] = entry[: len(bits)] & kept | packed(bits & reading)
        begin = self.lengths == place + 1
        self.live |= begin
        self.fresh |= begin
        self.margin |= packed(begin)
        self._check(begin)

    def _check(self, begin: Flags) -> None:
        if self.limits.tokens <= 0 or self.limits.counted <= 0:
            self._end(np.flatnonzero(begin), stopped=False)

    def _room(self) -> int:
        """Tokens that no live input's limit forbids."""
        tokens = self.newest + 1 - self.lengths[self.live]
        left = np.minimum(self.limits.tokens - tokens, self.limits.counted - self._counted())
        return int(left.min())

    def _counted(self) -> NDArray[np.int64]:
        """The counters of the live inputs."""
        digits = unpacked(self.counters, len(self.prompts))[:, self.live].astype(np.int64)
        total: NDArray[np.int64] = (digits << np.arange(COUNTER)[:, None]).sum(axis=0)
        return total

    def _step(self, most: int) -> None:
        """Runs until something happens to a live input, then sees to it."""
        back, held = self.batch.distances.at(min(self.newest + 1, self.batch.window))
        made = self._call(most if held is None else min(most, held), back)
        if made > 0:
            self.newest += made
            self._notice()
        else:
            self.newest += -1 - made
            doubted = unpacked(self.slots[:1], len(self.prompts))[0] & self.live
            self._end(np.flatnonzero(doubted), stopped=False, doubted=True)

    def _call(self, most: int, back: NDArray[np.int64]) -> int:
        watch = aligned(7, BATCH_ELEMENTS)
        live, fresh = packed(self.live), packed(self.fresh & self.live)
        watch[0] = watch[1] = watch[5] = watch[6] = live
        watch[3] = fresh
        arrays = (back, self.slots, watch, self.words, self.counters, self.margin)
        return self.batch.code.run(
            self.batch.memory.ctypes.data,
            self.newest,
            self.batch.capacity - 1,
            most,
            *(array.ctypes.data for array in arrays),
        )

    def _notice(self) -> None:
        """Ends inputs whose watched value has changed or whose limit is reached."""
        entry = self.batch.memory[self.newest % self.batch.capacity]
        running, counted = unpacked(entry[self.words[:2]], len(self.prompts))
        begun = self.fresh & self.live & counted
        self.before[begun] = self.newest - self.lengths[begun]
        self.fresh &= ~begun
        self._end(np.flatnonzero(self.live & ~running), stopped=True)
        if self.live.any():
            tokens = self.newest + 1 - self.lengths[self.live]
            over = (tokens >= self.limits.tokens) | (self._counted() >= self.limits.counted)
            self._end(np.flatnonzero(self.live)[over], stopped=False)

    def _end(self, indices: NDArray[np.int64], stopped: bool, doubted: bool = False) -> None:
        counters = unpacked(self.counters, len(self.prompts))
        for index in indices.tolist():
            tokens = int(self.newest + 1 - self.lengths[index])
            self.ended[index] = Ended(
                tokens=tokens,
                counted=sum(int(bit) << digit for digit, bit in enumerate(counters[:, index])),
                before=tokens if self.before[index] < 0 else int(self.before[index]),
                margin=self._margin_of(index, tokens),
                window=self._window_of(index),
                stopped=stopped,
                doubted=doubted,
            )
        self.live[indices] = False

    def _margin_of(self, index: int, tokens: int) -> float:
        layout = self.batch.layout
        if not tokens:
            return float("inf")
        digits = unpacked(self.margin, len(self.prompts))[: layout.margin_digits, index]
        return layout.least_margin(digits)

    def _window_of(self, index: int) -> NDArray[np.int32]:
        count = min(self.newest + 1, self.batch.window)
        places = np.arange(self.newest + 1 - count, self.newest + 1) % self.batch.capacity
        octets = self.batch.memory.view(np.uint8)[places, : len(self.batch.values), index // 8]
        found = (octets & (1 << index % 8)) != 0
        rows = np.add.reduceat(found * self.batch.values, self.batch.starts, axis=1)
        return rows.astype(np.int32)


def packed(flags: Flags) -> NDArray[np.uint64]:
    """Flags of the inputs, in the last dimension, as words."""
    wide = np.zeros((*flags.shape[:-1], INPUTS), bool)
    wide[..., : flags.shape[-1]] = flags
    return np.packbits(wide, axis=-1, bitorder="little").view(np.uint64)


def unpacked(words: NDArray[np.uint64], inputs: int) -> Flags:
    """The flags of the inputs in words."""
    octets = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(octets, axis=-1, bitorder="little")[..., :inputs].astype(bool)
