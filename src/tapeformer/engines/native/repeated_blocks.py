"""Equal parts within a head: a guess, from the shapes of factors, of what it fetches several times.

A head may fetch several copies of one structure, one after another. Their factors then have the
same sizes in the same order, and few gates read more than one copy. It decides speed only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tapeformer.engines.logic.symbolic_position import Logic
from tapeformer.engines.native.usage_similarity import Inputs

MOST_COPIES = 12

APART = 0.25
"""The share of gates that may read several copies."""

Reads = Counter[int]
"""How many gates depend on a set of places in the lists of heads, each set a number's bits."""


@dataclass(frozen=True)
class Repeat:
    """A block of factors that stands several times in a row in the list of a head."""

    start: int
    block: int
    count: int

    @property
    def saved(self) -> int:
        """Places that are copies of others."""
        return self.block * (self.count - 1)

    def masks(self) -> list[int]:
        """The places of each copy."""
        whole = (1 << self.block) - 1
        return [whole << self.start + copy * self.block for copy in range(self.count)]


@dataclass(frozen=True)
class Place:
    """Where a factor stands: in which copy, of which block, and at which place of it."""

    copy: int
    block: int
    index: int


def _owned_by_heads(inputs: Inputs) -> dict[int, list[int]]:
    """For each head the factors that it alone fetches, in order."""
    heads: dict[int, set[int]] = {}
    for bit, (factor, _) in inputs.source_of.items():
        heads.setdefault(factor, set()).add(inputs.head_of[bit])
    owned: dict[int, list[int]] = {}
    for factor, found in sorted(heads.items()):
        if len(found) == 1:
            owned.setdefault(min(found), []).append(factor)
    return owned


def places_of(logic: Logic, inputs: Inputs, most: int) -> dict[int, Place]:
    """The place of each factor that one head fetches; heads with equal lists have equal places."""
    owned = _owned_by_heads(inputs)
    alike: dict[tuple[int, ...], list[int]] = {}
    for head, factors in owned.items():
        alike.setdefault(tuple(len(logic.token[f]) for f in factors), []).append(head)
    places: dict[int, Place] = {}
    for shapes, heads in alike.items():
        index_of = {f: i for head in heads for i, f in enumerate(owned[head])}
        reads = _reads(logic, inputs, index_of)
        found = list(_repeats(shapes, 0, len(shapes), min(most, MOST_COPIES), reads))
        for head in heads:
            places |= _numbered(owned[head], sorted(found, key=lambda repeat: repeat.start))
    return places


def _reads(logic: Logic, inputs: Inputs, index_of: dict[int, int]) -> Reads:
    """The sets of places that gates depend on, by way of heads."""
    sources = inputs.source_of.items()
    seen = {bit: 1 << index_of[factor] for bit, (factor, _) in sources if factor in index_of}
    reads: Reads = Counter()
    for number, gate in enumerate(logic.gates):
        found = 0
        for literal in gate.literals:
            found |= seen.get(literal >> 1, 0)
        if found:
            seen[number] = found
            reads[found] += 1
    return reads


def _repeats(
    shapes: Sequence[int], low: int, high: int, most: int, reads: Reads
) -> Iterator[Repeat]:
    """The repeats of a stretch of a list: the one that saves most, then what is beside it."""
    best, most_worth = None, 0.0
    for repeat in sorted(_candidates(shapes, low, high, most), key=lambda r: -r.saved):
        if repeat.saved <= most_worth:
            break
        worth = _worth(repeat, reads)
        if worth > most_worth:
            best, most_worth = repeat, worth
    if best is not None:
        yield best
        yield from _repeats(shapes, low, best.start, most, reads)
        yield from _repeats(shapes, best.start + best.block * best.count, high, most, reads)


def _candidates(shapes: Sequence[int], low: int, high: int, most: int) -> Iterator[Repeat]:
    """Every block of two factors or more that stands several times in a row, by equal sizes."""
    for block in range(2, (high - low) // 2 + 1):
        run = 0
        for index in range(low, high - block):
            run = run + 1 if shapes[index] == shapes[index + block] else 0
            for count in range(2, min(most, run // block + 1) + 1):
                yield Repeat(index + 1 - block * (count - 1), block, count)


def _worth(repeat: Repeat, reads: Reads) -> float:
    """The places saved; the less, the more gates read several copies."""
    one = several = 0
    masks = repeat.masks()
    for found, gates in reads.items():
        copies = sum(bool(found & mask) for mask in masks)
        one += gates * (copies == 1)
        several += gates * (copies > 1)
    return repeat.saved * (1 - several / (APART * max(1, one + several)))


def _numbered(factors: Sequence[int], repeats: Sequence[Repeat]) -> dict[int, Place]:
    """Places from repeats; a factor outside of them is a block of its own."""
    places = {}
    for number, repeat in enumerate(repeats):
        for offset in range(repeat.block * repeat.count):
            copy, index = divmod(offset, repeat.block)
            places[factors[repeat.start + offset]] = Place(copy, number, index)
    for index, factor in enumerate(factors):
        places.setdefault(factor, Place(0, -1, index))
    return places
