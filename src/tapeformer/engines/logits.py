"""From logits to the next token: one argmax per factor, the first value where several tie."""

from __future__ import annotations

from math import inf
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.exact import as_whole, whole_dtype
from tapeformer.weights.record import TransformerWeights

Table: TypeAlias = NDArray[Any]
"""Values x factors. An entry has a logit in its high bits and below them the complement of the
value's number, so that the highest entry of a column is the first of the highest logits."""


class Decoder:
    """Reads the logits of all factors at once, padded to the largest domain.

    `largest` bounds the logits, which are whole numbers in whatever type they come.
    """

    def __init__(self, weights: TransformerWeights, largest: int) -> None:
        sizes = np.array([len(factor.values) for factor in weights.factors])
        columns = np.arange(max(2, *sizes))
        self.bits = int(len(columns) - 1).bit_length()
        self.mask = (1 << self.bits) - 1
        dtype = whole_dtype((largest + 1) << self.bits)
        self.lowest = -(largest + 1) << self.bits
        numbers = np.concatenate([np.arange(size) for size in sizes])
        self.complements = (self.mask - numbers).astype(dtype)
        self.padded = np.full(len(numbers) + 1, self.lowest, dtype)
        self.entries = self.padded[:-1]
        starts = np.cumsum(sizes) - sizes
        self.places = np.where(columns[:, None] < sizes, starts + columns[:, None], len(numbers))

    def empty(self, tokens: int) -> Table:
        """Return room for the tables of some tokens."""
        return np.empty((tokens, *self.places.shape), self.padded.dtype)

    def read(self, logits: NDArray[Any], table: Table) -> NDArray[np.int32]:
        """Fill a table, and return the number of the winning value of each factor."""
        entries = as_whole(logits, self.padded.dtype) << self.bits
        np.add(entries, self.complements, out=self.entries)
        self.padded.take(self.places, out=table, mode="clip")
        winners: NDArray[np.int32] = (~table.max(axis=0) & self.mask).astype(np.int32)
        return winners

    def margin(self, tables: Table, known: float) -> float:
        """Return the smallest distance between the two highest logits of a factor, `known` included.

        Factors with a single value do not count.
        """
        highest = tables.max(axis=1, keepdims=True)
        if known < inf and self._no_second(tables, highest, int(known)):
            return known
        others = np.where(tables == highest, self.lowest, tables).max(axis=1, keepdims=True)
        several = others > self.lowest
        distances = (highest >> self.bits) - (others >> self.bits)
        return min(known, float(distances[several].min())) if several.any() else known

    def _no_second(self, tables: Table, highest: Table, distance: int) -> bool:
        """Return whether no logit but the highest of its factor is less than a distance below it."""
        near = (highest >> self.bits) - (distance - 1) << self.bits
        return bool(np.count_nonzero(tables >= near) <= highest.size)
