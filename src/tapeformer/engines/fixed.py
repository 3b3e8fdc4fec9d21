"""Heads that attend to a fixed offset: found from the weights alone, so that only it is read.

Where a head's keys are zero and its query reads coordinates that are the same in every token, its
scores depend on the distance only: what it attends to is known before anything runs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tapeformer.weights.embedded import FLOAT64_EXACT, embedded_range
from tapeformer.weights.positions import HIGHEST_POSITION
from tapeformer.weights.record import Head, Layer, TransformerWeights

Constants = NDArray[np.float64]
"""The value of each residual coordinate that is the same in every token, else nan."""


def constants_by_layer(weights: TransformerWeights, normalised: bool = False) -> list[Constants]:
    """Return what is constant at the input of each layer.

    Layer normalisation may mix all coordinates, unless streams are `normalised` already.
    """
    low, high, _ = embedded_range(weights)
    constants = np.where(low == high, low.astype(float), np.nan)
    if weights.layer_norm and not normalised:
        constants[:] = np.nan
    found = []
    for layer in weights.layers:
        found.append(constants)
        constants = _after(layer, constants)
    return found


def _after(layer: Layer, constants: Constants) -> Constants:
    """Return what is still constant after a layer: where neither heads nor neurons write."""
    after = constants + layer.mix_bias
    after[layer.mix.rows] = np.nan
    for last in layer.feed_forward[-1:]:
        after[last.matrix.rows] = np.nan
        after = after + last.bias
    return after


def fixed_query(head: Head, constants: Constants) -> NDArray[np.float64] | None:
    """Return the query of a head whose attention depends on the distance only; None for others.

    A query so large that its scores would be rounded counts as one of the others.
    """
    terms = constants[head.query.columns] * head.query.values
    size = HIGHEST_POSITION * np.abs(terms).sum()
    if head.key.values.size or not size < FLOAT64_EXACT:
        return None
    query = np.zeros(head.query.shape[0])
    np.add.at(query, head.query.rows, terms)
    return query


def attended(scores: NDArray[np.float64], rightmost: bool) -> NDArray[np.int32]:
    """Return for 1, 2, ... visible tokens the distance attended to, given each distance's score.

    Of several highest scores the leftmost is the farthest, the rightmost the nearest.
    """
    distances = np.arange(len(scores))
    highest = np.maximum.accumulate(scores)
    nearest = np.concatenate([[True], highest[1:] > highest[:-1]])
    new = nearest if rightmost else scores == highest
    return np.maximum.accumulate(np.where(new, distances, 0)).astype(np.int32)
