"""What is known of the bits of a model: which of them can never be 1 together.

A bit knows the bits that are 1, and those that are 0, whenever it is 1 itself; both are sets of
bit numbers held in one Python integer. Tokens are one-hot in each factor whatever the weights are,
because every factor's value is an argmax. All else follows from the weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

MOST_CHOICES = 6
"""Disjunctions that a bit remembers."""

Term = tuple[int, int]
"""A bit (or number) and its coefficient."""


@dataclass
class Known:
    """Consequences of one bit being 1: `choices` has sets of which one bit is 1."""

    true: int
    false: int
    choices: list[tuple[int, ...]] = field(default_factory=list)


@dataclass(frozen=True)
class Clique:
    """Terms of which at most one is not zero; `complete` where exactly one is not."""

    terms: tuple[Term, ...]
    complete: bool

    @property
    def low(self) -> int:
        """The smallest value of the terms' sum."""
        least = min(coefficient for _, coefficient in self.terms)
        return least if self.complete else min(0, least)

    @property
    def high(self) -> int:
        """The largest value of the terms' sum."""
        most = max(coefficient for _, coefficient in self.terms)
        return most if self.complete else max(0, most)


class Facts:
    """Knowledge of all bits, in the order in which they were made."""

    def __init__(self) -> None:
        self.known: dict[int, Known] = {}
        self.groups: dict[int, tuple[int, ...]] = {}
        self._exclusive: dict[Term, bool] = {}

    def one_hot(self, bits: Sequence[int]) -> None:
        """Exactly one of the bits is 1."""
        every = sum(1 << bit for bit in bits)
        for bit in bits:
            self.known[bit] = Known(1 << bit, every & ~(1 << bit))
            self.groups[bit] = tuple(bits)

    def free(self, bit: int) -> None:
        """A bit of which nothing is known."""
        self.known[bit] = Known(1 << bit, 0)

    def exclusive(self, left: int, right: int) -> bool:
        """Whether two bits are proven never to be 1 together."""
        pair = (left, right) if left < right else (right, left)
        found = self._exclusive.get(pair)
        if found is None:
            found = self._exclusive[pair] = self._proven(*pair)
        return found

    def _proven(self, left: int, right: int) -> bool:
        a, b = self.known[left], self.known[right]
        return _clash(a, b) or self._no_choice(a, b) or self._no_choice(b, a)

    def _no_choice(self, one: Known, other: Known) -> bool:
        """Whether some disjunction of one bit leaves nothing that goes with the other."""
        return any(
            all(_clash(self.known[bit], other) for bit in choice) for choice in one.choices
        )

    def cliques(self, terms: Iterable[Term]) -> list[Clique]:
        """The terms in sets that exclude each other; a number that is no bit stands alone."""
        sets: list[list[Term]] = []
        for term in terms:
            home = next((s for s in sets if self._fits(term[0], s)), None)
            if home is None:
                sets.append([term])
            else:
                home.append(term)
        return [Clique(tuple(s), self._complete(s)) for s in sets]

    def _fits(self, bit: int, others: list[Term]) -> bool:
        if bit not in self.known:
            return False
        return all(other in self.known and self.exclusive(bit, other) for other, _ in others)

    def _complete(self, terms: list[Term]) -> bool:
        """Whether the terms are all the values of one factor."""
        group = self.groups.get(terms[0][0], ())
        return len(group) == len(terms) and {bit for bit, _ in terms} == set(group)

    def learn(self, bit: int, cliques: Iterable[Clique]) -> None:
        """A new bit that is 1 just where every clique has its largest value."""
        known = Known(1 << bit, 0)
        for clique in cliques:
            highest = [b for b, c in clique.terms if c == clique.high]
            for other, coefficient in clique.terms:
                if coefficient != clique.high:
                    self._zero(known, other)
            if highest:
                self._one_of(known, highest)
        known.choices = known.choices[:MOST_CHOICES]
        self.known[bit] = known

    def _zero(self, known: Known, bit: int) -> None:
        known.false |= 1 << bit
        group = self.groups.get(bit, ())
        if len(group) == 2:
            other = self.known[group[0] + group[1] - bit]
            known.true |= other.true
            known.false |= other.false

    def _one_of(self, known: Known, bits: list[int]) -> None:
        parts = [self.known[bit] for bit in bits]
        true, false = parts[0].true, parts[0].false
        for part in parts[1:]:
            true &= part.true
            false &= part.false
        known.true |= true
        known.false |= false
        known.choices += parts[0].choices if len(parts) == 1 else [tuple(bits)]


def _clash(a: Known, b: Known) -> bool:
    return bool(a.true & b.false or a.false & b.true)
