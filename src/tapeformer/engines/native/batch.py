"""Many inputs at once, bit-sliced: each bit of a machine word is an input and ends on its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tapeformer.engines.batch import Budget, Counted, Ended, Prompts
from tapeformer.engines.logic.attention_offsets import FOR_EVER, AttentionOffsets
from tapeformer.engines.logic.machine_words import COUNTER_DIGITS, WORD_BITS
from tapeformer.engines.memory import Costs, check_memory
from tapeformer.engines.native.batch_memory import BatchMemory
from tapeformer.engines.native.build import batch_code
from tapeformer.engines.native.cache import CodeCache
from tapeformer.engines.native.calling_convention import (
    DOUBTED,
    FRESH,
    LANE_ROWS,
    LIVE,
    UNENDED,
)
from tapeformer.engines.native.compiler import loaded, vector_bits
from tapeformer.engines.native.lanes import LaneWindows, Words, numbers, packed, unpacked
from tapeformer.engines.native.memory_layout import BatchLayout, aligned
from tapeformer.engines.native.prompt_words import PromptWords
from tapeformer.faults import TapeformerError
from tapeformer.weights.family import WeightFamily, family_of_one
from tapeformer.weights.positions import window_for
from tapeformer.weights.record import TransformerWeights
from tapeformer.windows import Flags, Integers

if TYPE_CHECKING:
    from tapeformer.engines.stream import Value

FAR = 1 << 16
"""A limit at least this many tokens away need not be known exactly."""
AT_ONCE = 1 << 17
"""Tokens made before the caller is asked whether to go on: part of a second for most models."""


class FamilyBatch:
    """Machine code for many inputs, each run by a member of a family of models.

    Raises NotLogicError if the models have no gates. `watched` are the factors whose values `run`
    watches or counts. `processes`: how many processes do the same side by side, all of which must
    fit into memory. `inputs`: how many inputs run at once, a power of two from 64 on; by default
    as many as a vector register has bits, or fewer if memory is short.
    """

    name = "native"

    def __init__(
        self,
        family: WeightFamily,
        offsets: Sequence[int],
        cache: Path | None = None,
        processes: int = 1,
        *,
        watched: Iterable[int] = (),
        inputs: int | None = None,
    ) -> None:
        self.family, self.window = family, window_for(offsets)
        self.distances = AttentionOffsets(family.weights, offsets, self.window)
        asked = CodeCache(cache), sorted(set(watched))
        code = batch_code(family, *asked, inputs or vector_bits())
        widths = (inputs,) if inputs else _widths(code.layout.inputs)
        self.places, self.memory = self._room(code.layout, widths, processes)
        self.layout, self.inputs = self.places.layout, self.places.shape.bits
        if self.layout != code.layout:
            code = batch_code(family, *asked, self.inputs)
        self.code = loaded(code.machine_code, numbers=2)

    def _room(
        self, layout: BatchLayout, widths: Sequence[int], processes: int
    ) -> tuple[BatchMemory, Words]:
        """Return memory for as many inputs as fit; raise if even the fewest do not."""
        inputs, *narrower = widths
        places = BatchMemory(replace(layout, inputs=inputs), self.distances.farthest)
        octets = processes * places.shape.octets * places.words
        try:
            check_memory(Costs("batch", octets, 0, None), self.window)
            return places, places.allocate()
        except (TapeformerError, MemoryError):
            if not narrower:
                raise
        return self._room(layout, narrower, processes)

    def run_members(
        self,
        members: Sequence[TransformerWeights],
        prompts: Prompts,
        stop: Value,
        count: Counted,
        budget: Budget,
    ) -> Iterator[list[Ended]]:
        """Run one prompt per member until its watched value changes or it reaches a limit.

        A member's choices are read from its weights; ValueError if they are not of this family.
        """
        chosen = np.zeros((self.layout.choices, len(members)), bool)
        starts = np.cumsum([0, *self.family.sizes])[:-1]
        for lane, weights in enumerate(members):
            choice = self.family.choice(weights)
            if choice is None:
                raise ValueError("weights that do not belong to the family")
            chosen[starts + np.asarray(choice, np.int64), lane] = True
        return self._run(prompts, stop, count, budget, packed(chosen, self.inputs))

    def _run(
        self,
        prompts: Prompts,
        stop: Value,
        count: Counted,
        budget: Budget,
        choices: Words | None = None,
    ) -> Iterator[list[Ended]]:
        most = max((adds for _, adds in count), default=1)
        asked = self._asked(stop, count)
        run = _Run(self, prompts, asked, most, budget.bounded(), choices)
        return run.to_the_end()

    def _asked(self, stop: Value, count: Counted) -> Integers:
        """Return the argument `asked` of the machine code: see `llvm_batch_loop`."""
        word = self.places.resident_word
        pairs = [
            (word(*value), digit)
            for value, adds in count
            for digit in range(adds.bit_length())
            if adds >> digit & 1
        ]
        return np.array((word(*stop), len(pairs), *sum(pairs, ())), np.int64)


def _widths(widest: int) -> tuple[int, ...]:
    """Return how many inputs to try: the bits of a vector register, half as many, and so on."""
    return tuple(widest >> halves for halves in range((widest // WORD_BITS).bit_length()))


class Batch(FamilyBatch):
    """Machine code for many inputs of one model."""

    def __init__(
        self,
        weights: TransformerWeights,
        offsets: Sequence[int],
        cache: Path | None = None,
        processes: int = 1,
        *,
        watched: Iterable[int] = (),
        inputs: int | None = None,
    ) -> None:
        family = family_of_one(weights)
        super().__init__(family, offsets, cache, processes, watched=watched, inputs=inputs)

    def run(
        self, prompts: Prompts, stop: Value, count: Counted, budget: Budget
    ) -> Iterator[list[Ended]]:
        """Run prompts until watched values change or limits are hit; yield those that end."""
        return self._run(prompts, stop, count, budget)


class _Run:
    """The state of one batch: `newest` is the newest token's position, the same for all inputs.

    A token adds at most `weight` to a counter.
    """

    def __init__(
        self,
        batch: FamilyBatch,
        prompts: Prompts,
        asked: Integers,
        weight: int,
        budget: Budget,
        choices: Words | None = None,
    ) -> None:
        self.batch, self.prompts, self.budget, self.asked = batch, prompts, budget, asked
        self.words = PromptWords(batch.places, batch.memory, prompts)
        self.weight = weight
        spilled, row = batch.layout.spill_slots, batch.layout.shape.elements
        self.slots = aligned(spilled + batch.layout.choices, row)
        self.slots[spilled:] = 0 if choices is None else choices
        numbers = aligned(COUNTER_DIGITS + batch.layout.margin_digits, row)
        self.counters, self.margin = numbers[:COUNTER_DIGITS], numbers[COUNTER_DIGITS:]
        self.lanes = aligned(LANE_ROWS + 2 * 64, row)
        self.lanes[UNENDED] = ~np.uint64(0)
        times = self.lanes[LANE_ROWS:].reshape(2, batch.inputs).view(np.int64)
        times[:] = -1
        self.first_at, self.ended_at = times
        self.pending, self.begins = np.zeros(len(prompts), bool), set(prompts.lengths.tolist())
        self.newest = -1
        self.back, self.back_address, self.back_ends = np.zeros(0, np.int64), 0, 0
        arrays = (batch.places.geometry, self.slots, self.lanes, self.asked, numbers)
        self.addresses = [array.ctypes.data for array in arrays]
        self.memory = batch.memory.ctypes.data

    def to_the_end(self) -> Iterator[list[Ended]]:
        """Read the prompts side by side, then run to the end; yield now and then what has ended."""
        absorbs, shortest = self.batch.layout.stores_words, min(self.begins, default=0)
        for place in range(max(self.begins, default=0)):
            if place >= shortest and (absorbs or self.lanes[LIVE].any()):
                yield list(self._step(1))
            elif place and absorbs:
                self._advance(1)
            yield list(self._feed(place))
        while self.lanes[LIVE].any():
            yield list(self._step(min(self._room(), AT_ONCE)))
        yield list(self._over())

    def _feed(self, place: int) -> Iterator[Ended]:
        """Write the prompts' tokens at a position; inputs whose prompts end there start to run."""
        self.newest = place
        self.words.write(place)
        if place + 1 not in self.begins:
            return
        begin = self.prompts.lengths == place + 1
        self.pending |= begin
        mask = packed(begin, self.batch.inputs)
        self.lanes[LIVE] |= mask
        self.lanes[FRESH] |= mask
        self.margin |= mask
        if self.budget.tokens <= 0 or self.budget.counted <= 0:
            yield self._ended(begin, stopped=False)

    def _room(self) -> int:
        """Return how many tokens can be made before a live input could pass a limit."""
        seen = self.newest + 1
        far = min(self.budget.tokens - seen, self.budget.counted // self.weight - seen)
        if far >= FAR:
            return far
        live = np.flatnonzero(self._live())
        tokens = seen - self.prompts.lengths[live]
        steps = (self.budget.counted - numbers(self.counters, live)) // self.weight
        return max(1, int(np.minimum(self.budget.tokens - tokens, steps).min()))

    def _live(self) -> Flags:
        return unpacked(self.lanes[LIVE], len(self.prompts))

    def _step(self, most: int) -> Iterator[Ended]:
        """Make at most this many tokens, then end the inputs that reached a limit."""
        self._advance(most)
        yield from self._limited(self._live())

    def _advance(self, most: int) -> None:
        """Make tokens as long as the heads' offsets stay the same, at most this many."""
        visible = min(self.newest + 1, self.batch.window)
        if visible >= self.back_ends:
            self.back, held = self.batch.distances.at(visible)
            self.back_ends = FOR_EVER if held is None else visible + held
            self.back_address = self.back.ctypes.data
        most = min(most, self.back_ends - visible)
        self.newest += self.batch.code.run(
            self.memory, self.newest, most, self.back_address, *self.addresses
        )

    def _over(self) -> Iterator[Ended]:
        """Report the inputs whose watched value changed, and those that are doubted."""
        doubted = unpacked(self.lanes[DOUBTED], len(self.prompts)) & self.pending
        if (self.pending & ~doubted).any():
            yield self._ended(self.pending & ~doubted, stopped=True)
        if doubted.any():
            yield self._ended(doubted, stopped=False, doubted=True)

    def _limited(self, live: Flags) -> Iterator[Ended]:
        """End the inputs that reached a limit."""
        seen = self.newest + 1
        if not live.any() or seen < min(self.budget.tokens, -(-self.budget.counted // self.weight)):
            return
        over = live & (seen - self.prompts.lengths >= self.budget.tokens)
        lanes = np.flatnonzero(live)
        over[lanes] |= numbers(self.counters, lanes) >= self.budget.counted
        if over.any():
            yield self._ended(over, stopped=False)

    def _ended(self, which: Flags, stopped: bool, doubted: bool = False) -> Ended:
        """Report inputs as ended, and stop running them."""
        lanes = np.flatnonzero(which)
        self.pending &= ~which
        self.lanes[LIVE] &= ~packed(which, self.batch.inputs)
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
            windows=LaneWindows(
                self.batch.places, self.batch.memory, lanes, ends, self.batch.window
            ),
        )
