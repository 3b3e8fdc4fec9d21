"""Windows of many inputs at once, read where an engine keeps them: what engines give and decoders read."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


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

    def rows(self, input: int) -> NDArray[np.int32]:
        """Return a whole window as rows of value numbers, oldest first."""
