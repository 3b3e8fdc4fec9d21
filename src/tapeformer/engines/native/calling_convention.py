"""What machine code and its callers agree on: the rows of lanes, the counters."""

from __future__ import annotations

from collections.abc import Sequence

LIVE, FRESH, UNENDED, DOUBTED, LANE_ROWS = range(5)
"""Words of `lanes`: inputs still running, those with no counted token yet, those whose windows may
still change, those that another engine must decide."""


def counted(planes: Sequence[int], place: int) -> int:
    """Return the counter of one input, from the words of its digits."""
    return sum((plane >> place & 1) << digit for digit, plane in enumerate(planes))
