"""Models of one shape that differ in the biases of one affine map, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tapeformer.dataclass import dataclass
from tapeformer.reprs import ShortRepr
from tapeformer.weights.matrices import dense, same, zeros
from tapeformer.weights.record import Affine, Integers, Matrix, TransformerWeights


@dataclass(frozen=True, eq=False, repr=False)
class WeightFamily(ShortRepr):
    """One model for each choice of a column from every group of columns of `shifts`.

    The chosen columns are added to the biases of the first map of the last feed-forward network;
    `weights` has those biases before anything is added. `sizes` has the columns of each group. A column
    that changes anything has a row of its own, by which a member's choice is told.
    """

    weights: TransformerWeights
    shifts: Matrix
    sizes: tuple[int, ...]

    def member(self, choice: Sequence[int]) -> TransformerWeights:
        """Return the model of a choice, which has a column's number in each group."""
        if not self.sizes:
            return self.weights
        return self._with_bias(self._bias(choice))

    def choice(self, weights: TransformerWeights) -> tuple[int, ...] | None:
        """Return the choice that a model is the member of; None for a model that is none.

        It is read from the biases, and every other parameter is compared with the family's.
        """
        if not weights.layers or not weights.layers[-1].feed_forward:
            return None
        bias = first_map(weights).bias
        if bias.shape != first_map(self.weights).bias.shape:
            return None
        found = self._read(bias)
        agrees = found is not None and np.array_equal(self._bias(found), bias)
        return found if agrees and same(self._with_bias(bias), weights) else None

    def _bias(self, choice: Sequence[int]) -> Integers:
        columns = self._starts + np.asarray(choice, np.int64)
        added: Integers = self._dense[:, columns].sum(axis=1, dtype=np.int32)
        return first_map(self.weights).bias + added

    def _read(self, bias: Integers) -> tuple[int, ...] | None:
        """Return the columns that telling rows say were added, one in each group, or None."""
        added = bias - first_map(self.weights).bias
        rows, values = self._telling
        chosen = (added[rows] == values) & (values != 0)
        found = []
        for start, size in zip(self._starts.tolist(), self.sizes, strict=True):
            ones = np.flatnonzero(chosen[start : start + size])
            silent = np.flatnonzero(values[start : start + size] == 0)
            if len(ones) > 1 or not len(ones) + len(silent):
                return None
            found.append(int((ones if len(ones) else silent)[0]))
        return tuple(found)

    def _with_bias(self, bias: Integers) -> TransformerWeights:
        *before, last = self.weights.layers
        first, *rest = last.feed_forward
        changed = replace(last, feed_forward=(replace(first, bias=bias), *rest))
        return replace(self.weights, layers=(*before, changed))

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return np.cumsum([0, *self.sizes[:-1]])

    @cached_property
    def _dense(self) -> NDArray[np.int32]:
        return dense(self.shifts).astype(np.int32)

    @cached_property
    def _telling(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """For each column a row that no other column changes, and by how much; 0 where there is none."""
        alone = np.count_nonzero(self._dense, axis=1) == 1
        own = np.where(alone[:, None], self._dense, 0)
        rows = np.abs(own).argmax(axis=0)
        return rows, own[rows, np.arange(own.shape[1])]


def family_of_one(weights: TransformerWeights) -> WeightFamily:
    """Return the family in which nothing is chosen."""
    return WeightFamily(weights, zeros(0, 0), ())


def first_map(weights: TransformerWeights) -> Affine:
    """Return the first map of the last feed-forward network."""
    return weights.layers[-1].feed_forward[0]
