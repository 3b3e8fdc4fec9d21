"""The sums of embeddings that tokens can have, from the weights alone."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tapeformer.weights.matrices import stacked
from tapeformer.weights.record import TransformerWeights

Vector: TypeAlias = NDArray[Any]
"""Whole numbers, as float64 while all of them are exact, else as Python integers."""

FLOAT64_EXACT = 1 << 53


def embedded_range(weights: TransformerWeights) -> tuple[Vector, Vector, Vector]:
    """Return the lowest, the highest and the largest absolute sum of embeddings in each coordinate.

    A factor contributes one entry of each column: its lowest or highest, zeros included.
    """
    d = len(weights.fields)
    factors = [np.full(part.rows.size, index) for index, part in enumerate(weights.embeddings)]
    whole = stacked(weights.embeddings, d)
    places = np.concatenate([np.zeros(0, np.int64), *factors]) * d + whole.columns
    columns, group, counts = np.unique(places, return_inverse=True, return_counts=True)
    heights = np.array([part.shape[0] for part in weights.embeddings], np.int64)
    full = counts == heights[columns // max(d, 1)]
    far = np.iinfo(np.int64)
    low, high = np.where(full, far.max, 0), np.where(full, far.min, 0)
    np.minimum.at(low, group, whole.values)
    np.maximum.at(high, group, whole.values)
    totals = np.zeros((3, d), np.int64)
    for total, part in zip(totals, (low, high, np.maximum(np.abs(low), np.abs(high))), strict=True):
        np.add.at(total, columns % max(d, 1), part)
    return totals[0], totals[1], totals[2]
