"""The residual stream of a trained model: values of the token, those fetched by heads, those said."""

from __future__ import annotations

import numpy as np

from tapeformer.bundle.record import Bundle
from tapeformer.learning.fields import TokenFields
from tapeformer.learning.sparse_layers import sorted_matrix
from tapeformer.weights.matrices import matrix, zeros
from tapeformer.weights.record import Affine, Head, Integers, Layer, Matrix

CONSTANT = "constant"


def value_name(fields: TokenFields, column: int, value: int) -> str:
    """Name a value of a factor by its number, the same in every model."""
    return f"{fields.factors[column].name}={value}"


def fetched(name: str) -> str:
    """Name a value that a head brings."""
    return f"fetched {name}"


class TokenHeads:
    """Coordinates of the residual stream, and the heads that fetch every queue's front."""

    def __init__(self, fields: TokenFields, compiled: Bundle) -> None:
        self.tokens, self.compiled = fields, compiled
        self.offsets = compiled.offsets
        self._parity = [factor.name for factor in fields.factors].index(compiled.prompt.parity)
        now = [name for column in range(len(fields.factors)) for name in self._values(column)]
        self.brought = {back: self._brought(back) for back in sorted(set(self.offsets)) if back}
        past = [name for names in self.brought.values() for _, name in names]
        self.said = {f"next {name}" for name in now}
        self.fields = (CONSTANT, *now, *past, *(f"next {name}" for name in now))
        self.number = {name: place for place, name in enumerate(self.fields)}
        self.value_width = max(map(len, self.brought.values()))

    def _values(self, column: int) -> list[str]:
        sizes = range(self.tokens.factors[column].size)
        return [value_name(self.tokens, column, value) for value in sizes]

    def _brought(self, back: int) -> list[tuple[str, str]]:
        """Return what a head brings from so far back: each value, and the coordinate it goes to."""
        found = [
            (name, fetched(name))
            for column, factor in enumerate(self.tokens.factors)
            if factor.look_back == back
            for name in self._values(column)
        ]
        return [*found, *((self.parity(p), self.parity(p, back)) for p in (0, 1))]

    def parity(self, value: int, back: int = 0) -> str:
        """Name a parity of the token, or of one that a head looks at."""
        name = value_name(self.tokens, self._parity, value)
        return f"{fetched(name)}, {back} back" if back else name

    def said_values(self, column: int) -> list[str]:
        """Name what is said of a factor."""
        return [f"next {name}" for name in self._values(column)]

    def embeddings(self) -> tuple[Matrix, ...]:
        """Return an embedding for each factor: its value, and once for all the constant."""
        width, found = len(self.fields), []
        for column in range(len(self.tokens.factors)):
            names = self._values(column)
            entries = {(row, self.number[name]): 1 for row, name in enumerate(names)}
            if column == 0:
                entries |= {(row, 0): 1 for row in range(len(names))}
            found.append(matrix((len(names), width), entries))
        return tuple(found)

    def heads(self, layer: Layer) -> tuple[Head, ...]:
        """Return a compiled model's heads with queries, keys and values for this stream."""
        width, rules = len(self.fields), len(self.offsets)
        return tuple(
            Head(
                head.name,
                head.position,
                matrix((rules, width), {(head.position, 0): 1}),
                zeros(rules, width),
                matrix((self.value_width, width), self._value_entries(head)),
            )
            for head in layer.heads
        )

    def _value_entries(self, head: Head) -> dict[tuple[int, int], int]:
        names = self.brought[self.offsets[head.position]]
        return {(row, self.number[name]): 1 for row, (name, _) in enumerate(names)}

    def mix(self, layer: Layer) -> tuple[Matrix, Integers]:
        """Return what brings the heads' values to their coordinates, and its bias."""
        rows, columns = [], []
        for number, head in enumerate(layer.heads):
            for column, (_, name) in enumerate(self.brought[self.offsets[head.position]]):
                rows.append(self.number[name])
                columns.append(number * self.value_width + column)
        shape = (len(self.fields), len(layer.heads) * self.value_width)
        entries = np.array(rows), np.array(columns), np.ones(len(rows), np.int64)
        return sorted_matrix(shape, *entries), np.zeros(len(self.fields), np.int32)

    def outputs(self) -> tuple[Affine, ...]:
        """Return a map to the logits of each factor: what is said of it."""
        width, found = len(self.fields), []
        for column, factor in enumerate(self.compiled.weights.factors):
            names = self.said_values(column)
            entries = {(row, self.number[name]): 1 for row, name in enumerate(names)}
            bias = np.zeros(len(names), np.int32)
            found.append(Affine(matrix((len(names), width), entries), bias, factor.values))
        return tuple(found)
