"""One attention head: score, choice among the scores, mask, and a cache of keys and values.

Hard attention: a query takes the values at the largest score. `average` takes the mean of all of
them (their sum from left to right, then one division), `leftmost` and `rightmost` one of them. A
head without a query is the uniform mean. An empty choice gives zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tapeformer.laboratory.arithmetic import NARROW, Arithmetic, Array, Rounded
from tapeformer.laboratory.coordinates import Network, applied

Score = Literal["dot", "negative distance", "at most two"]
Choice = Literal["average", "leftmost", "rightmost"]
Mask = Literal["causal", "strict", "memory"]

BLOCK = 256
"""Queries that are scored together."""
MANY = 64
"""From so many keys on, wide mantissas are computed only for scores that may be the largest."""


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
    seen = []
    for block in (slice(a, a + BLOCK) for a in range(0, x.shape[1], BLOCK)):
        query = applied(head.query, x[:, block], numbers)
        scores = masked_scores(head, query, cache.keys.all(), places[block], numbers)
        seen.append(_choose(head, scores, values, out[:, block], numbers))
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


def masked_scores(
    head: Head, query: Array, keys: Array, places: NDArray[np.int64], numbers: Arithmetic
) -> Array:
    """Return the score of every query and key; the lowest number where the mask hides a key, or
    where the score cannot be the largest."""
    shown = np.ones((query.shape[1], keys.shape[1]), bool)
    if head.mask != "memory":
        columns = np.arange(keys.shape[1])
        shown = columns[None, :] < places[:, None] + (head.mask == "causal")
    if isinstance(numbers, Rounded) and numbers.bits > NARROW and keys.shape[1] >= MANY:
        shown &= _contenders(head, query, keys, shown, numbers.bits)
        rows, columns = np.nonzero(shown)
        scores = np.full(shown.shape, numbers.lowest)
        scores[rows, columns] = _scores(head, query[:, rows], keys[:, columns], numbers)
        return scores
    scores = _scores(head, query[:, :, None], keys[:, None, :], numbers)
    return np.where(shown, scores, numbers.lowest)


def _scores(head: Head, query: Array, keys: Array, numbers: Arithmetic) -> Array:
    """Return sums of products from left to right, every operation rounded."""
    scores: Array | None = None
    for q, k in zip(query, keys, strict=True):
        part = numbers.rounded(q * k)
        scores = part if scores is None else numbers.rounded(scores + part)
    assert scores is not None
    return _shaped(head, scores, numbers.constant(2))


def _shaped(head: Head, scores: Array, two: Any) -> Array:
    if head.score == "at most two":
        return np.asarray(np.minimum(scores, two))
    return -np.abs(scores) if head.score == "negative distance" else scores


def _contenders(
    head: Head, query: Array, keys: Array, shown: NDArray[np.bool_], bits: int
) -> NDArray[np.bool_]:
    """Tell which scores may be the largest, from double precision and a bound on both errors.

    With n products a sum in p bits, and one in double precision, is off by less than
    (n + 3) (2^-p + 2^-52) times the sum of the products' sizes; what is farther than twice that
    below the largest is never chosen, and need not be computed in p bits.
    """
    q, k = query.astype(np.float64), keys.astype(np.float64)
    rough = np.where(shown, _shaped(head, q.T @ k, 2.0), -np.inf)
    size = np.abs(q).T @ np.abs(k).max(axis=1)
    slack = 2 * (len(q) + 3) * (2.0**-bits + 2.0**-52) * size
    if not np.isfinite(slack).all():
        return shown
    return np.asarray(rough >= (rough.max(axis=1) - slack)[:, None])


def _choose(head: Head, scores: Array, values: Array, out: Array, numbers: Arithmetic) -> Attended:
    queries, keys = scores.shape
    if not keys:
        nothing = np.zeros(queries, np.int64)
        return Attended(nothing, nothing, nothing, numbers.zeros(queries))
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
