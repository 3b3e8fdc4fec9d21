"""Binary codes for the values of a factor: ceil(log2 n) words of memory instead of n."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray


def digits_of(size: int) -> int:
    """Return how many binary digits encode a factor of this many values."""
    return (size - 1).bit_length()


@cache
def codes(size: int) -> tuple[int, ...]:
    """Return the code of each value: 0, then powers of two (free to decode up to three values)."""
    digits = digits_of(size)
    first = [0, *(1 << digit for digit in range(digits))]
    return (*first, *(code for code in range(1 << digits) if code not in first))[:size]


@cache
def digits_to_test(size: int, value: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the digits that must be 1 and those that must be 0 for a value: only those needed."""
    known = codes(size)
    code, tested = known[value], list(range(digits_of(size)))
    for digit in range(digits_of(size)):
        rest = [other for other in tested if other != digit]
        if not any(_agree(code, other, rest) for other in known if other != code):
            tested = rest
    ones = tuple(digit for digit in tested if code >> digit & 1)
    return ones, tuple(digit for digit in tested if digit not in ones)


def _agree(left: int, right: int, digits: list[int]) -> bool:
    return all((left ^ right) >> digit & 1 == 0 for digit in digits)


@cache
def values_by_code(size: int) -> NDArray[np.int64]:
    """Return the value of each code; -1 for unused codes."""
    table = np.full(1 << digits_of(size), -1, np.int64)
    table[list(codes(size))] = np.arange(size)
    table.flags.writeable = False
    return table
