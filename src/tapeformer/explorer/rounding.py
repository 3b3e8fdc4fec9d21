"""A Transformer in floating point with very few bits: each sum is rounded after every addition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.memory import Costs
from tapeformer.engines.stream import Stop, Stream, stops
from tapeformer.explorer.forward import Forward, Numbers
from tapeformer.weights.record import Matrix, TransformerWeights


def rounded(x: Numbers, bits: int) -> Numbers:
    """Round to so many significant bits, to even where two are equally near."""
    fraction, exponent = np.frexp(x)
    nearest: Numbers = np.ldexp(np.round(np.ldexp(fraction, bits)), exponent - bits)
    return nearest


class RoundedProduct:
    """A matrix product that adds the terms of a row one after another and rounds each time."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self._orders: dict[int, list[NDArray[np.intp]]] = {}
        self._kept: list[Matrix] = []

    def __call__(self, matrix: Matrix, x: Numbers, start: Numbers) -> Numbers:
        """Return the matrix times a vector, added to a start."""
        total = rounded(start.copy(), self.bits)
        for entries in self._rounds(matrix):
            rows = matrix.rows[entries]
            terms = matrix.values[entries] * x[matrix.columns[entries]]
            total[rows] = rounded(total[rows] + terms, self.bits)
        return total

    def _rounds(self, matrix: Matrix) -> list[NDArray[np.intp]]:
        """Return the entries in rounds: in each, at most one entry of every row."""
        if id(matrix) not in self._orders:
            starts = np.searchsorted(matrix.rows, matrix.rows, side="left")
            turn = np.arange(len(matrix.rows)) - starts
            turns = range(int(turn.max(initial=-1)) + 1)
            self._orders[id(matrix)] = [np.flatnonzero(turn == number) for number in turns]
            self._kept.append(matrix)
        return self._orders[id(matrix)]


class RoundedEngine(Stream):
    """Generates tokens with rounded sums; it is slow, and wrong where the bits are too few."""

    name = "rounded"

    def __init__(self, weights: TransformerWeights, offsets: Sequence[int], bits: int) -> None:
        super().__init__(weights, offsets, None, Costs("rounded", 0, 8 * len(weights.fields), None))
        self._forward = Forward(weights, offsets, self.window, RoundedProduct(bits))

    def _absorb(self, rows: NDArray[np.int32]) -> None:
        """Nothing: the window of tokens is all that is needed."""

    def _advance(self, last: NDArray[np.int32], tokens: int, stop: Stop) -> NDArray[np.int32]:
        kept, made = self._kept.rows(), np.zeros((tokens, len(last)), np.int32)
        for number in range(tokens):
            window = np.concatenate([kept, made[:number]])[-self.window :]
            made[number] = self._forward.computed(window).token
            if stops(made[number], stop):
                return made[: number + 1]
        return made
