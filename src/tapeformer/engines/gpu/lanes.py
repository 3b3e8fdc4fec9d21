"""What a kernel keeps of every input beside its tokens: a row of words for each binary digit."""

from __future__ import annotations

from dataclasses import dataclass

COUNTER_DIGITS = 48
"""Binary digits of the counters."""

LIVE, FRESH, DOUBTED, COUNTER = 0, 1, 2, 3
"""Rows: inputs under way, those without a counted token, those that need another engine, counters."""
MARGIN = COUNTER + COUNTER_DIGITS
"""The first row of the smallest margin's digits."""

ENDED, BEGUN = 0, 1
"""Tables of times, a row for each bit of a word: tokens of a launch up to an end, or the first counted."""


@dataclass(frozen=True)
class Watched:
    """What a kernel looks at in each next token: words of a bit-sliced token, by number.

    An input goes on while it has `stop`; `counted` has the words that add to its counter, and how much.
    """

    stop: int
    counted: tuple[tuple[int, int], ...]

    @property
    def digits(self) -> int:
        """Binary digits of what one token can add."""
        return max(weight for _, weight in self.counted).bit_length()


def lane_rows(margin_digits: int) -> int:
    """Return how many rows of words there are for a thread."""
    return MARGIN + margin_digits
