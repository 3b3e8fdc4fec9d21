"""Weight tying made visible: one instance of each block, from which all matrices are expanded.

A level's neurons read what the same neurons of another level read, one level further. So an entry
of a matrix is determined by the names of its row and its column up to a shift of the level: the
distinct parameters are the entries up to that shift. Levels at the ends count on their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tapeformer.weights.matrices import matrix
from tapeformer.weights.record import Affine, Integers, Layer, Matrix, TransformerWeights

LEVELLED = re.compile(r"\b(level|main|delay|op|full|started|load)(\d+)")
"""The words of a name whose number is that of a level."""

Names = tuple[str, ...]
Key = tuple[str, str, str]
"""A matrix, a row and a column, each up to a shift of the level."""


@dataclass(frozen=True)
class Labelled:
    """A matrix with a name for each row and each column."""

    path: str
    rows: Names
    columns: Names
    matrix: Matrix


def labelled(weights: TransformerWeights) -> Iterator[Labelled]:
    """Every matrix of a model, and every bias as a matrix with one column, with its names."""
    fields = weights.fields
    for factor, embedding in zip(weights.factors, weights.embeddings, strict=True):
        values = tuple(f"{factor.name}={value}" for value in factor.values)
        yield Labelled(f"embedding {factor.name}", values, fields, embedding)
    for number, layer in enumerate(weights.layers):
        yield from _of_layer(weights, layer, f"layer.{number}")
    for factor, output in zip(weights.factors, weights.outputs, strict=True):
        values = tuple(f"{factor.name}={value}" for value in factor.values)
        yield from _of_affine(f"output {factor.name}", output, values, fields)


def _of_layer(weights: TransformerWeights, layer: Layer, path: str) -> Iterator[Labelled]:
    copies = _copy_names(weights, layer)
    width = weights.value_width
    for place, head in enumerate(layer.heads):
        name = f"{path} head {head.name}"
        yield Labelled(f"{name} query", weights.fields, weights.position_rules, head.query)
        yield Labelled(f"{name} key", weights.fields, weights.position_rules, head.key)
        own = copies[place * width : (place + 1) * width]
        yield Labelled(f"{name} value", weights.fields, own, head.value)
    yield Labelled(f"{path} mix", weights.fields, copies, layer.mix)
    yield _column(f"{path} mix bias", weights.fields, layer.mix_bias)
    before = weights.fields
    for number, affine in enumerate(layer.feed_forward):
        names = _numbered(affine.names)
        yield from _of_affine(f"{path} network {number}", affine, names, before)
        before = names


def _of_affine(path: str, affine: Affine, rows: Names, columns: Names) -> Iterator[Labelled]:
    yield Labelled(f"{path} matrix", rows, columns, affine.matrix)
    yield _column(f"{path} bias", rows, affine.bias)


def _column(path: str, rows: Names, values: Integers) -> Labelled:
    entries = {(row, 0): int(value) for row, value in enumerate(values.tolist())}
    return Labelled(path, rows, ("bias",), matrix((len(rows), 1), entries))


def _copy_names(weights: TransformerWeights, layer: Layer) -> Names:
    """A column of the concatenated heads is named after its head and the slot that W brings it to."""
    names = [
        f"{head.name} column {column}"
        for head in layer.heads
        for column in range(weights.value_width)
    ]
    for row, column in zip(layer.mix.rows.tolist(), layer.mix.columns.tolist(), strict=True):
        names[column] = f"copy to {weights.fields[row]}"
    return _numbered(names)


def _numbered(names: Sequence[str]) -> Names:
    """Names made different: the second neuron of a name gets its count."""
    seen: Counter[str] = Counter()
    different = []
    for name in names:
        seen[name] += 1
        different.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(different)


class Shift:
    """Brings names to a form that is the same for all levels but those at the ends."""

    def __init__(self, levels: int) -> None:
        self.levels = levels

    def key(self, path: str, row: str, column: str) -> Key:
        """A matrix entry's names, levels told relative to the first one that is named."""
        found = [int(m[2]) for name in (path, row, column) for m in LEVELLED.finditer(name)]
        home = found[0] if found else 0

        def told(match: re.Match[str]) -> str:
            return f"{match[1]}<{self._relative(int(match[2]), home)}>"

        shifted = tuple(LEVELLED.sub(told, name) for name in (path, row, column))
        return (f"{self._place(home)} {shifted[0]}", shifted[1], shifted[2])

    def _place(self, level: int) -> str:
        """Which kind of level: the first two and the last are like no other."""
        return str(level) if level <= 2 else "last" if level == self.levels else "middle"

    def _relative(self, level: int, home: int) -> str:
        distance = level - home
        if abs(distance) <= 1:
            return f"{distance:+d}"
        return f"{'above' if distance > 0 else 'below'} {self._place(level)}"


def distinct_entries(weights: TransformerWeights, levels: int) -> dict[Key, int]:
    """The distinct parameters that are not zero: one value for each entry up to a shift."""
    shift = Shift(levels)
    found: dict[Key, int] = {}
    for part in labelled(weights):
        rows, columns = part.matrix.rows.tolist(), part.matrix.columns.tolist()
        for row, column, value in zip(rows, columns, part.matrix.values.tolist(), strict=True):
            key = shift.key(part.path, part.rows[row], part.columns[column])
            if found.setdefault(key, value) != value:
                found[part.path, part.rows[row], part.columns[column]] = value
    return found


def expanded(part: Labelled, entries: dict[Key, int], levels: int) -> Matrix:
    """A matrix from the distinct parameters and the names of its rows and columns alone."""
    shift = Shift(levels)
    values = {
        (row, column): value
        for row, row_name in enumerate(part.rows)
        for column, column_name in enumerate(part.columns)
        if (value := entries.get(shift.key(part.path, row_name, column_name), 0))
    }
    return matrix((len(part.rows), len(part.columns)), values)
