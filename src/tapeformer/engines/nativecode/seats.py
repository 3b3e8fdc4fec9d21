"""Where the bits of a token stand for one stream: equal parts of a model share a word.

A lane belongs to a head: what only that head fetches stands in its lane, in words given by the
shape of what it fetches. A factor that no head fetches stands in the lane of those that it is
used with. All this is a guess from the weights about what is alike; it decides speed only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tapeformer.engines.nativecode.logic import Logic

MOST_LANES = 64
SPAN = 8
"""A factor used with lanes farther apart than this is in none of them."""

NEAR = 6
"""A gate that depends on more lanes says nothing about where its operands belong."""

WEIGHT = 60
"""What a gate's vote is worth, shared by the lanes that it depends on."""


@dataclass(frozen=True)
class Seat:
    """A word of the token, and a lane of it; without a lane all places hold the same bit."""

    word: int
    lane: int | None


def lanes_of(logic: Logic) -> dict[int, int]:
    """The lane of each factor that has one."""
    factor_of = {bit >> 1: f for f, bits in enumerate(logic.token) for bit in bits if bit > 1}
    heads: dict[int, set[int]] = {}
    owner: dict[int, int] = {}
    for fetched in logic.fetched:
        factor = factor_of.get(fetched.source >> 1)
        if factor is not None:
            heads.setdefault(factor, set()).add(fetched.head)
        owner[fetched.literal >> 1] = fetched.head
    lanes = {factor: min(found) for factor, found in heads.items() if len(found) == 1}
    free = {f for f in factor_of.values() if f not in heads}
    for _ in range(2):
        seen = {gate: 1 << head for gate, head in owner.items()}
        seen |= {gate: 1 << lanes[f] for gate, f in factor_of.items() if f in lanes}
        lanes |= _voted(logic, factor_of, seen, free - set(lanes))
    return lanes


def _voted(
    logic: Logic, factor_of: dict[int, int], seen: dict[int, int], free: set[int]
) -> dict[int, int]:
    """The lane that each free factor is mostly used with, if there is one.

    `seen` has the lanes of the inputs, as a set of bits, and gets those of all gates.
    """
    votes: dict[int, Counter[int]] = {}
    for number, gate in enumerate(logic.gates):
        inputs = [literal >> 1 for literal in gate.literals]
        lanes = 0
        for operand in inputs:
            lanes |= seen.get(operand, 0)
        if inputs:
            seen[number] = lanes
        mine = {factor_of[i] for i in inputs if factor_of.get(i) in free}
        if lanes.bit_count() <= NEAR:
            for factor in mine:
                count = votes.setdefault(factor, Counter())
                for lane in range(lanes.bit_length()):
                    count[lane] += WEIGHT // lanes.bit_count() if lanes >> lane & 1 else 0
    winners = {factor: _winner(count) for factor, count in votes.items()}
    return {factor: lane for factor, lane in winners.items() if lane is not None}


def _winner(count: Counter[int]) -> int | None:
    lanes = [lane for lane, votes in count.items() if votes]
    if not lanes or max(lanes) - min(lanes) > SPAN:
        return None
    return max(lanes, key=lambda lane: (count[lane], lane))


def seats(logic: Logic) -> tuple[tuple[Seat, ...], ...]:
    """A seat for each value of each factor; words that heads fetch come first."""
    lanes = lanes_of(logic)
    fetched = {f.source >> 1 for f in logic.fetched}
    keys: list[tuple[object, ...]] = []
    seen: Counter[tuple[object, ...]] = Counter()
    for factor, bits in enumerate(logic.token):
        lane = lanes.get(factor)
        brought = any(bit >> 1 in fetched for bit in bits)
        shape = (not brought, lane is None, len(bits))
        keys.append((*shape, seen[(*shape, lane)]) if lane is not None else (*shape, factor))
        seen[(*shape, lane)] += 1
    starts = _starts(keys, [len(bits) for bits in logic.token])
    return tuple(
        tuple(Seat(starts[key] + value, lanes.get(factor)) for value in range(len(bits)))
        for factor, (key, bits) in enumerate(zip(keys, logic.token, strict=True))
    )


def _starts(keys: Iterable[tuple[object, ...]], sizes: Iterable[int]) -> dict[object, int]:
    """The first word of each kind of factor."""
    needed = dict(zip(keys, sizes, strict=True))
    starts: dict[object, int] = {}
    total = 0
    for key in sorted(needed, key=repr):
        starts[key] = total
        total += needed[key]
    return starts
