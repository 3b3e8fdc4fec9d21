"""The sparse engine: zeros are skipped and only the attended tokens are read, O(1) per token.

The paper's geometric-offset attention (its Theorem 1): a head whose scores depend on the distance
alone reads one row of a ring buffer. A head of which the weights alone do not tell this (edited by
hand, or behind a layer normalisation) is scored over the whole window, as in the dense engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tapeformer.engines.exact import check_exact
from tapeformer.engines.fixed import (
    Constants,
    attended,
    constants_by_layer,
    fixed_query,
    value_bound,
)
from tapeformer.engines.logits import Decoder, smallest_margin
from tapeformer.engines.memory import Costs
from tapeformer.engines.norm import normalised
from tapeformer.engines.products import Network, Product
from tapeformer.engines.stream import Stop, Stream, check_choice, stops
from tapeformer.engines.threads import one_thread
from tapeformer.weights.count import count
from tapeformer.weights.matrices import stacked, transposed
from tapeformer.weights.positions import encoding
from tapeformer.weights.record import Head, Layer, TransformerWeights
from tapeformer.weights.verify import checked

Attending: TypeAlias = Literal["leftmost", "rightmost"]

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
        dtype: torch.dtype = torch.float32,
        attending: Attending = "leftmost",
        memory: int | None = None,
    ) -> None:
        check_choice("way of attending in the sparse engine", attending, get_args(Attending))
        kept = torch.int8 if value_bound(checked(weights)) <= 127 else dtype
        super().__init__(weights, offsets, window, _costs(weights, kept, memory))
        check_exact(weights, dtype)
        positions = encoding(weights, offsets, self.window)
        self._rightmost = attending == "rightmost"
        self._decoder = Decoder(weights)
        self._embed = _Embedding(weights, dtype)
        self._layers = [
            _Layer(layer, weights, constants, positions, self._rightmost, dtype, kept)
            for layer, constants in zip(weights.layers, constants_by_layer(weights), strict=True)
        ]
        d = len(weights.fields)
        biases = np.concatenate([out.bias for out in weights.outputs])
        self._output = Product(stacked([out.matrix for out in weights.outputs], d), biases, dtype)

    @one_thread()
    def _absorb(self, rows: NDArray[np.int32]) -> None:
        for row in torch.as_tensor(rows):
            stream = self._embed(row)
            for layer in self._layers[:-1]:
                stream = layer(stream)
            for layer in self._layers[-1:]:
                layer.remember(normalised(stream, self.weights.layer_norm))

    @one_thread()
    def _advance(self, last: NDArray[np.int32], tokens: int, stop: Stop) -> NDArray[np.int32]:
        rows = torch.zeros((tokens, len(last)), dtype=torch.int64)
        values = rows.numpy()
        token, done, stopped = torch.as_tensor(last), 0, False
        while done < tokens and not stopped:
            tables = []
            for place in range(done, min(done + CHUNK, tokens)):
                table = self._decoder.table(self._logits(token))
                token = rows[place]
                torch.argmax(table, dim=1, out=token)
                tables.append(table)
                stopped = stops(values[place], stop)
                if stopped:
                    break
            self.margin = min(self.margin, smallest_margin(torch.stack(tables)))
            done += len(tables)
        return values[:done].astype(np.int32)

    def _logits(self, token: Tensor) -> Tensor:
        stream = self._embed(token)
        for layer in self._layers:
            stream = layer(stream)
        return self._output(normalised(stream, self.weights.layer_norm))


class _Embedding:
    """The sum of the factors' embeddings, as a product with a token's one-hot vector."""

    def __init__(self, weights: TransformerWeights, dtype: torch.dtype) -> None:
        whole = stacked(weights.embeddings, len(weights.fields))
        sizes = [len(factor.values) for factor in weights.factors]
        self.starts = torch.as_tensor(np.cumsum([0, *sizes[:-1]]))
        self.product = Product(transposed(whole), None, dtype)
        self.one_hot = torch.zeros(sum(sizes), dtype=dtype)

    def __call__(self, token: Tensor) -> Tensor:
        self.one_hot.zero_().index_fill_(0, self.starts + token, 1)
        return self.product(self.one_hot)


class _Layer:
    """One decoder layer with its ring of fetched values."""

    def __init__(
        self,
        layer: Layer,
        weights: TransformerWeights,
        constants: Constants,
        positions: NDArray[np.float64],
        rightmost: bool,
        dtype: torch.dtype,
        kept: torch.dtype,
    ) -> None:
        d, heads = len(weights.fields), len(layer.heads)
        self.window, self.seen, self.heads = len(positions), 0, heads
        self.layer_norm = weights.layer_norm
        self.distances = _distances(layer, constants, positions, rightmost)
        self.scored = [
            (index, _ScoredHead(head, positions, rightmost, dtype))
            for index, head in enumerate(layer.heads)
            if fixed_query(head, constants) is None
        ]
        self.value = Product(stacked([head.value for head in layer.heads], d), None, dtype)
        self.mix = Product(layer.mix, layer.mix_bias, dtype)
        self.network = Network(layer.feed_forward, dtype) if layer.feed_forward else None
        self.ring = torch.zeros((self.window, heads * weights.value_width), dtype=kept)
        self.cells = self.ring.view(self.window * heads, weights.value_width)
        self.places = torch.arange(heads, dtype=torch.int32)
        self.dtype = dtype

    def __call__(self, stream: Tensor) -> Tensor:
        stream = stream + self._attention(normalised(stream, self.layer_norm))
        if self.network is None:
            return stream
        return stream + self.network(normalised(stream, self.layer_norm))

    def _attention(self, stream: Tensor) -> Tensor:
        if not self.heads:
            return self.mix.bias
        self.remember(stream)
        newest = self.seen - 1
        distances = self.distances[min(self.seen, self.window) - 1]
        if self.scored:
            distances = distances.clone()
            for index, head in self.scored:
                distances[index] = head.distance(stream)
        rows = (newest - distances).remainder_(self.window)
        fetched = self.cells.index_select(0, rows.mul_(self.heads).add_(self.places))
        return self.mix(fetched.to(self.dtype).flatten())

    def remember(self, stream: Tensor) -> None:
        """Keeps the values (and, for heads that are scored, the key) of the newest position."""
        self.ring[self.seen % self.window] = self.value(stream)
        self.seen += 1
        for _, head in self.scored:
            head.remember(stream)


def _distances(
    layer: Layer, constants: Constants, positions: NDArray[np.float64], rightmost: bool
) -> Tensor:
    """Visible tokens (less one) x heads: the distance that each fixed head attends to."""
    columns = np.zeros((len(positions), len(layer.heads)), np.int32)
    for index, head in enumerate(layer.heads):
        query = fixed_query(head, constants)
        if query is not None:
            columns[:, index] = attended(positions @ query, rightmost)
    return torch.as_tensor(columns)


class _ScoredHead:
    """A head whose scores must be computed over the whole window."""

    def __init__(
        self, head: Head, positions: NDArray[np.float64], rightmost: bool, dtype: torch.dtype
    ) -> None:
        self.query = Product(head.query, None, dtype)
        self.key = Product(head.key, None, dtype)
        self.rightmost, self.seen = rightmost, 0
        self.positions = torch.as_tensor(positions).to(dtype)
        self.ring = torch.zeros_like(self.positions)

    def remember(self, stream: Tensor) -> None:
        self.ring[self.seen % len(self.ring)] = self.key(stream)
        self.seen += 1

    def distance(self, stream: Tensor) -> int:
        """How far back the highest score is; the farthest (leftmost) or nearest of several."""
        window = len(self.ring)
        visible = torch.arange(min(self.seen, window))
        keys = self.ring[(self.seen - 1 - visible) % window]
        scores = (keys + self.positions[: len(visible)]) @ self.query(stream)
        highest = torch.nonzero(scores == scores.max()).flatten()
        return int(highest[0] if self.rightmost else highest[-1])


def _costs(weights: TransformerWeights, kept: torch.dtype, limit: int | None) -> Costs:
    """Nonzero parameters, and for each token of the window its values, distances and factors."""
    widths = sum(layer.mix.shape[1] for layer in weights.layers)
    heads = sum(len(layer.heads) for layer in weights.layers)
    tables = 8 * weights.key_width + 4 * heads + 8 * len(weights.factors)
    return Costs(
        engine="sparse",
        fixed=32 * count(weights).nonzero_parameters,
        per_token=widths * kept.itemsize + tables,
        limit=limit,
    )
