"""One token computed again with every matrix product, so that each number can be shown.

This is the paper's Section 2.3 for one position, without an engine: scores of every head over the
whole window, what is fetched, the activation of every neuron, the logits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tapeformer.weights.positions import encoding
from tapeformer.weights.record import Affine, Head, Layer, Matrix, TransformerWeights

Numbers = NDArray[np.float64]
Product = Callable[[Matrix, Numbers, Numbers], Numbers]
"""A matrix times a vector, added to a start."""


def product(matrix: Matrix, x: Numbers, start: Numbers) -> Numbers:
    """Return the exact product of a sparse matrix."""
    terms = matrix.values * x[matrix.columns]
    return start + np.bincount(matrix.rows, terms, matrix.shape[0])


@dataclass(frozen=True)
class Computed:
    """What a token was computed from.

    Per layer the residual stream that its network reads and its ReLU neurons; per factor the logits.
    """

    streams: tuple[Numbers, ...]
    neurons: tuple[tuple[Numbers, ...], ...]
    logits: tuple[Numbers, ...]

    @property
    def token(self) -> tuple[int, ...]:
        """The token with the highest logits."""
        return tuple(int(np.argmax(logits)) for logits in self.logits)


class Forward:
    """A model that computes one token from the window before it."""

    def __init__(
        self,
        weights: TransformerWeights,
        offsets: Sequence[int],
        window: int,
        multiply: Product = product,
    ) -> None:
        self.weights, self.multiply = weights, multiply
        self.positions: Numbers = encoding(weights, offsets, window)

    def embedded(self, rows: NDArray[np.int32]) -> Numbers:
        """Return the residual stream of some tokens before the first layer."""
        stream = np.zeros((len(rows), len(self.weights.fields)))
        for factor, table in enumerate(self.weights.embeddings):
            for row, column, value in zip(
                table.rows.tolist(), table.columns.tolist(), table.values.tolist(), strict=True
            ):
                stream[rows[:, factor] == row, column] += value
        return stream

    def computed(self, rows: NDArray[np.int32]) -> Computed:
        """Compute the token after the last of `rows`, which are the window."""
        context = self.embedded(rows[-len(self.positions) :])
        stream, neurons, streams = context[-1], [], []
        for layer in self.weights.layers:
            stream = stream + self._attention(layer, context, stream)
            streams.append(stream)
            change, active = self._network(layer.feed_forward, stream)
            stream = stream + change
            neurons.append(active)
        logits = tuple(
            self.multiply(out.matrix, stream, out.bias.astype(float))
            for out in self.weights.outputs
        )
        return Computed(tuple(streams), tuple(neurons), logits)

    def scores(self, head: Head, keys: Numbers, query: Numbers) -> Numbers:
        """Return the score of each position of a context, the last being the query's own."""
        q = self.multiply(head.query, query, np.zeros(head.query.shape[0]))
        k = np.zeros((len(keys), head.key.shape[0]))
        np.add.at(k.T, head.key.rows, head.key.values[:, None] * keys.T[head.key.columns])
        back = np.arange(len(keys))[::-1]
        found: Numbers = (k + self.positions[back]) @ q
        return found

    def _attention(self, layer: Layer, context: Numbers, query: Numbers) -> Numbers:
        fetched = np.zeros(layer.mix.shape[1])
        for place, head in enumerate(layer.heads):
            chosen = context[int(np.argmax(self.scores(head, context, query)))]
            value = self.multiply(head.value, chosen, np.zeros(head.value.shape[0]))
            width = self.weights.value_width
            fetched[place * width : place * width + len(value)] = value
        return self.multiply(layer.mix, fetched, layer.mix_bias.astype(float))

    def _network(
        self, network: Sequence[Affine], stream: Numbers
    ) -> tuple[Numbers, tuple[Numbers, ...]]:
        active: list[Numbers] = []
        for affine in network[:-1]:
            stream = np.maximum(self.multiply(affine.matrix, stream, affine.bias.astype(float)), 0)
            active.append(stream)
        if not network:
            return np.zeros_like(stream), ()
        last = network[-1]
        return self.multiply(last.matrix, stream, last.bias.astype(float)), tuple(active)
