"""The dense engine: a plain PyTorch decoder, every matrix product, scores over the whole window.

It is the definition of what the weights mean (the paper's Section 2.3). Keys and values of the
window are kept, so only the newest position is computed for a new token.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tapeformer.engines.exact import check_exact
from tapeformer.engines.logits import Decoder
from tapeformer.engines.memory import Costs
from tapeformer.engines.norm import normalised
from tapeformer.engines.stream import Stop, Stream, check_choice, stops
from tapeformer.engines.threads import one_thread
from tapeformer.weights.count import count
from tapeformer.weights.matrices import dense as full
from tapeformer.weights.matrices import stacked
from tapeformer.weights.positions import encoding
from tapeformer.weights.record import Affine, Layer, Matrix, TransformerWeights

Attending: TypeAlias = Literal["leftmost", "rightmost", "averaging", "softmax"]
Position: TypeAlias = Literal["key", "bias"]


class Engine(Stream):
    """Runs a model as PyTorch modules.

    `attending` is the kind of hardmax, or softmax at `temperature`; `position` says whether the
    positional term is added inside the key, as in the paper, or to the score, as in its footnote.
    """

    name = "dense"

    def __init__(
        self,
        weights: TransformerWeights,
        offsets: Sequence[int],
        window: int | None = None,
        *,
        dtype: torch.dtype = torch.float32,
        attending: Attending = "leftmost",
        temperature: float = 1 / 64,
        position: Position = "key",
        memory: int | None = None,
    ) -> None:
        check_choice("way of attending", attending, get_args(Attending))
        check_choice("place of the positional term", position, get_args(Position))
        super().__init__(weights, offsets, window, _costs(weights, dtype, memory))
        check_exact(weights, dtype)
        rows = torch.as_tensor(encoding(weights, offsets, self.window)).to(dtype)
        rule = _Rule(rows, attending, temperature, position)
        self.model = Transformer(weights, rule, dtype)
        self._decoder = Decoder(weights)

    @one_thread()
    def _absorb(self, rows: NDArray[np.int32]) -> None:
        for row in rows:
            self.model.absorb(row)

    @one_thread()
    def _advance(self, last: NDArray[np.int32], tokens: int, stop: Stop) -> NDArray[np.int32]:
        rows = np.zeros((tokens, len(last)), np.int32)
        for place in range(tokens):
            logits = self.model(last)
            self.margin = min(self.margin, self._decoder.margin(logits))
            last = rows[place] = self._decoder.token(logits).numpy()
            if stops(rows[place], stop):
                return rows[: place + 1]
        return rows


class _Rule:
    """How scores are made and turned into attention: everything that is not a parameter."""

    def __init__(
        self, encoding: Tensor, attending: Attending, temperature: float, position: Position
    ) -> None:
        self.backwards = encoding.flip(0)
        self.attending, self.temperature, self.position = attending, temperature, position

    def scores(self, query: Tensor, keys: Tensor, coordinates: Tensor) -> Tensor:
        """Heads x positions, from queries (heads x width) and keys (heads x positions x width)."""
        rows = self.backwards[-keys.shape[1] :]
        if self.position == "key":
            return torch.bmm(keys + rows, query[:, :, None]).squeeze(2)
        return torch.bmm(keys, query[:, :, None]).squeeze(2) + rows[:, coordinates].T

    def attention(self, scores: Tensor) -> Tensor:
        """What each head gives to each position."""
        if self.attending == "softmax":
            return torch.softmax(scores / self.temperature, dim=1)
        highest = scores == scores.max(dim=1, keepdim=True).values
        if self.attending == "averaging":
            return highest.to(scores.dtype) / highest.sum(dim=1, keepdim=True)
        if self.attending == "rightmost":
            highest = highest.flip(1)
        first = nn.functional.one_hot(highest.int().argmax(dim=1), scores.shape[1])
        return (first.flip(1) if self.attending == "rightmost" else first).to(scores.dtype)


class Transformer(nn.Module):
    """Embedding, decoder layers, output layer."""

    def __init__(self, weights: TransformerWeights, rule: _Rule, dtype: torch.dtype) -> None:
        super().__init__()
        d = len(weights.fields)
        self.layer_norm = weights.layer_norm
        self.embedding = _parameter(full(stacked(weights.embeddings, d)), dtype)
        sizes = [len(factor.values) for factor in weights.factors]
        self.starts = np.cumsum([0, *sizes[:-1]])
        self.decoders = [DecoderLayer(layer, weights, rule, dtype) for layer in weights.layers]
        self.layers = nn.ModuleList(self.decoders)
        self.output = _parameter(full(stacked([out.matrix for out in weights.outputs], d)), dtype)
        biases = np.concatenate([out.bias for out in weights.outputs])
        self.output_bias = _parameter(biases.astype(float), dtype)

    def forward(self, token: NDArray[np.int32]) -> Tensor:
        """The logits after a token, which joins the context."""
        stream = self.embed(token)
        for layer in self.decoders:
            stream = layer(stream)
        seen = normalised(stream, self.layer_norm)
        return torch.addmv(self.output_bias, self.output, seen)

    def absorb(self, token: NDArray[np.int32]) -> None:
        """A token joins the context; nothing is asked of it, so the last layer only remembers."""
        stream = self.embed(token)
        for layer in self.decoders[:-1]:
            stream = layer(stream)
        for layer in self.decoders[-1:]:
            layer.remember(normalised(stream, self.layer_norm))

    def embed(self, token: NDArray[np.int32]) -> Tensor:
        """The sum of the factors' embeddings."""
        return self.embedding.index_select(0, torch.as_tensor(token + self.starts)).sum(dim=0)


class DecoderLayer(nn.Module):
    """Attention, residual, ReLU network, residual, with its own window of keys and values."""

    def __init__(
        self, layer: Layer, weights: TransformerWeights, rule: _Rule, dtype: torch.dtype
    ) -> None:
        super().__init__()
        self.rule, self.layer_norm = rule, weights.layer_norm
        self.coordinates = torch.tensor([head.position for head in layer.heads], dtype=torch.long)
        d = len(weights.fields)
        self.query = _per_head([head.query for head in layer.heads], d, dtype)
        self.key = _per_head([head.key for head in layer.heads], d, dtype)
        self.value = _per_head([head.value for head in layer.heads], d, dtype)
        self.mix = _parameter(full(layer.mix), dtype)
        self.mix_bias = _parameter(layer.mix_bias.astype(float), dtype)
        self.feed_forward = _network(layer.feed_forward, dtype)
        window, heads = len(rule.backwards), len(layer.heads)
        self.keys = _Recent(window, (heads, weights.key_width), dtype)
        self.values = _Recent(window, (heads, weights.value_width), dtype)

    def forward(self, stream: Tensor) -> Tensor:
        """The residual stream of the newest position after this layer."""
        seen = normalised(stream, self.layer_norm)
        self.remember(seen)
        query = (self.query @ seen).view(self.keys.shape)
        scores = self.rule.scores(query, self.keys.rows(), self.coordinates)
        attention = self.rule.attention(scores)[:, None, :]
        fetched = torch.bmm(attention, self.values.rows())
        stream = stream + torch.addmv(self.mix_bias, self.mix, fetched.flatten())
        if not len(self.feed_forward):
            return stream
        added: Tensor = self.feed_forward(normalised(stream, self.layer_norm))
        return stream + added

    def remember(self, seen: Tensor) -> None:
        """Keeps the key and the value of the newest position."""
        self.keys.append(self.key @ seen)
        self.values.append(self.value @ seen)


class _Recent:
    """The newest rows of each head, oldest first and in one piece: twice the window is held."""

    def __init__(self, window: int, shape: tuple[int, int], dtype: torch.dtype) -> None:
        self.window, self.shape, self.end = window, shape, 0
        self.buffer = torch.zeros((shape[0], 2 * window, shape[1]), dtype=dtype)

    def rows(self) -> Tensor:
        """Heads x positions x width."""
        return self.buffer[:, max(self.end - self.window, 0) : self.end]

    def append(self, row: Tensor) -> None:
        """Adds the newest position; the oldest falls out."""
        if self.end == 2 * self.window:
            self.buffer[:, : self.window] = self.buffer[:, self.window :].clone()
            self.end = self.window
        self.buffer[:, self.end] = row.view(self.shape)
        self.end += 1


class Linear(nn.Module):
    """x -> weight x + bias, for one position."""

    def __init__(self, affine: Affine, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = _parameter(full(affine.matrix), dtype)
        self.bias = _parameter(affine.bias.astype(float), dtype)

    def forward(self, x: Tensor) -> Tensor:
        """The affine map."""
        return torch.addmv(self.bias, self.weight, x)


def _network(affines: Sequence[Affine], dtype: torch.dtype) -> nn.Sequential:
    """A ReLU between two affine maps, none after the last."""
    steps = [step for affine in affines for step in (Linear(affine, dtype), nn.ReLU())]
    return nn.Sequential(*steps[:-1])


def _per_head(parts: Sequence[Matrix], d: int, dtype: torch.dtype) -> nn.Parameter:
    """The matrices of all heads of a layer, one above the other."""
    return _parameter(full(stacked(parts, d)), dtype)


def _parameter(entries: NDArray[np.float64], dtype: torch.dtype) -> nn.Parameter:
    return nn.Parameter(torch.as_tensor(entries).to(dtype), requires_grad=False)


def _costs(weights: TransformerWeights, dtype: torch.dtype, limit: int | None) -> Costs:
    """Parameters, and for each token of the window its keys, values, position and factors."""
    heads = sum(len(layer.heads) for layer in weights.layers)
    rows = 2 * heads * (weights.key_width + weights.value_width) + 2 * weights.key_width
    return Costs(
        engine="dense",
        fixed=count(weights).parameters * dtype.itemsize,
        per_token=rows * dtype.itemsize + 8 * (weights.key_width + len(weights.factors)),
        limit=limit,
    )
