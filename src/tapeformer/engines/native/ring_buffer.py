"""The memory of one stream, and machine code at work on it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.logic.attention_offsets import AttentionOffsets
from tapeformer.engines.logic.machine_words import COUNTER_DIGITS, ONES
from tapeformer.engines.native.cache import MachineCode
from tapeformer.engines.native.calling_convention import counted
from tapeformer.engines.native.compiler import loaded
from tapeformer.engines.native.memory_layout import MemoryLayout, WordMask, aligned
from tapeformer.engines.native.token_codec import TokenCodec
from tapeformer.engines.stream import Stop, Value

LEAST = 1024
"""The fewest slots of a ring, so that a short window is not read in many small pieces."""


class RingBuffer:
    """The window of a stream as a ring of words.

    It keeps one token more than the window. After a run, `stopped` says that a watched value
    changed, and `doubted` that the guard was set: another engine must compute the next token.
    """

    def __init__(
        self, code: MachineCode[MemoryLayout], distances: AttentionOffsets, window: int
    ) -> None:
        self.layout, self.distances, self.window = code.layout, distances, window
        self.capacity = max(LEAST, 1 << window.bit_length())
        self.seen = 0
        self.stopped = self.doubted = self.generated = False
        self._code, self._codec = loaded(code.machine_code), TokenCodec(code.layout)
        self._memory = aligned(self.capacity, code.layout.stride)
        self._slots = aligned(code.layout.spill_slots)
        self._counters = aligned(COUNTER_DIGITS)
        self._margin = aligned(max(1, code.layout.margin_digits))
        self._margin[:] = ONES

    def clear(self) -> None:
        """Forget every token; new tokens never read what the memory still holds."""
        self.seen = 0
        self.stopped = self.doubted = self.generated = False
        self._margin[:] = ONES

    def write(self, rows: NDArray[np.int32]) -> None:
        """Append given tokens."""
        if self.layout.stores_words:
            for row in rows:
                self._absorb()
                self._put(row[None])
        else:
            kept = rows[-self.window - 1 :]
            self.seen += len(rows) - len(kept)
            self._put(kept)

    def _put(self, rows: NDArray[np.int32]) -> None:
        places = np.arange(self.seen, self.seen + len(rows)) % self.capacity
        self._memory[places] = self._codec.encode(rows)
        self.seen += len(rows)

    def _absorb(self) -> None:
        """Compute what heads will fetch of the newest token, and discard the token after it."""
        if self.seen:
            spare = aligned(max(1, self.layout.margin_digits))
            self._call(1, np.zeros(7, np.uint64), np.zeros(3, np.int64), spare)

    def newest(self, count: int, dropped: int = 0) -> NDArray[np.int32]:
        """Return the newest `count` tokens, oldest first, skipping the last `dropped` ones."""
        end = self.seen - dropped
        start = (end - count) % self.capacity
        first = self._codec.decode(self._memory[start : start + count])
        rest = self._codec.decode(self._memory[: count - len(first)])
        return np.concatenate([first, rest])

    def run(self, most: int, stop: Stop, count: Value | None) -> tuple[int, int]:
        """Make tokens; return how many, and how many of them have the counted value."""
        watch, words = aligned(7), np.zeros(3, np.int64)
        watch[6] = 1
        for place, value in enumerate(stop):
            words[place], bit = self._bit(value)
            watch[2 * place] = watch[2 * place + 1] = bit
        if count is not None:
            words[2], watch[5] = self._bit(count)
        self._counters[:] = 0
        made, self.stopped = 0, False
        while made < most and not (self.stopped or self.doubted):
            made += self._phase(most - made, watch, words)
        if count is None:
            return made, 0
        return made, counted(self._counters.tolist(), int(watch[5]).bit_length() - 1)

    def _phase(self, most: int, watch: NDArray[np.uint64], words: NDArray[np.int64]) -> int:
        """Run as long as the heads' offsets stay the same."""
        _, held = self.distances.at(min(self.seen, self.window))
        limit = most if held is None else min(most, held)
        made = self._call(limit, watch, words, self._margin)
        self.doubted = made < 0
        made = -1 - made if made < 0 else made
        self.stopped = self._changed(made, watch, words)
        self.seen += made
        self.generated |= made > 0
        return made

    def _changed(self, made: int, watch: NDArray[np.uint64], words: NDArray[np.int64]) -> bool:
        """Return whether the newest token lacks a watched value."""
        if not made:
            return False
        found = self._memory[(self.seen + made - 1) % self.capacity, words[:2]]
        return bool(((found ^ watch[:4:2]) & watch[1:4:2]).any())

    def _bit(self, value: Value) -> WordMask:
        """Return the word of a value and one of its bits."""
        word, mask = self.layout.value_masks[value[0]][value[1]]
        return word, mask & -mask

    def _call(
        self,
        most: int,
        watch: NDArray[np.uint64],
        words: NDArray[np.int64],
        margin: NDArray[np.uint64],
    ) -> int:
        back, _ = self.distances.at(min(self.seen, self.window))
        arrays = (back, self._slots, watch, words, self._counters, margin)
        addresses = (array.ctypes.data for array in arrays)
        return self._code.run(
            self._memory.ctypes.data, self.seen - 1, self.capacity - 1, most, *addresses
        )

    def margin(self) -> float:
        """Return the smallest margin of the tokens made since the last `clear`."""
        if not self.generated:
            return float("inf")
        return self.layout.least_margin((self._margin[: self.layout.margin_digits] & 1).tolist())
