"""The dense engine: a plain PyTorch decoder, every matrix product, scores over the whole window.

It is the definition of what the weights mean (the paper's Section 2.3). Keys and values of the
window are kept, so only the newest position is computed for a new token. Where the weights alone
do not tell that a type holds every sum exactly, each product is checked before it is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tapeformer.engines.attention import Attending, Attention, Position, allowed_temperature
from tapeformer.engines.exact import EXACT, SumCheck, check_exact
from tapeformer.engines.logits import Decoder
from tapeformer.engines.memory import Costs, check_memory
from tapeformer.engines.norm import norm_dtype, normalised
from tapeformer.engines.stream import Stop, Stream, check_choice, stops
from tapeformer.engines.threads import one_thread
from tapeformer.weights.bounds import row_norms, sum_bounds
from tapeformer.weights.count import count
from tapeformer.weights.matrices import dense as full
from tapeformer.weights.matrices import stacked
from tapeformer.weights.positions import encoding
from tapeformer.weights.record import Integers, Layer, Matrix, TransformerWeights


class Engine(Stream):
    """Runs a model as PyTorch modules.

    `attending` and `position` are as in `Attention`. Softmax has the temperature that its window
    needs where none is given.
    """

    name = "dense"

    def __init__(
        self,
        weights: TransformerWeights,
        offsets: Sequence[int],
        window: int | None = None,
        *,
        dtype: str = "float32",
        attending: Attending = "leftmost",
        temperature: float | None = None,
        position: Position = "key",
        memory: int | None = None,
    ) -> None:
        check_choice("dtype", dtype, tuple(EXACT))
        check_choice("way of attending", attending, get_args(Attending))
        check_choice("place of the positional term", position, get_args(Position))
        super().__init__(weights, offsets, window, Costs("dense", 0, 0, memory))
        kind: torch.dtype = getattr(torch, dtype)
        check_memory(_costs(weights, kind, memory), self.window)
        bounds = sum_bounds(weights)
        check = check_exact(weights, bounds, dtype)
        if attending == "softmax" or temperature is not None:
            temperature = allowed_temperature(kind, self.window, bounds.scores, temperature)
        rows = torch.as_tensor(encoding(weights, offsets, self.window)).to(kind)
        attention = Attention(rows, attending, position, temperature or 1.0, check)
        norm = Norm(weights, bounds.stream)
        self.model = Transformer(weights, attention, norm, Numbers(kind, check))
        self._decoder = Decoder(weights, bounds.logits)
        self._table = self._decoder.empty(1)

    @one_thread()
    def _absorb(self, rows: NDArray[np.int32]) -> None:
        for row in rows:
            self.model.absorb(row)

    @one_thread()
    def _advance(self, last: NDArray[np.int32], tokens: int, stop: Stop) -> NDArray[np.int32]:
        rows = np.zeros((tokens, len(last)), np.int32)
        for place in range(tokens):
            logits = self.model(last).double().numpy()
            last = rows[place] = self._decoder.read(logits, self._table[0])
            self.margin = self._decoder.margin(self._table, self.margin)
            if stops(last, stop):
                return rows[: place + 1]
        return rows


@dataclass(frozen=True)
class Numbers:
    """The type of all parameters, and the check that no sum is too large for it."""

    dtype: torch.dtype
    check: SumCheck


class Norm:
    """Layer normalisation where a model has it, exact or refused."""

    def __init__(self, weights: TransformerWeights, largest: int) -> None:
        self.wanted = weights.layer_norm
        self.dtype = norm_dtype(len(weights.fields), largest)

    def __call__(self, stream: Tensor) -> Tensor:
        """Return the residual stream as a sub-layer reads it."""
        if not self.wanted:
            return stream
        whole = normalised(stream.double().numpy(), self.dtype)
        return torch.as_tensor(whole).to(stream.dtype)


class Transformer(nn.Module):
    """Embedding, decoder layers, output layer."""

    def __init__(
        self, weights: TransformerWeights, attention: Attention, norm: Norm, numbers: Numbers
    ) -> None:
        super().__init__()
        d = len(weights.fields)
        self.norm = norm
        self.embedding = _parameter(full(stacked(weights.embeddings, d)), numbers.dtype)
        sizes = [len(factor.values) for factor in weights.factors]
        self.starts = np.cumsum([0, *sizes[:-1]])
        self.decoders = [
            DecoderLayer(layer, weights, attention, norm, numbers) for layer in weights.layers
        ]
        self.layers = nn.ModuleList(self.decoders)
        biases = np.concatenate([out.bias for out in weights.outputs])
        self.output = Linear(stacked([out.matrix for out in weights.outputs], d), biases, numbers)

    def forward(self, token: NDArray[np.int32]) -> Tensor:
        """The logits after a token, which joins the context."""
        stream = self.embed(token)
        for layer in self.decoders:
            stream = layer(stream)
        logits: Tensor = self.output(self.norm(stream))
        return logits

    def absorb(self, token: NDArray[np.int32]) -> None:
        """A token joins the context; nothing is asked of it, so the last layer only remembers."""
        stream = self.embed(token)
        for layer in self.decoders[:-1]:
            stream = layer(stream)
        for layer in self.decoders[-1:]:
            layer.remember(self.norm(stream))

    def embed(self, token: NDArray[np.int32]) -> Tensor:
        """The sum of the factors' embeddings."""
        return self.embedding.index_select(0, torch.as_tensor(token + self.starts)).sum(dim=0)


class DecoderLayer(nn.Module):
    """Attention, residual, ReLU network, residual, with its own window of keys and values."""

    def __init__(
        self,
        layer: Layer,
        weights: TransformerWeights,
        attention: Attention,
        norm: Norm,
        numbers: Numbers,
    ) -> None:
        super().__init__()
        self.attention, self.norm, self.check = attention, norm, numbers.check
        self.coordinates = torch.tensor([head.position for head in layer.heads], dtype=torch.long)
        d = len(weights.fields)
        self.query = _per_head([head.query for head in layer.heads], d, numbers)
        self.key = _per_head([head.key for head in layer.heads], d, numbers)
        self.value = _per_head([head.value for head in layer.heads], d, numbers)
        self.mix = Linear(layer.mix, layer.mix_bias, numbers)
        maps = [Linear(affine.matrix, affine.bias, numbers) for affine in layer.feed_forward]
        self.feed_forward = nn.Sequential(
            *[step for map_ in maps for step in (map_, nn.ReLU())][:-1]
        )
        window, heads = len(attention.backwards), len(layer.heads)
        self.keys = _Recent(window, (heads, weights.key_width), numbers.dtype)
        self.values = _Recent(window, (heads, weights.value_width), numbers.dtype)

    def forward(self, stream: Tensor) -> Tensor:
        """The residual stream of the newest position after this layer."""
        seen = self.norm(stream)
        self.remember(seen)
        query = self.query(seen).view(self.keys.shape)
        fetched = self.attention.fetched(
            query, self.keys.rows(), self.values.rows(), self.coordinates
        )
        stream = self._added(stream, self.mix(fetched.flatten()))
        if not len(self.feed_forward):
            return stream
        return self._added(stream, self.feed_forward(self.norm(stream)))

    def _added(self, stream: Tensor, more: Tensor) -> Tensor:
        total = stream + more
        self.check(total, (1, 0))
        return total

    def remember(self, seen: Tensor) -> None:
        """Keeps the key and the value of the newest position."""
        self.keys.append(self.key(seen))
        self.values.append(self.value(seen))


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
    """x -> weight x + bias, for one position, checked."""

    def __init__(self, matrix: Matrix, bias: Integers | None, numbers: Numbers) -> None:
        super().__init__()
        start = np.zeros(matrix.shape[0], np.int32) if bias is None else bias
        self.weight = _parameter(full(matrix), numbers.dtype)
        self.bias = _parameter(start.astype(float), numbers.dtype)
        self.norms, self.check = row_norms(matrix, start), numbers.check

    def forward(self, x: Tensor) -> Tensor:
        """The affine map."""
        self.check(x, self.norms)
        return torch.addmv(self.bias, self.weight, x)


def _per_head(parts: Sequence[Matrix], d: int, numbers: Numbers) -> Linear:
    """The matrices of all heads of a layer, one above the other."""
    return Linear(stacked(parts, d), None, numbers)


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
