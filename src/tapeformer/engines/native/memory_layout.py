"""What a caller of machine code must know: how large its memory is, and where values are in it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tapeformer.dataclass import dataclass
from tapeformer.engines.logic.machine_words import WORD_BITS
from tapeformer.engines.logic.token_words import TokenWords
from tapeformer.engines.native.word_shape import CACHE_LINE, WordShape

WordMask = tuple[int, int]
"""A word of a token, and which of its bits are set if a factor has a value."""

ValueMasks = tuple[tuple[WordMask, ...], ...]
"""The word and mask of each value of each factor."""

Numbers = tuple[int, ...]
Rows = tuple[Numbers, ...]


@dataclass(frozen=True)
class CodeLayout:
    """What machine code for one stream and for a batch has in common.

    `spill_slots` words hold values between functions, `margin_digits` words the smallest margin.
    `stores_words`: tokens have extra words, which are only computed together with the next token.
    """

    spill_slots: int
    margin_digits: int
    proven_margin: int | None
    stores_words: bool

    @property
    def proven(self) -> float:
        """Return the margin of the factors where it is proven; infinite if there are none."""
        return float("inf") if self.proven_margin is None else self.proven_margin


@dataclass(frozen=True)
class MemoryLayout(CodeLayout):
    """The memory of one stream: a ring of tokens of `stride` words."""

    stride: int
    value_masks: ValueMasks

    def least_margin(self, digits: Iterable[int]) -> float:
        """Return the smaller of the proven margin and the computed one, given by its digits."""
        computed = sum(int(digit) << place for place, digit in enumerate(digits))
        return float(min(self.proven, computed) if self.margin_digits else self.proven)


@dataclass(frozen=True)
class BatchLayout(CodeLayout):
    """The memory of a batch: the fields of `TokenWords`, with rings as long as heads look back.

    `choices` words after the spill slots say which columns the models of a family have chosen.
    A word has one bit for each of the `inputs`.
    """

    sizes: Numbers
    resident: Rows
    coded: Rows
    rings: Rows
    choices: int
    inputs: int

    @property
    def shape(self) -> WordShape:
        """Return the shape of a word."""
        return WordShape(self.inputs // WORD_BITS, 1)

    @property
    def words(self) -> TokenWords:
        """Return which words of a token are kept."""
        return TokenWords(self.sizes, self.resident, self.coded, self.rings)

    def least_margins(
        self, computed: NDArray[np.int64], tokens: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the smallest margins of inputs, given computed ones; infinite without a token."""
        margins = np.full(len(computed), float(self.proven))
        if self.margin_digits:
            margins = np.minimum(margins, computed)
        return np.where(tokens > 0, margins, np.inf)


def aligned(*shape: int) -> NDArray[np.uint64]:
    """Return an array of zeros that begins at a cache line."""
    size, line = int(np.prod(shape)), CACHE_LINE // 8
    memory = np.zeros(size + line, np.uint64)
    start = -(memory.ctypes.data // 8) % line
    return memory[start : start + size].reshape(shape)
