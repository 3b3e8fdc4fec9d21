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


class Columns:
    """Columns that are appended; the room doubles, so that a long run does not copy them each time."""

    def __init__(self) -> None:
        self._room: Array | None = None
        self.count = 0

    def add(self, new: Array) -> None:
        """Append columns."""
        end = self.count + new.shape[1]
        if self._room is None or end > self._room.shape[1]:
            room = np.zeros((len(new), 2 * end), new.dtype)
            if self._room is not None:
                room[:, : self.count] = self._room[:, : self.count]
            self._room = room
        self._room[:, self.count : end] = new
        self.count = end

    def all(self) -> Array:
        """Return all columns."""
        assert self._room is not None
        return self._room[:, : self.count]


@dataclass
class Cache:
    """Keys and values of the positions so far; for uniform heads only the sum of the values."""

    keys: Columns = field(default_factory=Columns)
    values: Columns = field(default_factory=Columns)
    total: Array | None = None
    seen: int = 0


def attend(head: Head, x: Array, cache: Cache, numbers: Arithmetic) -> tuple[Array, Attended]:
    """Return what a head adds to each new position, and what it attended to there."""
    places = np.arange(cache.seen, cache.seen + x.shape[1])
    if head.uniform:
        return _mean(head, applied(head.value, x, numbers), places, cache, numbers)
    if head.mask != "memory":
        remember(head, x, cache, numbers)
    values = cache.values.all()
    found = _looked_up(head, x, places, cache, numbers)
    if found is not None:
        nothing = numbers.zeros(len(found))
        return values[:, found], Attended(found, found, np.ones_like(found), nothing)
    out = numbers.zeros(values.shape[0], x.shape[1])
    blocks = [slice(a, a + BLOCK) for a in range(0, x.shape[1], BLOCK)]
    seen = []
    for block in blocks:
        query = applied(head.query, x[:, block], numbers)
        scores = _scores(head, query, cache.keys.all(), numbers)
        seen.append(_choose(head, scores, places[block], values, out[:, block], numbers))
    return out, Attended(*(np.concatenate([getattr(s, n) for s in seen]) for n in _NAMES))


_NAMES = ("first", "last", "count", "score")


def remember(head: Head, x: Array, cache: Cache, numbers: Arithmetic) -> None:
    """Keep keys and values of new positions."""
    if head.key:
        cache.keys.add(applied(head.key, x, numbers))
    cache.values.add(applied(head.value, x, numbers))
    cache.seen += x.shape[1]


def _looked_up(
    head: Head, x: Array, places: NDArray[np.int64], cache: Cache, numbers: Arithmetic
) -> NDArray[np.int64] | None:
    """Return the place that each query takes where it can be told without scores."""
    if head.offset is not None:
        return np.where(places >= head.offset, places - head.offset, places)
    if not head.codes:
        return None
    return _matches(applied(head.query, x, numbers), cache.keys.all(), places)


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
    head: Head, new: Array, places: NDArray[np.int64], cache: Cache, numbers: Arithmetic
) -> tuple[Array, Attended]:
    """Return running means over all visible positions: one running sum serves all queries."""
    cache.seen += len(places)
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
