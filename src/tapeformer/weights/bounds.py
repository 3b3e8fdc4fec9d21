"""How large every sum in a model can become: interval arithmetic from the weights alone.

Whatever the tokens are, and in whatever order its terms are added, no partial sum of a matrix
product exceeds the sum of |weight| times the bound of its input. Engines choose from these bounds
the numbers that they compute with.
"""

from __future__ import annotations

from math import inf, isqrt
from typing import Any

import numpy as np

from tapeformer.dataclass import dataclass
from tapeformer.weights.embedded import FLOAT64_EXACT, Vector, embedded_range
from tapeformer.weights.positions import HIGHEST_POSITION
from tapeformer.weights.record import Affine, Head, Integers, Layer, Matrix, TransformerWeights


@dataclass(frozen=True)
class Bounds:
    """The largest magnitudes in a model: of any sum, of the sum of a token's embeddings, of a
    fetched value, a score, a logit, and of the residual stream before it is normalised.

    `sums` includes all the others.
    """

    sums: int
    embedded: int
    values: int
    scores: int
    logits: int
    stream: int


@dataclass(frozen=True, eq=False)
class Interval:
    """A vector's coordinates lie between `low` and `high`."""

    low: Vector
    high: Vector

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def size(self) -> Vector:
        """Return the largest magnitude of each coordinate."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    def relu(self) -> Interval:
        """Return the interval after a ReLU."""
        return Interval(np.maximum(self.low, 0), np.maximum(self.high, 0))


def sum_bounds(weights: TransformerWeights) -> Bounds:
    """Return bounds that hold for every token of every run."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = _Analysis(weights, np.float64).bounds()
    if found.sums < FLOAT64_EXACT:
        return found
    return _Analysis(weights, np.object_).bounds()


class _Analysis:
    """One pass through a model with intervals instead of numbers."""

    def __init__(self, weights: TransformerWeights, dtype: type[np.generic]) -> None:
        self.weights, self.dtype = weights, np.dtype(dtype)
        self.sums = self.embedded = self.values = self.scores = self.largest = 0

    def bounds(self) -> Bounds:
        stream = self._embedded()
        for layer in self.weights.layers:
            stream = self._after(layer, stream)
        outputs = [self._affine(out, self._read(stream)).size() for out in self.weights.outputs]
        logits = max((_most(part) for part in outputs), default=0)
        return Bounds(self.sums, self.embedded, self.values, self.scores, logits, self.largest)

    def _embedded(self) -> Interval:
        low, high, size = (part.astype(self.dtype) for part in embedded_range(self.weights))
        self.embedded = _most(size)
        self._see(size)
        return self._kept(Interval(low, high))

    def _after(self, layer: Layer, stream: Interval) -> Interval:
        """Return the residual stream after a layer."""
        stream = self._kept(stream + self._attention(layer, self._read(stream)))
        if not layer.feed_forward:
            return stream
        hidden = self._read(stream)
        for affine in layer.feed_forward[:-1]:
            hidden = self._affine(affine, hidden).relu()
        return self._kept(stream + self._affine(layer.feed_forward[-1], hidden))

    def _read(self, stream: Interval) -> Interval:
        """Return the stream as a sub-layer reads it: normalised coordinates have a mean square of 1."""
        if not self.weights.layer_norm:
            return stream
        most = np.full(len(stream.low), isqrt(len(stream.low)), self.dtype)
        return Interval(-most, most)

    def _attention(self, layer: Layer, seen: Interval) -> Interval:
        fetched = [self._fetched(head, seen) for head in layer.heads]
        empty = np.zeros(0, self.dtype)
        low = np.concatenate([empty, *(part.low for part in fetched)])
        high = np.concatenate([empty, *(part.high for part in fetched)])
        return self._product(layer.mix, layer.mix_bias, Interval(low, high))

    def _fetched(self, head: Head, seen: Interval) -> Interval:
        """Return the bounds of what a head fetches; its scores are bounded on the way."""
        query = self._product(head.query, None, seen).size()
        key = self._product(head.key, None, seen).size()
        in_key = (query * (key + HIGHEST_POSITION)).sum()
        as_bias = (query * key).sum() + HIGHEST_POSITION
        self.scores = max(self.scores, _whole(in_key), _whole(as_bias))
        self.sums = max(self.sums, self.scores)
        value = self._product(head.value, None, seen)
        self.values = max(self.values, _most(value.size()))
        return value

    def _affine(self, affine: Affine, x: Interval) -> Interval:
        return self._product(affine.matrix, affine.bias, x)

    def _product(self, part: Matrix, bias: Integers | None, x: Interval) -> Interval:
        """Return the interval of matrix x + bias; the sizes of its sums are remembered."""
        constant = np.zeros(part.shape[0], np.int32) if bias is None else bias
        low, high = constant.astype(self.dtype), constant.astype(self.dtype)
        sums = np.abs(high)
        values = part.values.astype(self.dtype)
        ends = values * x.low[part.columns], values * x.high[part.columns]
        np.add.at(low, part.rows, np.minimum(*ends))
        np.add.at(high, part.rows, np.maximum(*ends))
        np.add.at(sums, part.rows, np.maximum(*map(np.abs, ends)))
        self._see(sums)
        return Interval(low, high)

    def _see(self, sums: Vector) -> None:
        self.sums = max(self.sums, _most(sums))

    def _kept(self, stream: Interval) -> Interval:
        self._see(stream.size())
        self.largest = max(self.largest, _most(stream.size()))
        return stream


def row_norms(part: Matrix, bias: Integers | None = None) -> tuple[int, int]:
    """Return the largest sum of |weight| in a row, and the largest |bias|.

    Where inputs are at most m, no partial sum of the product exceeds m times the first plus the
    second.
    """
    totals = np.bincount(part.rows, np.abs(part.values), minlength=part.shape[0])
    return _most(totals), 0 if bias is None else _most(np.abs(bias))


def _most(sizes: Vector) -> int:
    return _whole(sizes.max()) if sizes.size else 0


def _whole(size: Any) -> int:
    """Return a size as a whole number; one that float64 cannot hold asks for Python integers."""
    return int(size) if size < inf else FLOAT64_EXACT
