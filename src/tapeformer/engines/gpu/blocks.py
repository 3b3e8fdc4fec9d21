"""The blocks at work on a device: prompts go in, launches advance them, ended inputs come out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.batch import Budget, Ended, Prompts
from tapeformer.engines.gpu.device import Device, allocated
from tapeformer.engines.gpu.kernel import Kernel
from tapeformer.engines.gpu.lanes import (
    BEGUN,
    COUNTER,
    DOUBTED,
    ENDED,
    LIVE,
    MARGIN,
    lane_rows,
)
from tapeformer.engines.gpu.memory_layout import BLOCK_INPUTS, BLOCK_THREADS, WORD_INPUTS
from tapeformer.engines.gpu.prompt_masks import (
    UNUSED,
    BlockGroup,
    PromptMasks,
    packed_words,
    token_table,
    unpacked_words,
)
from tapeformer.engines.gpu.served_memory import ServedMemory
from tapeformer.engines.gpu.windows import BlockMemory, DeviceWindows
from tapeformer.engines.logic.machine_words import COUNTER_DIGITS
from tapeformer.windows import Flags, Integers

FEED_BYTES = 256 << 20
"""Bytes of prompt masks uploaded at once."""
READ_BLOCKS, READ_BYTES = 8, 1 << 30
"""Blocks whose windows are read together, and about how many bytes of theirs."""


class Blocks:
    """Device memory for some blocks, and the state of the input in every lane.

    Arrays have a row for each block and, for lanes, a column for each of its 1,024 inputs.
    """

    def __init__(
        self, kernel: Kernel, device: Device, prompts: Prompts, budget: Budget, count: int
    ) -> None:
        self.kernel, self.device, self.prompts, self.budget = kernel, device, prompts, budget
        self.count, self.threads = count, count * BLOCK_THREADS
        layout = kernel.layout
        self.rows = lane_rows(kernel.margin_digits)
        sizes = {
            "rings": layout.memory_words * self.threads,
            "newest": len(layout.newest_words) * self.threads,
            "lanes": self.rows * self.threads,
            "times": 2 * WORD_INPUTS * self.threads,
            "schedule": layout.schedule_words * count,
        }
        self._taken = ExitStack()
        addresses = allocated(device, [4 * words for words in sizes.values()])
        self.at = dict(zip(sizes, self._taken.enter_context(addresses), strict=True))
        served = self._taken.enter_context(closing(ServedMemory(device)))
        self.memory = BlockMemory(served, layout, self.at["rings"], self.at["newest"])
        self.busy = np.zeros(count, bool)
        self.newest = np.zeros(count, np.int64)
        self.length = np.zeros(count, np.int64)
        self.count_bound = np.zeros(count, np.int64)
        self.inputs = np.full((count, BLOCK_INPUTS), UNUSED)
        self.live = np.zeros((count, BLOCK_INPUTS), bool)
        self.stopped = np.zeros((count, BLOCK_INPUTS), bool)
        self.end = np.zeros((count, BLOCK_INPUTS), np.int64)
        self.first = np.full((count, BLOCK_INPUTS), -1)

    def __enter__(self) -> Blocks:
        return self

    def __exit__(self, *raised: Any) -> None:
        """Stop serving the device's memory and free it."""
        self._taken.__exit__(*raised)

    def feed(self, groups: dict[int, BlockGroup]) -> None:
        """Feed new inputs to idle blocks."""
        masks = PromptMasks(self.prompts, groups, self.count)
        self._write_prompts(masks, max(group.length for group in groups.values()))
        for block, group in groups.items():
            self.busy[block], self.length[block] = True, group.length
            self.newest[block], self.count_bound[block] = group.length - 1, 0
            self.inputs[block] = masks.lanes.reshape(self.count, -1)[block]
            self.live[block] = self.inputs[block] != UNUSED
            self.stopped[block], self.first[block] = False, -1
        if self.budget.tokens <= 0 or self.budget.counted <= 0:
            self._end(self.live.copy())

    def _write_prompts(self, masks: PromptMasks, longest: int) -> None:
        table = token_table(self.kernel.layout, self.prompts.rows)
        step = max(1, FEED_BYTES // (4 * masks.tokens * self.threads))
        room = 4 * masks.tokens * self.threads * min(step, longest)
        sizes = (room, table.nbytes, 4 * self.count, 4 * self.threads)
        memory = [self.at[name] for name in ("rings", "newest", "lanes")]
        with allocated(self.device, sizes) as given:
            for address, array in zip(given[1:], (table, masks.lengths, masks.used), strict=True):
                self.device.upload(address, array)
            for first in range(0, longest, step):
                self.device.upload(given[0], masks.places(first, min(step, longest - first)))
                numbers = (self.threads, masks.tokens, table.shape[1], first, step)
                self._launch("feed", [*memory, *given], numbers)

    def _launch(self, kernel: str, pointers: list[int], numbers: tuple[int, ...]) -> None:
        self.device.launch(kernel, self.count, BLOCK_THREADS, pointers, numbers)

    def advance(self, tokens: int) -> Integers:
        """Make at most this many tokens; return the blocks whose inputs have all ended."""
        back, held = self.kernel.offsets.at_each(np.minimum(self.newest + 1, self.kernel.window))
        most = np.minimum(np.minimum(tokens, held), self._room())
        most[~(self.busy & self.live.any(axis=1))] = 0
        if most.any():
            self.device.upload(self.at["schedule"], self._schedule(most, back))
            names = ("rings", "newest", "lanes", "times", "schedule")
            self._launch("run", [self.at[name] for name in names], (self.threads,))
            self._notice()
            self.newest += most
            self.count_bound += most * self.kernel.weight
            self._check_budget()
        done = self.busy & ~self.live.any(axis=1)
        self.busy &= ~done
        return np.flatnonzero(done)

    def _schedule(self, most: Integers, back: Integers) -> NDArray[np.uint32]:
        lengths = np.array([ring.length for ring in self.kernel.layout.rings], np.int64)
        slots = self.newest[:, None] % lengths[None, :]
        return np.concatenate([most[:, None], slots, back], axis=1).astype(np.uint32)

    def _room(self) -> Integers:
        """Return how many tokens each block can make before an input could pass a limit."""
        made = self.newest + 1 - self.length
        steps = (self.budget.counted - self.count_bound) // self.kernel.weight
        room: Integers = np.maximum(np.minimum(self.budget.tokens - made, steps), 1)
        return room

    def _notice(self) -> None:
        """Record which inputs ended or first counted in this launch, and when."""
        live = self._flags(LIVE)
        if not ((live != self.live) | (live & (self.first < 0))).any():
            return
        times = self._times()
        counting = (self.first < 0) & (times[BEGUN] > 0) & self.live
        self.first[counting] = (self.newest[:, None] + times[BEGUN])[counting]
        ended = self.live & ~live
        self.end[ended] = (self.newest[:, None] + times[ENDED])[ended]
        self.stopped |= ended
        self.live = live

    def _flags(self, row: int) -> Flags:
        return unpacked_words(self._lanes(row, 1)).reshape(self.count, BLOCK_INPUTS)

    def _lanes(self, row: int, count: int) -> NDArray[np.uint32]:
        """Download rows of the lanes, indexed by row and thread."""
        start = self.at["lanes"] + 4 * self.threads * row
        words = self.device.download(start, 4 * self.threads * count).view(np.uint32)
        return words.reshape(count, self.threads)

    def _times(self) -> Integers:
        """Download and clear the times at which inputs ended or first counted; 0 for neither."""
        size = 2 * WORD_INPUTS * self.threads
        words = self.device.download(self.at["times"], 4 * size).view(np.uint32)
        self.device.upload(self.at["times"], np.zeros(size, np.uint32))
        tables = words.reshape(2, WORD_INPUTS, self.threads).transpose(0, 2, 1)
        return tables.reshape(2, self.count, BLOCK_INPUTS).astype(np.int64)

    def _check_budget(self) -> None:
        """End inputs that reached a limit; read counters only if some may have got that far."""
        made = self.newest + 1 - self.length
        over = self.live & (made >= self.budget.tokens)[:, None]
        near = self.busy & (self.count_bound >= self.budget.counted)
        if near.any():
            numbers = self._numbers(COUNTER, COUNTER_DIGITS, np.arange(self.count))
            counted = np.where(self.live, numbers, 0)
            self.count_bound[near] = counted.max(axis=1)[near]
            over |= self.live & (counted >= self.budget.counted)
        if over.any():
            self._end(over)

    def _end(self, over: Flags) -> None:
        """End inputs at a limit, here and on the device."""
        self.end = np.where(over, self.newest[:, None], self.end)
        self.live &= ~over
        self.device.upload(self.at["lanes"] + 4 * self.threads * LIVE, packed_words(self.live))

    def _numbers(self, row: int, digits: int, blocks: Integers) -> Integers:
        """Return the number in each lane of some blocks, whose binary digits are some rows."""
        total = np.zeros(len(blocks) * BLOCK_INPUTS, np.int64)
        rows = self._lanes(row, digits).reshape(digits, self.count, BLOCK_THREADS)
        for digit, words in enumerate(rows[:, blocks]):
            if words.any():
                total |= unpacked_words(words).astype(np.int64) << digit
        return total.reshape(len(blocks), BLOCK_INPUTS)

    def ended(self, blocks: Integers) -> Iterator[Ended]:
        """Yield the inputs of finished blocks: the stopped, the doubted, those at a limit.

        They come a few blocks at a time, so that what is read of windows fits into the caches.
        """
        doubted, used = self._flags(DOUBTED)[blocks], self.inputs[blocks] != UNUSED
        stopped = self.stopped[blocks] & ~doubted
        columns = {**self._columns(blocks), "stopped": stopped, "doubted": doubted}
        rings = sum(ring.block_bytes for ring in self.kernel.layout.rings)
        together = max(1, min(READ_BLOCKS, READ_BYTES // max(1, rings)))
        for which in (used & stopped, used & doubted, used & ~stopped & ~doubted):
            for start in range(0, len(blocks), together):
                rows, lanes = np.nonzero(which[start : start + together])
                if len(rows):
                    yield self._ended(columns, blocks, rows + start, lanes)

    def _columns(self, blocks: Integers) -> dict[str, NDArray[Any]]:
        """Return columns of `Ended` for all lanes of some blocks: a row per block."""
        lengths, first = self.length[blocks, None], self.first[blocks]
        tokens = self.end[blocks] + 1 - lengths
        return {
            "inputs": self.inputs[blocks],
            "tokens": tokens,
            "counted": self._numbers(COUNTER, COUNTER_DIGITS, blocks),
            "before": np.where(first < 0, tokens, first - lengths),
            "margin": self._margins(tokens, blocks),
        }

    def _ended(
        self, columns: dict[str, NDArray[Any]], blocks: Integers, rows: Integers, lanes: Integers
    ) -> Ended:
        """Return the inputs in some lanes, each in its row of the columns."""
        places = blocks[rows], lanes
        found = {name: column[rows, lanes] for name, column in columns.items()}
        return Ended(**found, windows=self.windows(*places, self.end[places]))

    def windows(self, blocks: Integers, lanes: Integers, ends: Integers) -> DeviceWindows:
        """Return the windows of some lanes, given the position of each one's newest token."""
        return DeviceWindows(self.memory, blocks, lanes, ends, self.kernel.window)

    def _margins(self, tokens: Integers, blocks: Integers) -> NDArray[np.float64]:
        """Return the smaller of the proven margin and the computed one; infinite without a token."""
        least = np.full(tokens.shape, np.inf)
        if self.kernel.proven_margin is not None:
            least[:] = self.kernel.proven_margin
        if self.kernel.margin_digits:
            found = self._numbers(MARGIN, self.kernel.margin_digits, blocks)
            least = np.minimum(least, found)
        return np.where(tokens > 0, least, np.inf)
