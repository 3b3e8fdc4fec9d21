"""Random small Transformers: any shape, any small weights, nothing that a compiler would make."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tapeformer.weights.matrices import integers, matrix, zeros
from tapeformer.weights.record import (
    Affine,
    Factor,
    Head,
    Layer,
    Matrix,
    Token,
    TransformerWeights,
)

OFFSETS = (0, 1, 2, 3, 5, 8, 13)
WEIGHTS = ((1,), (1, 1, 1, -1), (1, -1, 2), (1, -1, 2, -2))


class SmallModel:
    """One field is always 1, one stands for each value of each factor, and some are spare."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.sizes = self.chance.choices((1, 2, 2, 3, 3, 4), k=self.chance.randint(1, 5))
        self.width = 1 + sum(self.sizes) + self.chance.randint(0, 6)
        self.fields = tuple(f"x{index}" for index in range(self.width))
        self.values = self.chance.choice(WEIGHTS)
        self.offsets = tuple(self.chance.choices(OFFSETS, k=self.chance.randint(1, 4)))
        self.fetched = self.chance.randint(1, 4)
        self.weights = self._weights()
        self.prompt = tuple(self._token() for _ in range(self.chance.randint(1, 30)))

    def _weights(self) -> TransformerWeights:
        rules = tuple(f"r{index}" for index in range(len(self.offsets)))
        factors = tuple(
            Factor(f"f{index}", tuple(f"v{value}" for value in range(size)))
            for index, size in enumerate(self.sizes)
        )
        layers = tuple(self._layer() for _ in range(self.chance.choice((1, 2, 2))))
        return TransformerWeights(
            factors,
            self.fields,
            tuple(self._embedding(index) for index in range(len(self.sizes))),
            layers,
            tuple(self._output(factor) for factor in factors),
            rules,
            len(rules),
            self.fetched,
        )

    def _token(self) -> Token:
        return tuple(self.chance.randrange(size) for size in self.sizes)

    def _sparse(self, rows: range, width: int, density: float, values: Sequence[int]) -> Matrix:
        entries = {
            (row, column): self.chance.choice(values)
            for row in rows
            for column in range(width)
            if self.chance.random() < density
        }
        return matrix((rows.stop, width), entries)

    def _embedding(self, index: int) -> Matrix:
        start = 1 + sum(self.sizes[:index])
        entries = {(value, start + value): 1 for value in range(self.sizes[index])}
        if index == 0:
            entries |= {(value, 0): 1 for value in range(self.sizes[0])}
        return matrix((self.sizes[index], self.width), entries)

    def _layer(self) -> Layer:
        heads = tuple(self._head() for _ in range(self.chance.randint(0, 4)))
        columns = range(len(heads) * self.fetched)
        mixed = {
            (self.chance.randrange(1, self.width), column): self.chance.choice(self.values)
            for column in columns
            if self.chance.random() < 0.7
        }
        mix = matrix((self.width, len(columns)), mixed)
        return Layer(heads, mix, integers([0] * self.width), self._network())

    def _head(self) -> Head:
        place, keys = self.chance.randrange(len(self.offsets)), len(self.offsets)
        density = self.chance.choice((0.05, 0.15))
        value = self._sparse(range(self.fetched), self.width, density, self.values)
        query = matrix((keys, self.width), {(place, 0): 1})
        return Head("h", place, query, zeros(keys, self.width), value)

    def _network(self) -> tuple[Affine, ...]:
        count = self.chance.choice((0, 2, 3, 3, 4))
        heights = [self.chance.randint(2, 14) for _ in range(max(0, count - 1))]
        widths = [self.width, *heights]
        inner = [
            self._neurons(depth, *pair)
            for depth, pair in enumerate(zip(heights, widths, strict=False))
        ]
        if not count:
            return ()
        rows = self._sparse(range(1, self.width), widths[-1], 0.2, self.values)
        return (*inner, Affine(rows, integers([0] * self.width), self.fields))

    def _neurons(self, depth: int, height: int, width: int) -> Affine:
        density = self.chance.choice((0.1, 0.2, 0.35))
        values = self.chance.choice(((1, -1), (1, 1, -1, -1, 2, -2)))
        bias = self.chance.choices((0, 0, 0, -1, -1, 1), k=height)
        names = tuple(f"n{depth}.{index}" for index in range(height))
        return Affine(self._sparse(range(height), width, density, values), integers(bias), names)

    def _output(self, factor: Factor) -> Affine:
        size = len(factor.values)
        density = self.chance.choice((0.15, 0.3))
        rows = self._sparse(range(size), self.width, density, self.values)
        bias = self.chance.choices((0, 0, 0, 1, -1), k=size)
        return Affine(rows, integers(bias), factor.values)
