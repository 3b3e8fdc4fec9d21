"""Making, comparing and expanding sparse integer matrices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from tapeformer.weights.record import Affine, Head, Integers, Layer, Matrix, TransformerWeights

NO_ENTRIES = np.zeros(0, np.int32)
"""The rows, columns and values of every matrix that is zero; there is nothing in it to be changed."""


def matrix(shape: tuple[int, int], entries: Mapping[tuple[int, int], int]) -> Matrix:
    """Return the matrix with the given entries; entries that are zero are dropped."""
    kept = sorted((at, value) for at, value in entries.items() if value)
    return Matrix(
        shape,
        integers(row for (row, _), _ in kept),
        integers(column for (_, column), _ in kept),
        integers(value for _, value in kept),
    )


def zeros(rows: int, columns: int) -> Matrix:
    """Return the matrix without nonzero entries."""
    return Matrix((rows, columns), NO_ENTRIES, NO_ENTRIES, NO_ENTRIES)


def integers(numbers: Iterable[int]) -> Integers:
    """Return a vector of integers, as matrices and biases keep them."""
    return np.fromiter(numbers, dtype=np.int32)


def dense(sparse: Matrix) -> NDArray[np.float64]:
    """Return every entry, zeros too."""
    full = np.zeros(sparse.shape)
    full[sparse.rows, sparse.columns] = sparse.values
    return full


def stacked(matrices: Iterable[Matrix], columns: int) -> Matrix:
    """Return the matrices, all with the same columns, one above the other."""
    parts = tuple(matrices)
    starts = np.cumsum([0, *(part.shape[0] for part in parts)])
    return Matrix(
        (int(starts[-1]), columns),
        _joined(part.rows + start for part, start in zip(parts, starts, strict=False)),
        _joined(part.columns for part in parts),
        _joined(part.values for part in parts),
    )


def transposed(sparse: Matrix) -> Matrix:
    """Return rows and columns exchanged, entries sorted again."""
    order = np.lexsort((sparse.rows, sparse.columns))
    rows, columns = sparse.columns[order], sparse.rows[order]
    return Matrix((sparse.shape[1], sparse.shape[0]), rows, columns, sparse.values[order])


def split_columns(sparse: Matrix, first: int) -> tuple[Matrix, Matrix]:
    """Return the first columns of a matrix, and the others."""
    rows, columns = sparse.shape
    left = sparse.columns < first
    right = ~left
    return (
        Matrix((rows, first), sparse.rows[left], sparse.columns[left], sparse.values[left]),
        Matrix(
            (rows, columns - first),
            sparse.rows[right],
            sparse.columns[right] - np.int32(first),
            sparse.values[right],
        ),
    )


def beside(left: Matrix, right: Matrix) -> Matrix:
    """Return two matrices, with the same rows, side by side."""
    rows = _joined([left.rows, right.rows])
    columns = _joined([left.columns, right.columns + left.shape[1]])
    order = np.lexsort((columns, rows))
    shape = (left.shape[0], left.shape[1] + right.shape[1])
    values = _joined([left.values, right.values])
    return Matrix(shape, rows[order], columns[order], values[order])


def _joined(parts: Iterable[NDArray[np.integer]]) -> Integers:
    """Return the parts in one vector; the empty vector for none."""
    return np.concatenate([integers(()), *parts]).astype(np.int32)


def same(left: object, right: object) -> bool:
    """Say whether two models, or parts of them, have equal names, rules, shapes and entries."""
    if left is right:
        return True
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return np.array_equal(left, right)
    if type(left) is not type(right):
        return False
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, Matrix | Affine | Head | Layer | TransformerWeights):
        names = left.__dataclass_fields__
        return all(same(getattr(left, name), getattr(right, name)) for name in names)
    return left == right
