"""Named coordinates, sparse rational maps, and the networks made of them.

A vector is a column: arrays are coordinates x positions, so one operation serves all positions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from tapeformer.laboratory.arithmetic import Arithmetic, Array, Number

Key: TypeAlias = Any
"""A coordinate's name: `"x"`, or a pair of a block and one of its values such as `("q", "start")`."""
Terms: TypeAlias = Mapping[Any, Number]


class Fields:
    """The coordinates of a vector by name: single numbers, and blocks with one for each value."""

    def __init__(self, keys: Iterable[Key]) -> None:
        self.keys = tuple(keys)
        self.index = {key: number for number, key in enumerate(self.keys)}

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return len(self.keys)

    def copied(self, *names: str) -> list[Row]:
        """Return rows of a map that carry whole blocks or numbers over."""
        return [row(key, {key: 1}) for key in self.keys if _block(key) in names]


def _block(key: Key) -> Key:
    return key[0] if isinstance(key, tuple) else key


def fields(**blocks: Iterable[Hashable] | None) -> Fields:
    """Return coordinates by blocks: None is a single number, values make one coordinate each."""
    keys: list[Key] = []
    for name, values in blocks.items():
        keys += [name] if values is None else [(name, value) for value in values]
    return Fields(keys)


def numbered(count: int) -> Fields:
    """Return coordinates without names: 0, 1, ..."""
    return Fields(range(count))


@dataclass(frozen=True)
class Row:
    """One output of a map: where it goes, what it sums in this order, and the bias it begins with."""

    to: Key
    terms: Terms
    bias: Number = 0


def row(to: Key, terms: Terms | None = None, bias: Number = 0) -> Row:
    """Return a row of a map."""
    return Row(to, terms or {}, bias)


def total(*parts: Terms) -> dict[Key, Number]:
    """Return the sum of linear forms, in the order of their terms."""
    out: dict[Key, Number] = {}
    for part in parts:
        for key, coefficient in part.items():
            out[key] = out.get(key, 0) + coefficient
    return out


def scaled(terms: Terms, factor: Number) -> dict[Key, Number]:
    """Return a linear form times a number."""
    return {key: coefficient * factor for key, coefficient in terms.items()}


class Map:
    """A sparse affine map between named coordinates; every product and sum is rounded.

    A sum begins with its bias and goes on in the order of its terms: the order is part of a
    construction, since `-1 + [bit] + x` is exact where `x + [bit] - 1` loses digits of x. All rows
    are summed side by side, the longest first, so that term j is added to the first rows only.
    """

    def __init__(self, source: Fields, target: Fields, rows: Iterable[Row]) -> None:
        self.source, self.target = source, target
        kept = sorted(rows, key=lambda one: -len(_nonzero(one.terms)))
        self.outputs = np.array([target.index[one.to] for one in kept], np.int64)
        if len(set(self.outputs.tolist())) < len(kept):
            raise ValueError("two rows of a map lead to one coordinate")
        self.biases = [Fraction(one.bias) for one in kept]
        terms = [_nonzero(one.terms) for one in kept]
        longest = len(terms[0]) if terms else 0
        self.terms = [
            (
                np.array([source.index[part[j][0]] for part in terms if len(part) > j], np.int64),
                [Fraction(part[j][1]) for part in terms if len(part) > j],
            )
            for j in range(longest)
        ]
        self._numbers: dict[str, tuple[Array, list[Array | None]]] = {}

    def __call__(self, x: Array, numbers: Arithmetic) -> Array:
        """Return the outputs for every column."""
        biases, factors = self._in(numbers)
        acc = np.repeat(biases, x.shape[1], axis=1)
        for (index, _), factor in zip(self.terms, factors, strict=True):
            part = x[index]
            if factor is not None:
                part = numbers.rounded(part * factor)
            acc[: len(index)] = numbers.rounded(acc[: len(index)] + part)
        out = numbers.zeros(self.target.size, x.shape[1])
        out[self.outputs] = acc
        return out

    def _in(self, numbers: Arithmetic) -> tuple[Array, list[Array | None]]:
        """Return biases and coefficients in an arithmetic; None where all of them are 1."""
        if numbers.name not in self._numbers:
            biases = numbers.array(self.biases)[:, None]
            factors = [
                None if all(c == 1 for c in part) else numbers.array(part)[:, None]
                for _, part in self.terms
            ]
            self._numbers[numbers.name] = biases, factors
        return self._numbers[numbers.name]

    @property
    def entries(self) -> int:
        """The number of entries of matrix and bias, zeros too."""
        return self.target.size * (self.source.size + 1)

    def parameters(self) -> list[Fraction]:
        """Return the entries that are not zero."""
        entries = [*self.biases, *(c for _, part in self.terms for c in part)]
        return [entry for entry in entries if entry]


def _nonzero(terms: Terms) -> list[tuple[Key, Number]]:
    return [(key, coefficient) for key, coefficient in terms.items() if coefficient]


def relu(x: Array, numbers: Arithmetic) -> Array:
    """Return max(x, 0)."""
    return np.asarray(np.maximum(x, numbers.constant(0)))


def clipped(x: Array, numbers: Arithmetic) -> Array:
    """Return min(max(x, 0), 1), the piecewise-linear sigmoid: two ReLUs."""
    return np.asarray(np.minimum(relu(x, numbers), numbers.constant(1)))


def unit(x: Array, numbers: Arithmetic) -> Array:
    """Return the layer norm of (x, -x), scaled to length one; zero stays zero."""
    squares = numbers.zeros(x.shape[1])
    for part in x:
        squares = numbers.rounded(squares + numbers.rounded(part * part))
    length = numbers.root(numbers.rounded(squares + squares))
    length = np.where(length == 0, numbers.constant(1), length)
    scaled_x = numbers.rounded(x / length)
    return np.concatenate([scaled_x, -scaled_x])


Step: TypeAlias = Map | Callable[[Array, Arithmetic], Array]
Network: TypeAlias = Sequence[Step]
"""Maps and activations in turn."""


def applied(network: Network, x: Array, numbers: Arithmetic) -> Array:
    """Return what a network makes of every column."""
    for step in network:
        x = step(x, numbers)
    return x


@dataclass(frozen=True)
class Join:
    """Networks side by side: their outputs one above the other."""

    parts: tuple[Network, ...]

    def __call__(self, x: Array, numbers: Arithmetic) -> Array:
        """Return the outputs of all parts for every column."""
        return np.concatenate([applied(part, x, numbers) for part in self.parts])


@dataclass(frozen=True)
class Gate:
    """Gated units: products of pairs of coordinates, as in gated linear units."""

    source: Fields
    target: Fields
    pairs: tuple[tuple[Key, Key, Key], ...]

    def __call__(self, x: Array, numbers: Arithmetic) -> Array:
        """Return the products at their places, everything else zero."""
        out = numbers.zeros(self.target.size, x.shape[1])
        index = self.source.index
        for to, left, right in self.pairs:
            out[self.target.index[to]] = numbers.rounded(x[index[left]] * x[index[right]])
        return out


def maps_in(network: Network) -> list[Map]:
    """Return every map of a network, those inside its parts too."""
    found: list[Map] = []
    for step in network:
        if isinstance(step, Map):
            found.append(step)
        elif isinstance(step, Join):
            found += [one for part in step.parts for one in maps_in(part)]
    return found
