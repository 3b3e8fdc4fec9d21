"""Windows that are given row by row, for decoders of many inputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tapeformer.constructions.decoded import Decoded
from tapeformer.constructions.decoded_many import DecodedMany
from tapeformer.windows import Flags, Found, Integers


class RowTokens:
    """Tokens as rows of value numbers in the last dimension."""

    def __init__(self, rows: NDArray[np.int64]) -> None:
        self.rows = rows

    def has(self, factor: Integers | int, value: Integers | int) -> Flags:
        found: Flags = self.values(factor) == value
        return found

    def values(self, factor: Integers | int) -> Integers:
        shape = np.broadcast_shapes(self.rows.shape[:-1], np.shape(factor))
        rows = np.broadcast_to(self.rows, (*shape, self.rows.shape[-1]))
        index = np.broadcast_to(factor, shape)[..., None]
        values: Integers = np.take_along_axis(rows, index, axis=-1)[..., 0]
        return values


class RowWindows:
    """The definition of `Windows`: lists of rows."""

    def __init__(self, given: Sequence[NDArray[np.int32]]) -> None:
        self.given = given
        self.lengths = np.array([len(window) for window in given])
        longest = int(self.lengths.max())
        self.newest_first = np.zeros((len(given), longest, given[0].shape[1]), np.int64)
        for index, window in enumerate(given):
            self.newest_first[index, : len(window)] = window[::-1]

    def at(self, inputs: Integers, ages: Integers) -> RowTokens:
        return RowTokens(self.newest_first[inputs, ages])

    def find(self, factors: Integers, values: Integers, newest: Integers, *, having: bool) -> Found:
        """Look at each token."""
        lengths, ages = self.lengths[:, None], np.arange(int(newest.max(initial=0)))
        inputs = np.arange(len(lengths))[:, None, None]
        tokens = self.at(inputs, np.minimum(ages, lengths - 1)[..., None])
        wanted = (tokens.has(factors, values) == having) & (ages < lengths)[..., None]
        wanted &= ages[:, None] < newest
        found, age, factor = np.nonzero(wanted)
        return found, age, factor

    def rows(self, input: int) -> NDArray[np.int32]:
        return self.given[input]


def decoded_one_by_one(many: DecodedMany) -> list[Decoded | None]:
    """The configuration of each input, None where it is not readable."""
    readable = many.readable.tolist()
    return [many.decoded(number) if known else None for number, known in enumerate(readable)]
