"""What a caller of machine code must know: the sizes of its memory, and where values are in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.native.word_shape import CACHE_LINE

WordMask = tuple[int, int]
"""A word of a token, and the bits of it that are set where a factor has a value."""

ValueMasks = tuple[tuple[WordMask, ...], ...]
"""The word and mask of each value of each factor."""


@dataclass(frozen=True)
class MemoryLayout:
    """Sizes of the memory that machine code works on, and what is known of its margin.

    Words have `elements` times 64 bits, tokens `stride` words. `spill_slots` words hold values
    between functions, `margin_digits` words the smallest margin. `stores_words`: a token has
    further words, which are computed only when the next token is.
    """

    elements: int
    stride: int
    spill_slots: int
    margin_digits: int
    proven_margin: int | None
    stores_words: bool
    value_masks: ValueMasks

    def least_margin(self, digits: Iterable[int]) -> float:
        """Return the smaller of the proven margin and the computed one, given by its digits."""
        computed = sum(int(digit) << place for place, digit in enumerate(digits))
        return float(min(self._proven, computed) if self.margin_digits else self._proven)

    def least_margins(
        self, computed: NDArray[np.int64], tokens: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the same for many inputs, from computed margins as numbers; infinite before a token."""
        margins = np.full(len(computed), float(self._proven))
        if self.margin_digits:
            margins = np.minimum(margins, computed)
        return np.where(tokens > 0, margins, np.inf)

    @property
    def _proven(self) -> float:
        return float("inf") if self.proven_margin is None else self.proven_margin


def aligned(*shape: int) -> NDArray[np.uint64]:
    """Return zeros that begin at a cache line."""
    size, line = int(np.prod(shape)), CACHE_LINE // 8
    memory = np.zeros(size + line, np.uint64)
    start = -(memory.ctypes.data // 8) % line
    return memory[start : start + size].reshape(shape)
