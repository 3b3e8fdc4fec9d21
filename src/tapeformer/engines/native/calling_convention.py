"""What machine code and its callers agree on: words of a batch, rows of lanes, counters."""

from __future__ import annotations

from collections.abc import Sequence

from tapeformer.engines.native.word_shape import CACHE_LINE, WordShape

SHAPE = WordShape(4, 1)
"""A batch has 256 inputs: four times 64 bits are a vector register."""

WORD_OCTETS = SHAPE.bits // 8

LIVE, FRESH, UNENDED, DOUBTED, LANE_ROWS = range(5)
"""Words of `lanes`: inputs under way, those without a counted token so far, those whose windows may
change, those that another engine must decide."""

COUNTER = 48
"""Binary digits of the counters."""


def entry_words(words: int) -> int:
    """Return the words that a token takes in a ring: tokens begin at cache lines."""
    line = CACHE_LINE // WORD_OCTETS
    return -(-words // line) * line


def counted(planes: Sequence[int], place: int) -> int:
    """Return the counter of one input, from the words of its digits."""
    return sum((plane >> place & 1) << digit for digit, plane in enumerate(planes))
