"""The state a kernel keeps per input beside its tokens: one row of words per binary digit."""

from __future__ import annotations

from dataclasses import dataclass

from tapeformer.engines.logic.machine_words import COUNTER_DIGITS

LIVE, FRESH, DOUBTED, COUNTER = 0, 1, 2, 3
"""Rows: inputs that still run, those with no counted token, those for another engine, counters."""
MARGIN = COUNTER + COUNTER_DIGITS
"""The first row of the smallest margin's digits."""

ENDED, BEGUN = 0, 1
"""Tables of when, in tokens since the launch, inputs ended or first counted: a row per bit."""


@dataclass(frozen=True)
class Watched:
    """What a kernel watches in each new token: words of a bit-sliced token, by index.

    An input runs while its word `stop` is set; `counted` pairs the words that add to its counter
    with how much they add.
    """

    stop: int
    counted: tuple[tuple[int, int], ...]

    @property
    def digits(self) -> int:
        """Binary digits of the most that one token can add to a counter."""
        return max(weight for _, weight in self.counted).bit_length()


def lane_rows(margin_digits: int) -> int:
    """Return the number of rows: the words per thread."""
    return MARGIN + margin_digits
