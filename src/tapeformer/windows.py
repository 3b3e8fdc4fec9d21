"""Windows of many inputs at once, read where an engine keeps them: what engines give and decoders read."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Found = tuple[Integers, Integers, Integers]
"""Tokens that were looked for: the input of each, its age, and the place of its factor in a list."""


class Tokens(Protocol):
    """Some tokens of some windows; factors and values may be arrays, and all broadcast."""

    def has(self, factor: Integers | int, value: Integers | int) -> Flags:
        """Say which of the tokens have a value."""

    def values(self, factor: Integers | int) -> Integers:
        """Return each token's value of a factor."""


class Windows(Protocol):
    """The last tokens of inputs that have ended, numbered from 0.

    `lengths` has how many tokens each window has; the newest has age 0.
    """

    lengths: Integers

    def at(self, inputs: Integers, ages: Integers) -> Tokens:
        """Return the tokens of some ages in the windows of some inputs; both broadcast."""

    def find(self, factors: Integers, values: Integers, newest: Integers, *, having: bool) -> Found:
        """Find those of the newest tokens that have a value of a factor, or that have it not.

        Every factor of a list has a value of its own, and a number of tokens that are looked at; what
        is found comes in any order.
        """

    def rows(self, input: int) -> NDArray[np.int32]:
        """Return a whole window as rows of value numbers, oldest first."""


def numbered_within(sizes: Integers) -> Integers:
    """Number the entries of groups that follow each other, from 0 in each."""
    ends = np.cumsum(sizes)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes)
