"""What a page without a server can say about the weights: kept beside its tokens, as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeformer.bundle.record import Bundle
from tapeformer.explorer.forward import Forward
from tapeformer.weights.names import carried, rules_of
from tapeformer.weights.record import Head, TransformerWeights

MOST_NAMES = 20_000
"""Larger models are explained by a server only."""
MOST_WRITERS = 6

Record = dict[str, Any]


def recorded_weights(bundle: Bundle) -> Record:
    """Return for each value of a field the neurons that can write it; for each head its scores."""
    weights = bundle.weights
    record: Record = {"scores": [_scores(bundle, head) for head in _heads(weights)]}
    last = [layer.feed_forward for layer in weights.layers if len(layer.feed_forward) > 1][-1:]
    if not last or sum(len(affine.names) for affine in last[0]) > MOST_NAMES:
        return record
    matrix, names = last[0][-1].matrix, last[0][-2].names
    starts = np.searchsorted(matrix.rows, np.arange(len(weights.fields) + 1))
    used: dict[int, int] = {}
    writers = {}
    for factor, output in zip(weights.factors, weights.outputs, strict=True):
        found: dict[str, list[list[int]]] = {}
        for row, column in zip(
            output.matrix.rows.tolist(), output.matrix.columns.tolist(), strict=True
        ):
            entries = range(starts[column], min(starts[column + 1], starts[column] + MOST_WRITERS))
            found.setdefault(factor.values[row], []).extend(
                [used.setdefault(int(matrix.columns[e]), len(used)), int(matrix.values[e])]
                for e in entries
            )
        writers[factor.name] = found
    return {**record, "writers": writers, "neurons": [_neuron(bundle, names[n]) for n in used]}


def _neuron(bundle: Bundle, name: str) -> Record:
    numbers, more = rules_of(name)
    lines = [bundle.rules[number - 1].line for number in numbers[:MOST_WRITERS]]
    kept = [{"line": line} for line in lines if line is not None]
    return {"name": carried(name) or name, "rules": {"rules": kept, "more": more}}


def _heads(weights: TransformerWeights) -> list[Head]:
    return [head for layer in weights.layers for head in layer.heads]


def _scores(bundle: Bundle, head: Head) -> Record | None:
    """Return the scores that are not 0, by distance, where they depend on nothing else."""
    if len(head.key.values) or bundle.weights.layer_norm:
        return None
    forward = Forward(bundle.weights, bundle.offsets, bundle.window)
    token = np.array([[0] * len(bundle.weights.factors)], np.int32)
    query = forward.multiply(head.query, forward.embedded(token)[0], np.zeros(head.query.shape[0]))
    scores = forward.positions @ query
    near = {str(at): float(scores[at]) for at in np.flatnonzero(scores).tolist()}
    return {"head": head.position, "by_distance": near}
