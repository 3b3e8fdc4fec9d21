"""Where the bits of a token stand for one stream: equal parts of a model share a word.

Lanes form a grid of heads and copies. What only one head fetches stands in one of its lanes, or in
all of them where it belongs to no copy. A factor that no head fetches stands with those that it is
used with, in the word of a factor that is used alike elsewhere. All this is a guess from the
weights about what is alike; it decides speed only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tapeformer.engines.nativecode.copies import places_of
from tapeformer.engines.nativecode.logic import Logic
from tapeformer.engines.nativecode.votes import most, near, voted

MOST_LANES = 64

ALIKE = 0.3
"""Factors of two lanes share a word if so much of their use is alike."""

Use = Counter[tuple[object, ...]]
"""What a factor is used for, and how often."""


@dataclass(frozen=True)
class Lane:
    """The place of a bit in a word: without a copy, in all of the head's; without a head, in all."""

    head: int | None = None
    copy: int | None = None


@dataclass(frozen=True)
class Grid:
    """The lanes of a word."""

    heads: int
    copies: int

    def numbers(self, lane: Lane) -> list[int]:
        """The bits of a word that hold a bit; none where all do."""
        if lane.head is None:
            return []
        copies = range(self.copies) if lane.copy is None else [lane.copy]
        return [lane.head + self.heads * copy for copy in copies]

    def seen_from(self, lane: Lane, number: int) -> int:
        """The lane of a bit that is nearest to another lane, as its number."""
        if lane.head is None:
            return number
        return lane.head + self.heads * (number // self.heads if lane.copy is None else lane.copy)


@dataclass(frozen=True)
class Seat:
    """A word of the token, and a lane of it."""

    word: int
    lane: Lane


class Seating:
    """`seats` has a seat for each value of each factor, `brought` the lanes of bits from heads."""

    def __init__(self, logic: Logic) -> None:
        self.logic = logic
        heads = 1 + max((fetched.head for fetched in logic.fetched), default=0)
        self.places = places_of(logic, MOST_LANES // heads)
        copies = 1 + max((place.copy for place in self.places.values()), default=0)
        self.grid = Grid(heads, copies)
        self.value_of = {
            bit >> 1: (factor, value)
            for factor, bits in enumerate(logic.token)
            for value, bit in enumerate(bits)
            if bit > 1
        }
        self.source_of = {f.literal >> 1: self.value_of[f.source >> 1] for f in logic.fetched}
        self.fetched = sorted({factor for factor, _ in self.source_of.values()})
        self.lanes = self._lanes()
        self.brought = {
            f.literal >> 1: Lane(f.head, self.lanes[self.source_of[f.literal >> 1][0]].copy)
            for f in logic.fetched
        }
        self.seats = self._seats()

    def _lanes(self) -> list[Lane]:
        """The lane of each factor; for those that no head fetches, head and copy are voted for."""
        owner = {self.source_of[f.literal >> 1][0]: f.head for f in self.logic.fetched}
        heads = {factor: owner[factor] for factor in self.places}
        copies = {f: place.copy for f, place in self.places.items() if place.block >= 0}
        brought = {f.literal >> 1: f.head for f in self.logic.fetched}
        copied = {g: copies[f] for g, (f, _) in self.source_of.items() if f in copies}
        free = {g: f for g, (f, _) in self.value_of.items() if f not in owner}
        heads |= voted(self.logic, free, self._of_token(heads) | brought, near)
        copies |= voted(self.logic, free, self._of_token(copies) | copied, most)
        factors = range(len(self.logic.token))
        return [Lane(heads.get(f), copies.get(f) if f in heads else None) for f in factors]

    def _of_token(self, numbers: Mapping[int, int]) -> dict[int, int]:
        """The numbers of factors as those of their bits."""
        return {g: numbers[f] for g, (f, _) in self.value_of.items() if f in numbers}

    def _free(self) -> list[int]:
        return [f for f in range(len(self.logic.token)) if f not in self.fetched]

    def from_the_middle(self) -> list[int]:
        """The factors that have a head, those of middle heads first."""
        middle = self.grid.heads // 2
        heads = [(abs(lane.head - middle), f) for f, lane in enumerate(self.lanes) if lane.head is not None]
        return [factor for _, factor in sorted(heads)]

    def _seats(self) -> tuple[tuple[Seat, ...], ...]:
        """Words for what heads fetch, then for all else."""
        word_of, width = self._fetched_words()
        self._seat_free(word_of, width)
        return tuple(
            tuple(Seat(word_of[f] + value, self.lanes[f]) for value in range(len(bits)))
            for f, bits in enumerate(self.logic.token)
        )

    def _fetched_words(self) -> tuple[dict[int, int], int]:
        """Factors at one place of a copy share a word, if they are of one size."""
        starts: dict[tuple[int, ...], int] = {}
        word_of: dict[int, int] = {}
        width = 0
        for factor in self.fetched:
            place, size = self.places.get(factor), len(self.logic.token[factor])
            key = (factor,) if place is None else (place.block, place.index, size)
            if key not in starts:
                starts[key] = width
                width += size
            word_of[factor] = starts[key]
        return word_of, width

    def _seat_free(self, word_of: dict[int, int], width: int) -> None:
        """Lane by lane, from the middle: a factor takes the word that is used most alike."""
        uses = self._uses(word_of)
        words: list[Word] = []
        for factors in self._by_lane():
            lane = self.lanes[factors[0]]
            kind = lane.head is None, lane.copy is None
            sizes = {factor: (*kind, len(self.logic.token[factor])) for factor in factors}
            for factor, found in _matched(sizes, uses, words).items():
                if found is None:
                    words.append(Word(width, sizes[factor], uses[factor]))
                    width += len(self.logic.token[factor])
                word_of[factor] = words[-1].number if found is None else found

    def _by_lane(self) -> list[list[int]]:
        """Free factors, lane by lane from the middle; those in all lanes one by one."""
        lanes: dict[Lane, list[int]] = {}
        for factor in self._free():
            if self.lanes[factor].head is not None:
                lanes.setdefault(self.lanes[factor], []).append(factor)
        middle = self.grid.heads // 2
        order = sorted(lanes, key=lambda lane: (abs((lane.head or 0) - middle), lane.copy or 0))
        return [lanes[lane] for lane in order] + [
            [factor] for factor in self._free() if self.lanes[factor].head is None
        ]

    def _uses(self, word_of: Mapping[int, int]) -> dict[int, Use]:
        """The gates that read each free factor, by what else they read."""
        uses: dict[int, Use] = {factor: Counter() for factor in self._free()}
        for gate in self.logic.gates:
            for literal in gate.literals:
                factor, value = self.value_of.get(literal >> 1, (-1, 0))
                if factor in uses:
                    own = (value, literal & 1, gate.kind)
                    head = self.lanes[factor].head or 0
                    for other in gate.literals:
                        uses[factor][(*own, other & 1, *self._seen(other, head, word_of))] += 1
        return uses

    def _seen(self, literal: int, head: int, word_of: Mapping[int, int]) -> tuple[object, ...]:
        """What an operand looks like from a head."""
        gate = literal >> 1
        if gate in self.source_of:
            factor, value = self.source_of[gate]
            return "fetched", word_of[factor] + value, (self.brought[gate].head or 0) - head
        if gate in self.value_of:
            factor, value = self.value_of[gate]
            return "token", value, len(self.logic.token[factor])
        return self.logic.gates[gate].kind, len(self.logic.gates[gate].literals)


@dataclass(frozen=True)
class Word:
    """The first word of factors of one size in different lanes, and the use of one of them."""

    number: int
    size: tuple[bool, bool, int]
    use: Use


def _matched(
    sizes: Mapping[int, tuple[bool, bool, int]], uses: Mapping[int, Use], words: Sequence[Word]
) -> dict[int, int | None]:
    """For each factor of a lane the word used most alike, each word once; None for a new one."""
    pairs = [
        (_alike(uses[factor], word.use), factor, word.number)
        for factor, size in sizes.items()
        for word in words
        if word.size == size and not size[0]
    ]
    chosen: dict[int, int | None] = {}
    for alike, factor, word in sorted(pairs, key=lambda pair: -pair[0]):
        if alike >= ALIKE and factor not in chosen and word not in chosen.values():
            chosen[factor] = word
    return {factor: chosen.get(factor) for factor in sizes}


def _alike(left: Use, right: Use) -> float:
    """What two uses share, from 0 to 1."""
    shared = sum((left & right).values())
    return shared / max(1, left.total() + right.total() - shared)
