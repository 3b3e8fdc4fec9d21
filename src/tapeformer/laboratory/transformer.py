"""A Transformer of the laboratory: embedding, layers, one argmax per factor; and its runs.

A run appends tokens, any number at a time, and predicts the token after each: all at once this is
teacher forcing, one at a time it is generation with a cache of keys and values.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tapeformer.laboratory.arithmetic import Arithmetic, Array, Number
from tapeformer.laboratory.attention import Attended, Cache, Head, attend, remember
from tapeformer.laboratory.coordinates import (
    Fields,
    Key,
    Map,
    Network,
    applied,
    maps_in,
    numbered,
    row,
)

Token: TypeAlias = Any
Coordinates: TypeAlias = Mapping[Any, Number]


@dataclass(frozen=True)
class Layer:
    """Heads side by side, each added to the stream; then feed-forward networks, each added in turn."""

    heads: tuple[Head, ...] = ()
    networks: tuple[Network, ...] = ()


@dataclass(frozen=True)
class Factor:
    """One component of the next token: its values, and the map to their logits."""

    name: str
    values: tuple[Hashable, ...]
    logits: Map


def factor(name: str, source: Fields, logits: Mapping[Any, Coordinates], one: Key = "") -> Factor:
    """Return a factor from a linear form for each value; the key `one` stands for a bias."""
    rows = [
        row(
            number,
            {key: c for key, c in terms.items() if key != one},
            terms.get(one, 0) if one else 0,
        )
        for number, terms in enumerate(logits.values())
    ]
    return Factor(name, tuple(logits), Map(source, numbered(len(rows)), rows))


def one_hot(name: str, source: Fields, block: str, values: Sequence[Hashable]) -> Factor:
    """Return a factor whose logits are a block of the residual coordinates."""
    return factor(name, source, {value: {(block, value): 1} for value in values})


def moved(name: str, source: Fields, key: Key, values: Sequence[int] = (-1, 0, 1)) -> Factor:
    """Return a factor that takes the number nearest to a coordinate x: the largest 2xv - v^2."""
    logits = {value: {key: 2 * value, "1": -value * value} for value in values}
    return factor(name, source, logits, "1")


def nothing(_: Any) -> Coordinates:
    """Return no coordinates: no positional encoding, no memory."""
    return {}


@dataclass(frozen=True)
class Transformer:
    """A model: what a token and a position become, the layers, and how factors become a token.

    `position` is the absolute encoding of a place, counted from 0; `memory` the encoder's vectors,
    which heads with the mask `memory` see.
    """

    fields: Fields
    embed: Callable[[Token], Coordinates]
    layers: tuple[Layer, ...]
    factors: tuple[Factor, ...]
    token: Callable[[tuple[Any, ...]], Token]
    position: Callable[[int], Coordinates] = nothing
    memory: tuple[Coordinates, ...] = ()
    rational: bool = True

    @property
    def heads(self) -> list[Head]:
        """All heads, layer by layer."""
        return [head for layer in self.layers for head in layer.heads]

    def maps(self) -> list[Map]:
        """Return every affine map of the model, the output's too."""
        networks: list[Network] = []
        for layer in self.layers:
            for head in layer.heads:
                networks += [head.query, head.key, head.value]
            networks += layer.networks
        return [one for net in networks for one in maps_in(net)] + [f.logits for f in self.factors]


class Run:
    """A model at work on a growing context, in one arithmetic."""

    def __init__(self, model: Transformer, numbers: Arithmetic) -> None:
        self.model, self.numbers = model, numbers
        self.length = 0
        self.caches = [Cache() for _ in model.heads]
        self.attended: list[list[Attended]] = [[] for _ in model.heads]
        self.margins: list[Array] = []
        memory = columns(model.fields, model.memory, numbers)
        for head, cache in zip(model.heads, self.caches, strict=True):
            if head.mask == "memory":
                remember(head, memory, cache, numbers)

    def extend(self, tokens: Sequence[Token]) -> list[Token]:
        """Append tokens and return the predicted next token after each of them."""
        with np.errstate(all="ignore"):
            return self._predicted(self._stream(tokens))

    def margin(self) -> float:
        """Return the smallest margin of the tokens predicted so far."""
        return min((float(part.min()) for part in self.margins), default=float("inf"))

    def _stream(self, tokens: Sequence[Token]) -> Array:
        model, numbers = self.model, self.numbers
        places = range(self.length, self.length + len(tokens))
        vectors = [
            {**model.embed(t), **model.position(i)} for t, i in zip(tokens, places, strict=True)
        ]
        x = columns(model.fields, vectors, numbers)
        self.length += len(tokens)
        number = 0
        for layer in model.layers:
            added = []
            for head in layer.heads:
                out, seen = attend(head, x, self.caches[number], numbers)
                self.attended[number].append(seen)
                added.append(out)
                number += 1
            for out in added:
                x = numbers.rounded(x + out)
            for network in layer.networks:
                x = numbers.rounded(x + applied(network, x, numbers))
        return x

    def _predicted(self, x: Array) -> list[Token]:
        """Take the largest logit of every factor; remember the margins."""
        chosen, margins = [], []
        for part in self.model.factors:
            logits = part.logits(x, self.numbers)
            best = logits.argmax(axis=0)
            margins.append(_margin(logits, best))
            chosen.append([part.values[int(number)] for number in best])
        self.margins.append(np.stack(margins))
        return [self.model.token(values) for values in zip(*chosen, strict=True)]


def columns(fields: Fields, vectors: Sequence[Coordinates], numbers: Arithmetic) -> Array:
    """Return vectors, given by the coordinates that are not zero, as columns."""
    x = numbers.zeros(fields.size, len(vectors))
    for place, vector in enumerate(vectors):
        for key, value in vector.items():
            x[fields.index[key], place] = numbers.constant(value)
    return x


def _margin(logits: Array, best: Array) -> Array:
    """Return how far the largest logit is above the next."""
    if len(logits) < 2:
        return np.full(logits.shape[1], np.inf)
    rest = logits.copy()
    top = logits[best, np.arange(logits.shape[1])]
    rest[best, np.arange(logits.shape[1])] = logits.min(axis=0) - 1
    return np.asarray(top - rest.max(axis=0)).astype(float)
