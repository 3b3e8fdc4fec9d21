"""One attention head: score, choice among the scores, mask, and a cache of keys and values.

Hard attention: a query takes the values at the largest score. `average` takes the mean of all of
them (their sum from left to right, then one division), `leftmost` and `rightmost` one of them. A
head without a query is the uniform mean. An empty choice gives zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tapeformer.laboratory.arithmetic import Arithmetic, Array
from tapeformer.laboratory.coordinates import Network, applied

Score = Literal["dot", "negative distance", "at most two"]
Choice = Literal["average", "leftmost", "rightmost"]
Mask = Literal["causal", "strict", "memory"]

BLOCK = 256
"""Queries that are scored together."""


@dataclass(frozen=True)
class Head:
    """A head: `value` leads back to the residual coordinates.

    With `offset` the scores come from the distance alone (2 so far back, 1 at the token itself, 0
    elsewhere), as in relative positional encodings: the token so far back, or itself if there is none.
    With `codes` queries and keys are vectors of +-1, keys all different: a match has the largest
    score in every arithmetic (partial sums 0, -1 and below), so it is looked up instead of scored.
    """

    name: str
    value: Network
    query: Network = ()
    key: Network = ()
    score: Score = "dot"
    choice: Choice = "average"
    mask: Mask = "causal"
    offset: int | None = None
    codes: bool = False

    @property
    def uniform(self) -> bool:
        """Whether all visible positions count alike."""
        return not self.query and self.offset is None


@dataclass(frozen=True)
class Attended:
    """What queries took: the first and last place, how many, and the score they have in common."""

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    count: NDArray[np.int64]
    score: Array


@dataclass
class Cache:
    """Keys and values of the positions so far, and their running sum for uniform heads."""

    keys: list[Array] = field(default_factory=list)
    values: list[Array] = field(default_factory=list)
    total: Array | None = None
    seen: int = 0

    def add(self, keys: Array | None, values: Array) -> None:
        """Append positions; arrays are joined when they are next read."""
        self.seen += values.shape[1]
        self.values.append(values)
        if keys is not None:
            self.keys.append(keys)

    def joined(self) -> tuple[Array | None, Array]:
        """Return keys and values of all positions."""
        for parts in (self.keys, self.values):
            if len(parts) > 1:
                parts[:] = [np.concatenate(parts, axis=1)]
        return (self.keys[0] if self.keys else None), self.values[0]


def attend(head: Head, x: Array, cache: Cache, numbers: Arithmetic) -> tuple[Array, Attended]:
    """Return what a head adds to each new position, and what it attended to there."""
    before = cache.seen
    if head.mask != "memory":
        remember(head, x, cache, numbers)
    places = np.arange(before, before + x.shape[1])
    if head.uniform:
        return _mean(head, places, cache, numbers)
    keys, values = cache.joined()
    out = numbers.zeros(values.shape[0], x.shape[1])
    seen = [
        _block(
            head,
            x[:, a : a + BLOCK],
            places[a : a + BLOCK],
            keys,
            numbers,
            values,
            out[:, a : a + BLOCK],
        )
        for a in range(0, x.shape[1], BLOCK)
    ]
    return out, Attended(*(np.concatenate([getattr(s, n) for s in seen]) for n in _NAMES))


_NAMES = ("first", "last", "count", "score")


def remember(head: Head, x: Array, cache: Cache, numbers: Arithmetic) -> None:
    """Keep keys and values of new positions."""
    keys = applied(head.key, x, numbers) if head.key else None
    cache.add(keys, applied(head.value, x, numbers))


def _block(
    head: Head,
    x: Array,
    places: NDArray[np.int64],
    keys: Array | None,
    numbers: Arithmetic,
    values: Array,
    out: Array,
) -> Attended:
    """Attend from a block of queries; what they fetch is written to `out`."""
    if head.offset is not None:
        chosen = np.where(places >= head.offset, places - head.offset, places)
        out[:] = values[:, chosen]
        return Attended(chosen, chosen, np.ones_like(chosen), numbers.zeros(len(chosen)))
    assert keys is not None
    query = applied(head.query, x, numbers)
    if head.codes:
        found = _matches(query, keys, places)
        if found is not None:
            out[:] = values[:, found]
            return Attended(found, found, np.ones_like(found), numbers.zeros(len(found)))
    scores = _scores(head, query, keys, numbers)
    return _choose(head, scores, places, values, out, numbers)


def _matches(query: Array, keys: Array, places: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the visible key that equals each query's code; None where there is not exactly one."""
    named = query[0::2] > 0
    known = keys[0::2] > 0
    powers = 1 << np.arange(len(known), dtype=np.int64)
    codes, wanted = powers @ known, powers @ named
    order = np.argsort(codes, kind="stable")
    at = np.searchsorted(codes[order], wanted)
    if len(np.unique(codes)) < len(codes) or (at >= len(codes)).any():
        return None
    found = order[at]
    return found if ((codes[found] == wanted) & (found <= places)).all() else None


def _scores(head: Head, query: Array, keys: Array, numbers: Arithmetic) -> Array:
    scores: Array | None = None
    for q, k in zip(query, keys, strict=True):
        part = numbers.rounded(q[:, None] * k[None, :])
        scores = part if scores is None else numbers.rounded(scores + part)
    assert scores is not None
    if head.score == "at most two":
        return np.asarray(np.minimum(scores, numbers.constant(2)))
    return -np.abs(scores) if head.score == "negative distance" else scores


def _choose(
    head: Head,
    scores: Array,
    places: NDArray[np.int64],
    values: Array,
    out: Array,
    numbers: Arithmetic,
) -> Attended:
    columns = np.arange(scores.shape[1])
    if head.mask != "memory":
        visible = columns[None, :] < places[:, None] + (head.mask == "causal")
        scores = np.where(visible, scores, numbers.lowest)
    if not len(columns):
        nothing = np.zeros(len(places), np.int64)
        return Attended(nothing, nothing, nothing, numbers.zeros(len(places)))
    best = scores.max(axis=1)
    chosen = (scores == best[:, None]) & (scores != numbers.lowest)
    count = chosen.sum(axis=1)
    first = chosen.argmax(axis=1)
    last = scores.shape[1] - 1 - chosen[:, ::-1].argmax(axis=1)
    at = last if head.choice == "rightmost" else first
    some = count > 0
    out[:, some] = values[:, at[some]]
    if head.choice == "average" and (count > 1).any():
        rows = np.flatnonzero(count > 1)
        out[:, rows] = _averages(chosen[rows], values, count[rows], numbers)
    return Attended(first, last, count, best)


def _averages(
    chosen: NDArray[np.bool_], values: Array, count: NDArray[np.int64], numbers: Arithmetic
) -> Array:
    """Return sums of the chosen values from left to right, divided by their number."""
    out = numbers.zeros(values.shape[0], len(chosen))
    used = np.flatnonzero((values != 0).any(axis=1))
    for place in np.flatnonzero(chosen.any(axis=0)):
        rows = np.flatnonzero(chosen[:, place])
        at = np.ix_(used, rows)
        out[at] = numbers.rounded(out[at] + values[used, place][:, None])
    return numbers.rounded(out / numbers.array(int(n) for n in count))


def _mean(
    head: Head, places: NDArray[np.int64], cache: Cache, numbers: Arithmetic
) -> tuple[Array, Attended]:
    """Return running means over all visible positions: one running sum serves all queries."""
    new = cache.values.pop()
    if cache.total is None:
        cache.total = numbers.zeros(new.shape[0])
    strict = head.mask == "strict"
    out = numbers.zeros(*new.shape)
    used = np.flatnonzero((new != 0).any(axis=1) | (cache.total != 0))
    for column in range(new.shape[1]):
        before = cache.total[used]
        cache.total[used] = numbers.rounded(before + new[used, column])
        out[used, column] = before if strict else cache.total[used]
    count = places + (0 if strict else 1)
    out = numbers.rounded(out / numbers.array(max(int(n), 1) for n in count))
    return out, Attended(
        np.zeros_like(places), places - int(strict), count, numbers.zeros(len(places))
    )
