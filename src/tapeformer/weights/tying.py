"""Weight tying made visible: one instance of each block, from which all matrices are expanded.

A level's neurons read what the same neurons of another level read, one level further. So an entry
of a matrix is determined by the names of its row and its column up to a shift of the level: the
distinct parameters are the entries up to that shift. Levels at the ends count on their own, and
neurons that only carry a value on have one parameter, 1, among all of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tapeformer.weights.matrices import matrix
from tapeformer.weights.names import carried
from tapeformer.weights.record import Affine, Integers, Layer, Matrix, TransformerWeights

LEVELLED = re.compile(r"\b(level|main|delay|op|full|started|load)(\d+)")
"""The words of a name whose number is that of a level."""

CARRY = "carry "
"""How a neuron's name begins that only hands a value on."""
CARRYING = ("network", "carry", "value")
RELATIVE = re.compile(r"<((?:[+-]\d)|(?:above|below) \w+)>")

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
    """Yield every matrix of a model, and every bias as a matrix with one column, with its names."""
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
        yield Labelled(f"{name} query", weights.position_rules, weights.fields, head.query)
        yield Labelled(f"{name} key", weights.position_rules, weights.fields, head.key)
        own = copies[place * width : (place + 1) * width]
        yield Labelled(f"{name} value", own, weights.fields, head.value)
    yield Labelled(f"{path} mix", weights.fields, copies, layer.mix)
    yield _column(f"{path} mix bias", weights.fields, layer.mix_bias)
    before = weights.fields
    for affine in layer.feed_forward:
        names = tuple(map(_at_any_depth, affine.names))
        yield from _of_affine(f"{path} network", affine, names, before)
        before = names


def _of_affine(path: str, affine: Affine, rows: Names, columns: Names) -> Iterator[Labelled]:
    yield Labelled(f"{path} matrix", rows, columns, affine.matrix)
    yield _column(f"{path} bias", rows, affine.bias)


def _column(path: str, rows: Names, values: Integers) -> Labelled:
    entries = {(row, 0): int(value) for row, value in enumerate(values.tolist())}
    return Labelled(path, rows, ("bias",), matrix((len(rows), 1), entries))


def _copy_names(weights: TransformerWeights, layer: Layer) -> Names:
    """Return a column of the concatenated heads is named after its head and the slot that W brings it to."""
    names = [
        f"{head.name} column {column}"
        for head in layer.heads
        for column in range(weights.value_width)
    ]
    for row, column in zip(layer.mix.rows.tolist(), layer.mix.columns.tolist(), strict=True):
        names[column] = f"copy to {weights.fields[row]}"
    return _numbered(names)


def _numbered(names: Sequence[str]) -> Names:
    """Name made different: the second neuron of a name gets its count."""
    seen: Counter[str] = Counter()
    different = []
    for name in names:
        seen[name] += 1
        different.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(different)


def _at_any_depth(name: str) -> str:
    """Return a neuron's name without the depth, at which a value is carried on as at any other."""
    found = carried(name)
    return name if found is None else CARRY + found


class LevelShift:
    """Brings names to a form that is the same for all levels but those at the ends, and back."""

    def __init__(self, levels: int) -> None:
        self.levels = levels
        self._shifted: dict[tuple[str, int], str] = {}
        self._levels_at: dict[tuple[int, str], list[int]] = {}
        for home in range(levels + 1):
            for level in range(1, levels + 1):
                told = (home, self._relative(level, home))
                self._levels_at.setdefault(told, []).append(level)

    def key(self, names: Key) -> Key:
        """Name of an entry with levels told relative to the first one, which is left open."""
        found = next(filter(None, map(LEVELLED.search, names)), None)
        home = int(found[2]) if found else 0
        path, row, column = (self._told(name, home) for name in names)
        return f"{self._place(home)}|{path}", row, column

    def _told(self, name: str, home: int) -> str:
        """Return a name with its levels told relative to one; most names occur many times."""
        if (name, home) not in self._shifted:
            self._shifted[name, home] = LEVELLED.sub(
                lambda match: f"{match[1]}<{self._relative(int(match[2]), home)}>", name
            )
        return self._shifted[name, home]

    def instances(self, key: Key) -> Iterator[Key]:
        """Yield the names of all entries that a key stands for, at every level where it may be."""
        place, path = key[0].split("|", 1)
        for home in range(self.levels + 1):
            if self._place(home) == place:
                yield from self._at(home, "\n".join((path, *key[1:])))

    def _at(self, home: int, text: str) -> Iterator[Key]:
        match = RELATIVE.search(text)
        if match is None:
            path, row, column = text.split("\n")
            yield path, row, column
            return
        for level in self._levels_at.get((home, match[1]), ()):
            yield from self._at(home, text.replace(f"<{match[1]}>", str(level)))

    def _place(self, level: int) -> str:
        """Return which kind of level: the first two and the last are like no other."""
        return str(level) if level <= 2 else "last" if level == self.levels else "middle"

    def _relative(self, level: int, home: int) -> str:
        distance = level - home
        if home and abs(distance) <= 1:
            return f"{distance:+d}"
        return f"{'above' if distance > 0 else 'below'} {self._place(level)}"


@dataclass(frozen=True)
class Blocks:
    """The distinct parameters: an entry for all its shifts, and single entries that fit no shift."""

    shifted: Mapping[Key, int]
    single: Mapping[Key, int]

    def __len__(self) -> int:
        return len(self.shifted) + len(self.single)


def distinct_parameters(weights: TransformerWeights, levels: int) -> Blocks:
    """Return one instance of each block, such that `expanded` gives back every matrix."""
    shift = LevelShift(levels)
    entries = dict(_entries(weights))
    names = _names(weights)
    shifted: dict[Key, int] = {}
    for key, value in entries.items():
        shifted.setdefault(shift.key(key), value)
    made = _instances(shifted, shift, names) | {CARRYING: 1}
    single = {key: v for key, v in entries.items() if made.get(key, 0) != v}
    single |= {key: 0 for key in made if key not in entries}
    return Blocks(shifted, single)


def expanded(blocks: Blocks, weights: TransformerWeights, levels: int) -> dict[Key, int]:
    """Return all nonzero entries by name, from the distinct parameters and the names alone."""
    made = _instances(blocks.shifted, LevelShift(levels), _names(weights)) | {CARRYING: 1}
    made |= blocks.single
    return {key: value for key, value in made.items() if value}


def _instances(
    shifted: Mapping[Key, int], shift: LevelShift, names: Mapping[str, _Names]
) -> dict[Key, int]:
    made = {}
    for key, value in shifted.items():
        for path, row, column in shift.instances(key):
            if path in names and row in names[path].rows and column in names[path].columns:
                made[path, row, column] = value
    return made


@dataclass
class _Names:
    """The names of a matrix's rows, and of its columns, carried or not."""

    rows: set[str]
    columns: frozenset[str]


def _names(weights: TransformerWeights) -> dict[str, _Names]:
    """Return the names of each matrix, all networks counting as one; most have the same columns."""
    found: dict[str, _Names] = {}
    fields = frozenset(map(_computed, weights.fields))
    for part in labelled(weights):
        read = part.columns is weights.fields
        columns = fields if read else frozenset(map(_computed, part.columns))
        if part.path in found:
            found[part.path].rows.update(part.rows)
            found[part.path].columns = found[part.path].columns | columns
        else:
            found[part.path] = _Names(set(part.rows), columns)
    return found


def _entries(weights: TransformerWeights) -> Iterator[tuple[Key, int]]:
    """Yield every entry that is not zero, by name. Carrying a value on is the same everywhere."""
    for part in labelled(weights):
        rows, columns = part.matrix.rows.tolist(), part.matrix.columns.tolist()
        for row, column, value in zip(rows, columns, part.matrix.values.tolist(), strict=True):
            read = _computed(part.columns[column])
            carries = part.rows[row] == CARRY + read and value == 1
            yield CARRYING if carries else (part.path, part.rows[row], read), value


def _computed(name: str) -> str:
    return name.removeprefix(CARRY)


def entry_names(weights: TransformerWeights) -> dict[Key, int]:
    """Return what `expanded` must give back."""
    return dict(_entries(weights))
