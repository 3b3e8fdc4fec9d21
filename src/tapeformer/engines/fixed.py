"""Heads that attend to a fixed offset: found from the weights alone, so that only it is read.

Where a head's keys are zero and its query reads coordinates that are the same in every token, its
scores depend on the distance only: what it attends to is known before anything runs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tapeformer.weights.record import Head, Layer, Matrix, TransformerWeights

Constants = NDArray[np.float64]
"""The value of each residual coordinate that is the same in every token, else nan."""


def constants_by_layer(weights: TransformerWeights) -> list[Constants]:
    """What is constant at the input of each layer. Layer normalisation may mix all coordinates."""
    constants = np.zeros(len(weights.fields))
    for embedding in weights.embeddings:
        constants += _constant_columns(embedding)
    if weights.layer_norm:
        constants[:] = np.nan
    found = []
    for layer in weights.layers:
        found.append(constants)
        constants = _after(layer, constants)
    return found


def _constant_columns(part: Matrix) -> Constants:
    """The entry of each column whose entries are all equal, else nan."""
    rows, columns = part.shape
    values = part.values.astype(float)
    total = np.bincount(part.columns, values, minlength=columns)
    squares = np.bincount(part.columns, values**2, minlength=columns)
    return np.where(rows * squares == total**2, total / rows, np.nan)


def _after(layer: Layer, constants: Constants) -> Constants:
    """What is still constant after a layer: where neither heads nor neurons write."""
    after = constants + layer.mix_bias
    after[layer.mix.rows] = np.nan
    for last in layer.feed_forward[-1:]:
        after[last.matrix.rows] = np.nan
        after = after + last.bias
    return after


def fixed_query(head: Head, constants: Constants) -> NDArray[np.float64] | None:
    """The query of a head whose attention depends on the distance only; None for others."""
    read = constants[head.query.columns]
    if head.key.values.size or np.isnan(read).any():
        return None
    query = np.zeros(head.query.shape[0])
    np.add.at(query, head.query.rows, read * head.query.values)
    return query


def attended(scores: NDArray[np.float64], rightmost: bool) -> NDArray[np.int32]:
    """For 1, 2, ... visible tokens the distance attended to, given each distance's score.

    Of several highest scores the leftmost is the farthest, the rightmost the nearest.
    """
    distances = np.arange(len(scores))
    highest = np.maximum.accumulate(scores)
    nearest = np.concatenate([[True], highest[1:] > highest[:-1]])
    new = nearest if rightmost else scores == highest
    return np.maximum.accumulate(np.where(new, distances, 0)).astype(np.int32)


def value_bound(weights: TransformerWeights) -> float:
    """No fetched value is larger than this; infinite where it cannot be told simply."""
    if weights.layer_norm:
        return float("inf")
    stream = np.zeros(len(weights.fields))
    for part in weights.embeddings:
        highest = np.zeros_like(stream)
        np.maximum.at(highest, part.columns, np.abs(part.values))
        stream += highest
    largest = 0.0
    for layer in weights.layers:
        values = [_absolute(head.value, stream) for head in layer.heads]
        fetched = np.concatenate([np.zeros(0), *values])
        largest = max(largest, float(fetched.max(initial=0)))
        stream = stream + _absolute(layer.mix, fetched) + np.abs(layer.mix_bias)
        stream = stream + (np.inf if layer.feed_forward else 0.0)
    return largest


def _absolute(part: Matrix, bounds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bounds on a product with a vector of which bounds are known."""
    totals = np.zeros(part.shape[0])
    np.add.at(totals, part.rows, np.abs(part.values) * bounds[part.columns])
    return totals
