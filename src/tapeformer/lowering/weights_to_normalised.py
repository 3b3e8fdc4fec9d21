"""Put in layer normalisation without changing a token (the paper's Section 2.3 leaves it out).

Every residual coordinate x is 0 or 1 wherever a sub-layer or the output reads. Written as the
pair (2x - 1, 1 - 2x), the stream has mean 0 and variance 1 exactly, so normalising it changes
nothing. The change of coordinates keeps integers: every hidden value and every logit is doubled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tapeformer.weights.matrices import integers, stacked, transposed
from tapeformer.weights.record import (
    Affine,
    Head,
    Integers,
    Layer,
    Matrix,
    TransformerWeights,
)


def with_layer_norm(weights: TransformerWeights, constant: int = 0) -> TransformerWeights:
    """Return the model with normalised sub-layers; `constant` is a coordinate that is always 1."""
    return replace(
        weights,
        fields=(*weights.fields, *(f"minus {name}" for name in weights.fields)),
        embeddings=_embeddings(weights.embeddings),
        layers=tuple(_layer(layer, constant) for layer in weights.layers),
        outputs=tuple(_reading(output) for output in weights.outputs),
        layer_norm=True,
    )


def _embeddings(parts: Sequence[Matrix]) -> tuple[Matrix, ...]:
    """Double and mirror all embeddings; every value of the last factor also adds the -1."""
    return tuple(
        _mirrored_columns(part, -1 if place == len(parts) - 1 else 0)
        for place, part in enumerate(parts)
    )


def _mirrored_columns(part: Matrix, shift: int) -> Matrix:
    """Return (2 P + shift, -2 P - shift) for a matrix P."""
    rows, columns = part.shape
    ground = _filled(rows, columns, shift)
    doubled = _sum(ground, replace(part, values=2 * part.values))
    negated = replace(doubled, values=-doubled.values)
    return transposed(stacked([transposed(doubled), transposed(negated)], rows))


def _layer(layer: Layer, constant: int) -> Layer:
    network = layer.feed_forward
    hidden = [replace(affine, bias=2 * affine.bias) for affine in network[1:]]
    inner = (_reading(network[0]), *hidden) if network else ()
    return Layer(
        heads=tuple(_head(head, constant) for head in layer.heads),
        mix=_mirrored_rows(layer.mix),
        mix_bias=np.concatenate([2 * layer.mix_bias, -2 * layer.mix_bias]),
        feed_forward=(*inner[:-1], *(_mirrored(last) for last in inner[-1:])),
    )


def _head(head: Head, constant: int) -> Head:
    """Return the head with values doubled: 2 x is the coordinate plus the constant's."""
    return replace(
        head,
        query=_twice(head.query, constant),
        key=_twice(head.key, constant),
        value=_twice(head.value, constant),
    )


def _twice(part: Matrix, constant: int) -> Matrix:
    height, width = part.shape
    totals = np.zeros(height, np.int32)
    np.add.at(totals, part.rows, part.values)
    columns = np.full(height, constant, np.int32)
    from_constant = Matrix(part.shape, np.arange(height, dtype=np.int32), columns, totals)
    return replace(_sum(part, from_constant), shape=(height, 2 * width))


def _reading(affine: Affine) -> Affine:
    """Return twice an affine map, read from the new coordinates: A (x' + 1) + 2 b."""
    height, width = affine.matrix.shape
    bias = 2 * affine.bias
    np.add.at(bias, affine.matrix.rows, affine.matrix.values)
    return replace(affine, matrix=replace(affine.matrix, shape=(height, 2 * width)), bias=bias)


def _mirrored(affine: Affine) -> Affine:
    """Return the map with what it adds to a coordinate taken from its mirror image."""
    return Affine(
        matrix=_mirrored_rows(affine.matrix),
        bias=np.concatenate([affine.bias, -affine.bias]),
        names=(*affine.names, *(f"minus {name}" for name in affine.names)),
    )


def _mirrored_rows(part: Matrix) -> Matrix:
    return stacked([part, replace(part, values=-part.values)], part.shape[1])


def _filled(rows: int, columns: int, value: int) -> Matrix:
    """Return the matrix with the same entry everywhere."""
    places = np.indices((rows, columns) if value else (0, columns)).astype(np.int32)
    across, down = places[0].ravel(), places[1].ravel()
    return Matrix((rows, columns), across, down, integers([value] * across.size))


def _sum(left: Matrix, right: Matrix) -> Matrix:
    """Return the sum of two matrices, zeros dropped."""
    rows, columns = _joined(left.rows, right.rows), _joined(left.columns, right.columns)
    flat = rows.astype(np.int64) * left.shape[1] + columns
    places, inverse = np.unique(flat, return_inverse=True)
    values = np.zeros(places.size, np.int32)
    np.add.at(values, inverse, _joined(left.values, right.values))
    kept = values != 0
    down, across = np.divmod(places[kept], max(left.shape[1], 1))
    return Matrix(left.shape, down.astype(np.int32), across.astype(np.int32), values[kept])


def _joined(left: Integers, right: Integers) -> Integers:
    return np.concatenate([left, right])
