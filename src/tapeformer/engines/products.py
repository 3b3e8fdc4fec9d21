"""Matrix products that skip the zeros, exact in every type that they are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.exact import SumCheck
from tapeformer.weights.bounds import row_norms
from tapeformer.weights.matrices import transposed
from tapeformer.weights.record import Affine, Integers, Matrix

Vector: TypeAlias = NDArray[Any]

LARGE = 5_000
"""Entries and rows together from which on it pays to look for the inputs that have changed."""


@dataclass(frozen=True)
class Arithmetic:
    """The type that an engine computes in; integers need no check."""

    dtype: np.dtype[Any]
    check: SumCheck | None = None

    @property
    def floating(self) -> bool:
        """Whether the type has a largest exact integer."""
        return self.dtype.kind == "f"


class Product(Protocol):
    """x -> matrix x + bias."""

    def __call__(self, x: Vector) -> Vector:
        """Multiply by one vector."""
        ...


def product(matrix: Matrix, bias: Integers | None, arithmetic: Arithmetic) -> Product:
    """Return the product that is fastest for a matrix, for inputs one after another."""
    start = np.zeros(matrix.shape[0], np.int32) if bias is None else bias
    if arithmetic.floating:
        return _FloatProduct(matrix, start, arithmetic)
    if _one_each(matrix) or matrix.values.size + matrix.shape[0] < LARGE:
        return _IntegerProduct(matrix, start, arithmetic)
    return _IncrementalProduct(matrix, start, arithmetic)


def _one_each(matrix: Matrix) -> bool:
    """Return whether every row has one entry, so that there is nothing to add."""
    return np.array_equal(matrix.rows, np.arange(matrix.shape[0]))


class _FloatProduct:
    """Compressed rows in a floating-point type; sums that it could round are refused."""

    def __init__(self, matrix: Matrix, bias: Integers, arithmetic: Arithmetic) -> None:
        self.columns = matrix.columns.astype(np.intp)
        self.values = matrix.values.astype(arithmetic.dtype)
        self.rows, self.starts = np.unique(matrix.rows, return_index=True)
        self.bias = bias.astype(arithmetic.dtype)
        self.norms, self.check = row_norms(matrix, bias), arithmetic.check

    def __call__(self, x: Vector) -> Vector:
        if self.check is not None:
            self.check(x, self.norms)
        total = self.bias.copy()
        if self.columns.size:
            terms = x.take(self.columns) * self.values
            total[self.rows] += np.add.reduceat(terms, self.starts)
        return total


class _IntegerProduct:
    """Compressed rows of integers.

    A row's sum is a difference of two running sums over all entries. These may wrap around, but
    their difference is right as long as the row's sum itself fits the type.
    """

    def __init__(self, matrix: Matrix, bias: Integers, arithmetic: Arithmetic) -> None:
        counts = np.bincount(matrix.rows, minlength=matrix.shape[0])
        self.columns = matrix.columns.astype(np.intp)
        self.values = matrix.values.astype(arithmetic.dtype)
        self.scaled = bool((matrix.values != 1).any())
        self.one_each = _one_each(matrix)
        self.ends = np.concatenate([[0], np.cumsum(counts)])
        self.running = np.zeros(len(self.columns) + 1, arithmetic.dtype)
        self.after_first = self.running[1:]
        self.bias = bias.astype(arithmetic.dtype)

    def __call__(self, x: Vector) -> Vector:
        terms: Vector = x.take(self.columns)
        if self.scaled:
            terms *= self.values
        if self.one_each:
            terms += self.bias
            return terms
        np.add.accumulate(terms, out=self.after_first)
        at = self.running.take(self.ends)
        sums: Vector = at[1:] - at[:-1]
        sums += self.bias
        return sums


class _IncrementalProduct:
    """Integers by columns: only inputs that differ from those of the last call are multiplied."""

    def __init__(self, matrix: Matrix, bias: Integers, arithmetic: Arithmetic) -> None:
        by_columns = transposed(matrix)
        self.counts = np.bincount(by_columns.rows, minlength=matrix.shape[1])
        self.starts = np.cumsum(self.counts) - self.counts
        self.rows = by_columns.columns.astype(np.intp)
        self.values = by_columns.values.astype(arithmetic.dtype)
        self.numbers = np.arange(len(self.rows))
        self.inputs = np.zeros(matrix.shape[1], arithmetic.dtype)
        self.sums = bias.astype(arithmetic.dtype)

    def __call__(self, x: Vector) -> Vector:
        changed = (x != self.inputs).nonzero()[0]
        if changed.size:
            self._change(changed, x.take(changed) - self.inputs.take(changed))
        self.inputs = x
        return self.sums

    def _change(self, columns: Vector, differences: Vector) -> None:
        """Add the columns, each times a difference, to the sums."""
        counts = self.counts.take(columns)
        ends = counts.cumsum()
        entries = np.repeat(self.starts.take(columns) + counts - ends, counts)
        entries += self.numbers[: ends[-1]]
        terms = differences.repeat(counts)
        terms *= self.values.take(entries)
        np.add.at(self.sums, self.rows.take(entries), terms)


class Network:
    """A ReLU network of sparse products."""

    def __init__(self, affines: tuple[Affine, ...], arithmetic: Arithmetic) -> None:
        self.products = [product(affine.matrix, affine.bias, arithmetic) for affine in affines]

    def __call__(self, x: Vector) -> Vector:
        """Apply the affine maps, with a ReLU after every one but the last."""
        for each in self.products[:-1]:
            x = np.maximum(each(x), 0)
        return self.products[-1](x)
