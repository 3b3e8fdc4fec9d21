"""Making, comparing and expanding sparse integer matrices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from tapeformer.weights.record import Affine, Head, Integers, Layer, Matrix, TransformerWeights


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
    return matrix((rows, columns), {})


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


def _joined(parts: Iterable[NDArray[np.integer]]) -> Integers:
    """Return the parts in one vector; the empty vector for none."""
    return np.concatenate([integers(()), *parts]).astype(np.int32)


def same(left: TransformerWeights, right: TransformerWeights) -> bool:
    """Equal names, rules, shapes and entries."""
    return _plain(left) == _plain(right)


def _plain(record: object) -> object:
    """Return a record as nested tuples of plain values, which compare with ==."""
    if isinstance(record, np.ndarray):
        return record.tolist()
    if isinstance(record, tuple):
        return tuple(_plain(item) for item in record)
    if isinstance(record, Matrix | Affine | Head | Layer | TransformerWeights):
        return tuple(_plain(getattr(record, name)) for name in record.__dataclass_fields__)
    return record
