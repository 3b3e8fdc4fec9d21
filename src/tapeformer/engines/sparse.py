"""The sparse engine: zeros are skipped and only the attended tokens are read, O(1) per token.

The paper's geometric-offset attention (its Theorem 1): a head whose scores depend on the distance
alone reads one row of a ring buffer. A head of which the weights alone do not tell this (edited by
hand, or behind a layer normalisation) is scored over the whole window, as in the dense engine.
It computes with integers as wide as the weights can make them, so no sum is ever rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.exact import EXACT, check_exact, whole_dtype
from tapeformer.engines.fixed import Constants, attended, constants_by_layer, fixed_query
from tapeformer.engines.logits import Decoder
from tapeformer.engines.memory import Costs, check_memory
from tapeformer.engines.norm import norm_dtype, normalised
from tapeformer.engines.products import Arithmetic, Network, Vector, product
from tapeformer.engines.stream import Stop, Stream, check_choice, stops
from tapeformer.faults import Fault, TapeformerError, quoted
from tapeformer.weights.bounds import Bounds, sum_bounds
from tapeformer.weights.count import count
from tapeformer.weights.matrices import stacked, transposed
from tapeformer.weights.positions import encoding
from tapeformer.weights.record import Head, Layer, TransformerWeights

Attending: TypeAlias = Literal["leftmost", "rightmost"]

DTYPES = ("integer", "float64", "float32")

CHUNK = 128
"""Tokens whose margins are looked at together."""


class Engine(Stream):
    """Runs a model with sparse products and a ring buffer; hardmax leftmost or rightmost."""

    name = "sparse"

    def __init__(
        self,
        weights: TransformerWeights,
        offsets: Sequence[int],
        window: int | None = None,
        *,
        dtype: str = "integer",
        attending: Attending = "leftmost",
        memory: int | None = None,
    ) -> None:
        check_choice("way of attending in the sparse engine", attending, get_args(Attending))
        _check_dtype(dtype)
        super().__init__(weights, offsets, window, Costs("sparse", 0, 0, memory))
        bounds = sum_bounds(weights)
        parts = _Parts(weights, bounds, dtype)
        check_memory(_costs(weights, parts, memory), self.window)
        positions = encoding(weights, offsets, self.window)
        self._norm = parts.norm
        self._decoder = Decoder(weights, bounds.logits)
        self._tables = self._decoder.empty(CHUNK)
        self._embed = _Embedding(weights, parts.arithmetic)
        self._layers = [
            _Layer(layer, parts, constants, positions, attending == "rightmost")
            for layer, constants in zip(weights.layers, constants_by_layer(weights), strict=True)
        ]
        matrix = stacked([out.matrix for out in weights.outputs], len(weights.fields))
        biases = np.concatenate([out.bias for out in weights.outputs])
        self._output = product(matrix, biases, parts.arithmetic)

    def _absorb(self, rows: NDArray[np.int32]) -> None:
        for row in rows:
            stream = self._embed(row)
            for layer in self._layers[:-1]:
                stream = layer(stream)
            for layer in self._layers[-1:]:
                layer.remember(self._norm(stream))

    def _advance(self, last: NDArray[np.int32], tokens: int, stop: Stop) -> NDArray[np.int32]:
        rows = np.zeros((tokens, len(last)), np.int32)
        done, stopped = 0, False
        while done < tokens and not stopped:
            made = 0
            for table in self._tables[: tokens - done]:
                last = rows[done + made] = self._decoder.read(self._logits(last), table)
                made += 1
                stopped = stops(last, stop)
                if stopped:
                    break
            self.margin = self._decoder.margin(self._tables[:made], self.margin)
            done += made
        return rows[:done]

    def _logits(self, token: NDArray[np.integer]) -> Vector:
        stream = self._embed(token)
        for layer in self._layers:
            stream = layer(stream)
        return self._output(self._norm(stream))


class _Parts:
    """What the layers of one model share: its shapes, its numbers and its normalisation."""

    def __init__(self, weights: TransformerWeights, bounds: Bounds, dtype: str) -> None:
        self.weights = weights
        if dtype == "integer":
            self.arithmetic = Arithmetic(whole_dtype(bounds.sums))
        else:
            self.arithmetic = Arithmetic(np.dtype(dtype), check_exact(weights, bounds, dtype))
        self.kept = whole_dtype(bounds.values, np.int8)
        self._squares = norm_dtype(len(weights.fields), bounds.stream)

    def norm(self, stream: Vector) -> Vector:
        """Return the residual stream as a sub-layer reads it."""
        return normalised(stream, self._squares) if self.weights.layer_norm else stream


class _Embedding:
    """The sum of the factors' embeddings, as a product with a token's one-hot vector.

    A copy is returned: products keep their last input, and this one's result changes in place.
    """

    def __init__(self, weights: TransformerWeights, arithmetic: Arithmetic) -> None:
        whole = stacked(weights.embeddings, len(weights.fields))
        sizes = np.array([len(factor.values) for factor in weights.factors])
        self.starts = np.cumsum(sizes) - sizes
        self.product = product(transposed(whole), None, Arithmetic(arithmetic.dtype))
        self.nothing = np.zeros(sizes.sum(), arithmetic.dtype)

    def __call__(self, token: NDArray[np.integer]) -> Vector:
        one_hot = self.nothing.copy()
        one_hot[self.starts + token] = 1
        return self.product(one_hot).copy()


class _Layer:
    """One decoder layer with its ring of fetched values."""

    def __init__(
        self,
        layer: Layer,
        parts: _Parts,
        constants: Constants,
        positions: NDArray[np.float64],
        rightmost: bool,
    ) -> None:
        weights, arithmetic = parts.weights, parts.arithmetic
        d, heads = len(weights.fields), len(layer.heads)
        self.window, self.seen, self.heads = len(positions), 0, heads
        self.norm, self.dtype = parts.norm, arithmetic.dtype
        self.distances = _distances(layer, constants, positions, rightmost)
        self.scored = [
            (index, _ScoredHead(head, positions, rightmost, arithmetic))
            for index, head in enumerate(layer.heads)
            if fixed_query(head, constants) is None
        ]
        values = stacked([head.value for head in layer.heads], d)
        self.value = product(values, None, arithmetic)
        self.mix = product(layer.mix, layer.mix_bias, arithmetic)
        self.network = Network(layer.feed_forward, arithmetic) if layer.feed_forward else None
        self.ring = np.zeros((self.window, heads * weights.value_width), parts.kept)
        self.cells = self.ring.reshape(self.window * heads, weights.value_width)
        self.places = np.arange(heads)

    def __call__(self, stream: Vector) -> Vector:
        stream = stream + self._attention(self.norm(stream))
        if self.network is None:
            return stream
        return stream + self.network(self.norm(stream))

    def _attention(self, stream: Vector) -> Vector:
        self.remember(stream)
        distances = self.distances[min(self.seen, self.window) - 1]
        if self.scored:
            distances = distances.copy()
            for index, head in self.scored:
                distances[index] = head.distance(stream)
        rows = (self.seen - 1 - distances) % self.window
        fetched = self.cells.take(rows * self.heads + self.places, axis=0)
        return self.mix(fetched.astype(self.dtype).ravel())

    def remember(self, stream: Vector) -> None:
        """Keep the values (and, for heads that are scored, the key) of the newest position."""
        self.ring[self.seen % self.window] = self.value(stream)
        self.seen += 1
        for _, head in self.scored:
            head.remember(stream)


def _distances(
    layer: Layer, constants: Constants, positions: NDArray[np.float64], rightmost: bool
) -> NDArray[np.int32]:
    """Visible tokens (less one) x heads: the distance that each fixed head attends to."""
    columns = np.zeros((len(positions), len(layer.heads)), np.int32)
    for index, head in enumerate(layer.heads):
        query = fixed_query(head, constants)
        if query is not None:
            columns[:, index] = attended(positions @ query, rightmost)
    return columns


class _ScoredHead:
    """A head whose scores must be computed over the whole window."""

    def __init__(
        self, head: Head, positions: NDArray[np.float64], rightmost: bool, arithmetic: Arithmetic
    ) -> None:
        self.query = product(head.query, None, arithmetic)
        self.key = product(head.key, None, arithmetic)
        self.rightmost, self.seen = rightmost, 0
        self.positions = positions.astype(np.int64).astype(arithmetic.dtype)
        self.ring = np.zeros_like(self.positions)
        self.check = arithmetic.check

    def remember(self, stream: Vector) -> None:
        self.ring[self.seen % len(self.ring)] = self.key(stream)
        self.seen += 1

    def distance(self, stream: Vector) -> int:
        """Return how far back the highest score is; the farthest (leftmost) or nearest of several."""
        window = len(self.ring)
        visible = np.arange(min(self.seen, window))
        rows = self.ring[(self.seen - 1 - visible) % window] + self.positions[: len(visible)]
        query = self.query(stream)
        if self.check is not None:
            self.check(rows.ravel(), (int(np.abs(query).sum()), 0))
        scores = rows @ query
        highest = np.flatnonzero(scores == scores.max())
        return int(highest[0] if self.rightmost else highest[-1])


def _check_dtype(dtype: str) -> None:
    """Refuse other types; the dense engine has some of them."""
    if dtype not in DTYPES:
        raise TapeformerError(
            Fault(
                f"the sparse engine does not compute in {quoted(dtype)}",
                expected="one of " + ", ".join(DTYPES),
                remedy="use engine='dense'" if dtype in EXACT else "",
            )
        )


def _costs(weights: TransformerWeights, parts: _Parts, limit: int | None) -> Costs:
    """Nonzero parameters, and for each token of the window its values, distances and factors."""
    widths = sum(layer.mix.shape[1] for layer in weights.layers)
    heads = sum(len(layer.heads) for layer in weights.layers)
    tables = 8 * weights.key_width + 4 * heads + 8 * len(weights.factors)
    return Costs(
        engine="sparse",
        fixed=32 * count(weights).nonzero_parameters,
        per_token=widths * parts.kept.itemsize + tables,
        limit=limit,
    )
