"""Where the bits of a token stand for one stream: equal parts of a model share a word.

Lanes form a grid of heads and copies. What only one head fetches stands in one of its lanes, or in
all of them where it belongs to no copy. A factor that no head fetches stands with those that it is
used with, in the word of a factor that is used alike elsewhere. All this is a guess from the
weights about what is alike; it decides speed only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tapeformer.engines.logic.symbolic_position import Logic
from tapeformer.engines.native.label_propagation import most, near, voted
from tapeformer.engines.native.repeated_blocks import places_of
from tapeformer.engines.native.usage_similarity import Use, inputs_of, matched, uses_of

MOST_LANES = 64


@dataclass(frozen=True)
class Lane:
    """The place of a bit in a word: without a copy, in all of the head's; without a head, in all."""

    head: int | None = None
    copy: int | None = None


@dataclass(frozen=True)
class Grid:
    """The lanes of a word: a row of heads for each copy."""

    width: int
    copies: int

    def numbers(self, lane: Lane) -> list[int]:
        """The bits of a word that hold a bit; none where all do."""
        if lane.head is None:
            return []
        copies = range(self.copies) if lane.copy is None else [lane.copy]
        return [lane.head + self.width * copy for copy in copies]

    def seen_from(self, lane: Lane, number: int) -> int:
        """The lane of a bit that is nearest to another lane, as its number."""
        if lane.head is None:
            return number
        copy = number // self.width if lane.copy is None else lane.copy
        return lane.head + self.width * copy

    def lane(self, number: int) -> Lane:
        """The lane with a number."""
        copy, head = divmod(number, self.width)
        return Lane(head, copy)


@dataclass(frozen=True)
class Seat:
    """A word of the token, and a lane of it."""

    word: int
    lane: Lane


class Seating:
    """`seats` has a seat for each value of each factor, `brought` the lanes of bits from heads."""

    def __init__(self, logic: Logic) -> None:
        self.logic = logic
        self.width = 1 + max((fetched.head for fetched in logic.fetched), default=0)
        self.inputs = inputs_of(logic)
        self.places = places_of(logic, self.inputs, MOST_LANES // self.width)
        copies = 1 + max((place.copy for place in self.places.values()), default=0)
        self.grid = Grid(self.width, copies)
        fetched = {factor for factor, _ in self.inputs.source_of.values()}
        self.free = [f for f in range(len(logic.token)) if f not in fetched]
        self.heads, self.copies = self._voted()
        self.uses = uses_of(logic, self.inputs, self.heads)
        self.word_of, words = self._fetched_words()
        self._seat_free(words)
        self.lanes = [self._lane(factor) for factor in range(len(logic.token))]
        self.brought = {
            bit: Lane(self.inputs.head_of[bit], self.lanes[factor].copy)
            for bit, (factor, _) in self.inputs.source_of.items()
        }
        self.seats = tuple(self._row(factor) for factor in range(len(logic.token)))

    def _lane(self, factor: int) -> Lane:
        head = self.heads.get(factor)
        return Lane(head, None if head is None else self.copies.get(factor))

    def _row(self, factor: int) -> tuple[Seat, ...]:
        word, lane = self.word_of[factor], self.lanes[factor]
        return tuple(Seat(word + value, lane) for value in range(self._size(factor)))

    def _voted(self) -> tuple[dict[int, int], dict[int, int]]:
        """The head and the copy of each factor; voted for where no head fetches it."""
        source_of, head_of = self.inputs.source_of, self.inputs.head_of
        owner = {source_of[bit][0]: head for bit, head in head_of.items()}
        heads = {factor: owner[factor] for factor in self.places}
        copies = {f: place.copy for f, place in self.places.items() if place.block >= 0}
        copied = {bit: copies[f] for bit, (f, _) in source_of.items() if f in copies}
        free = {bit: f for bit, (f, _) in self.inputs.value_of.items() if f not in owner}
        heads |= voted(self.logic, free, self._of_bits(heads) | head_of, near)
        copies |= voted(self.logic, free, self._of_bits(copies) | copied, most)
        return heads, copies

    def _of_bits(self, numbers: Mapping[int, int]) -> dict[int, int]:
        """The numbers of factors as those of their bits."""
        return {b: numbers[f] for b, (f, _) in self.inputs.value_of.items() if f in numbers}

    def from_the_middle(self) -> list[int]:
        """The factors that have a head, those of middle heads first."""
        return sorted(self.heads, key=lambda f: (abs(self.heads[f] - self.width // 2), f))

    def _fetched_words(self) -> tuple[dict[int, int], int]:
        """Factors at one place of a copy share a word, if they are of one size."""
        starts: dict[tuple[int, ...], int] = {}
        word_of: dict[int, int] = {}
        width = 0
        for factor in sorted({factor for factor, _ in self.inputs.source_of.values()}):
            place, size = self.places.get(factor), self._size(factor)
            key = (factor,) if place is None else (place.block, place.index, size)
            if key not in starts:
                starts[key] = width
                width += size
            word_of[factor] = starts[key]
        return word_of, width

    def _size(self, factor: int) -> int:
        return len(self.logic.token[factor])

    def _seat_free(self, words: int) -> None:
        """Lane by lane, from the middle: a factor takes the word that is used most alike."""
        known: dict[tuple[object, ...], dict[int, Use]] = {}
        for factors in self._by_lane():
            self._match(factors, known)
            for factor in factors:
                if factor not in self.word_of:
                    known.setdefault(self._kind(factor), {})[words] = self._use(factor)
                    self.word_of[factor] = words
                    words += self._size(factor)

    def _match(
        self, factors: list[int], known: Mapping[tuple[object, ...], dict[int, Use]]
    ) -> None:
        """Seats factors of one lane in words that are used alike in others."""
        for kind in dict.fromkeys(map(self._kind, factors)):
            mine = {f: self._use(f) for f in factors if self._kind(f) == kind}
            if factors[0] in self.heads:
                self.word_of |= matched(mine, known.get(kind, {}))

    def _kind(self, factor: int) -> tuple[object, ...]:
        """Only factors of one kind may share a word."""
        lane = self._lane(factor)
        return lane.head is None, lane.copy is None, self._size(factor)

    def _use(self, factor: int) -> Use:
        return self.uses.get(factor, Use())

    def _by_lane(self) -> Iterator[list[int]]:
        """Factors without a word, lane by lane from the middle; those in all lanes one by one."""
        lanes: dict[Lane, list[int]] = {}
        for factor in self.free:
            if factor in self.heads and factor not in self.word_of:
                lanes.setdefault(self._lane(factor), []).append(factor)
        middle = self.width // 2
        order = sorted(lanes, key=lambda lane: (abs((lane.head or 0) - middle), lane.copy or 0))
        yield from (lanes[lane] for lane in order)
        yield from ([factor] for factor in self.free if factor not in self.heads)
