"""What is known of the bits of a model: which of them can never be 1 together.

A bit knows the bits that are 1, and those that are 0, whenever it is 1 itself; both are sets of
bit numbers held in one Python integer. Tokens are one-hot in each factor whatever the weights are,
because every factor's value is an argmax. All else follows from the weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations

MOST_CHOICES = 6
"""Disjunctions that a bit remembers."""

Term = tuple[int, int]
"""A bit (or number) and its coefficient."""


MOST_QUESTIONS = 500_000
"""Pairs looked at before a model counts as too intricate."""


class NotLogicError(Exception):
    """The model cannot be turned into gates; the message says why."""


@dataclass
class Known:
    """Consequences of one bit being 1: `choices` has sets of which one bit is 1."""

    true: int
    false: int
    choices: list[tuple[int, ...]] = field(default_factory=list)


@dataclass(frozen=True)
class Clique:
    """Terms of which at most one is not zero; `complete` where exactly one is not.

    `low` and `high` bound their sum.
    """

    terms: tuple[Term, ...]
    complete: bool
    low: int
    high: int


def clique_of(terms: Sequence[Term], complete: bool = False) -> Clique:
    """The clique of some terms."""
    values = [coefficient for _, coefficient in terms]
    if not complete:
        values.append(0)
    return Clique(tuple(terms), complete, min(values), max(values))


class Pairs:
    """A symmetric relation: the bits that each bit is related to, as a number's bits."""

    def __init__(self) -> None:
        self.rows: dict[int, int] = {}

    def add(self, left: int, right: int) -> None:
        """Relates two bits."""
        self.rows[left] = self.rows.get(left, 0) | 1 << right
        self.rows[right] = self.rows.get(right, 0) | 1 << left

    def remove(self, left: int, right: int) -> None:
        """Takes it back, if it was so."""
        self.rows[left] = self.rows.get(left, 0) & ~(1 << right)
        self.rows[right] = self.rows.get(right, 0) & ~(1 << left)


class Facts:
    """Knowledge of all bits, in the order in which they were made."""

    def __init__(self) -> None:
        self.known: dict[int, Known] = {}
        self.groups: dict[int, tuple[int, ...]] = {}
        self._yes, self._no = Pairs(), Pairs()
        self._recent: list[Term] = []
        self._asked = 0

    def one_hot(self, bits: Sequence[int]) -> None:
        """Exactly one of the bits is 1."""
        every = sum(1 << bit for bit in bits)
        for bit in bits:
            self.known[bit] = Known(1 << bit, every & ~(1 << bit))
            self.groups[bit] = tuple(bits)

    def free(self, bit: int) -> None:
        """A bit of which nothing is known."""
        self.known[bit] = Known(1 << bit, 0)

    def is_free(self, bit: int) -> bool:
        """Whether nothing is known of a bit."""
        return self.known[bit] == Known(1 << bit, 0)

    def exclusive(self, left: int, right: int) -> bool:
        """Whether two bits are proven never to be 1 together."""
        if self._yes.rows.get(left, 0) >> right & 1:
            return True
        if self._no.rows.get(left, 0) >> right & 1:
            return False
        self._asked += 1
        if self._asked > MOST_QUESTIONS:
            raise NotLogicError("the weights are too intricate to be turned into gates")
        found = self._proven(left, right)
        (self._yes if found else self._no).add(left, right)
        self._recent.append((left, right))
        return found

    def assume(self, sets: Iterable[Sequence[int]]) -> list[list[Term]]:
        """Takes the bits of each set for exclusive; answers the pairs of which it is not proven."""
        found = [
            [(a, b) for a, b in combinations(sorted(bits), 2) if not self.exclusive(a, b)]
            for bits in sets
        ]
        for left, right in chain.from_iterable(found):
            self._no.remove(left, right)
            self._yes.add(left, right)
        self._recent = []
        return found

    def withdraw(self, assumed: Iterable[Sequence[Term]]) -> None:
        """Takes assumptions back, and all that was proven since."""
        for left, right in [*self._recent, *chain.from_iterable(assumed)]:
            self._yes.remove(left, right)
            self._no.remove(left, right)
        for left, right in chain.from_iterable(assumed):
            self._no.add(left, right)

    def _proven(self, left: int, right: int) -> bool:
        a, b = self.known[left], self.known[right]
        return (
            _clash(a, b)
            or self._no_choice(a, right)
            or self._no_choice(b, left)
            or any(self._no_pair(one, other) for one in a.choices for other in b.choices)
        )

    def _no_choice(self, one: Known, other: int) -> bool:
        """Whether some disjunction of one bit leaves nothing that goes with the other."""
        return any(all(self._apart(bit, other) for bit in choice) for choice in one.choices)

    def _no_pair(self, one: Sequence[int], other: Sequence[int]) -> bool:
        """Whether two disjunctions leave no pair of bits that go together."""
        return all(self._apart(left, right) for left in one for right in other)

    def _apart(self, left: int, right: int) -> bool:
        return left != right and self.exclusive(left, right)

    def cliques(self, terms: Sequence[Term], first: Iterable[int] = ()) -> list[Clique]:
        """The terms in sets that exclude each other, by sign; some bits may go first.

        All the values of a factor are one set whatever their signs are.
        """
        whole = self._whole_factors(terms)
        if first:
            coefficients = dict(terms)
            order = dict.fromkeys([*(bit for bit in first if bit in coefficients), *coefficients])
            terms = [(bit, coefficients[bit]) for bit in order]
        sets: list[list[Term]] = []
        masks: list[int] = []
        for term in terms:
            if term[0] not in whole:
                home = self._home(term, sets, masks)
                if home == len(sets):
                    sets.append([])
                    masks.append(0)
                sets[home].append(term)
                masks[home] |= 1 << term[0]
        alone = [clique_of(s) for s in sets]
        return [clique_of(terms, complete=True) for terms in set(whole.values())] + alone

    def _whole_factors(self, terms: Sequence[Term]) -> dict[int, tuple[Term, ...]]:
        """The bits whose whole factor is among the terms, each with all of them."""
        coefficients = dict(terms)
        groups = {self.groups[node] for node, _ in terms if node in self.groups}
        return {
            bit: tuple((b, coefficients[b]) for b in group)
            for group in groups
            if all(bit in coefficients for bit in group)
            for bit in group
        }

    def _home(self, term: Term, sets: list[list[Term]], masks: list[int]) -> int:
        """The first set of terms of one sign with which a term goes; their number for a new one."""
        bit, coefficient = term
        for index, others in enumerate(sets):
            if (others[0][1] > 0) == (coefficient > 0) and self._excludes(bit, masks[index]):
                return index
        return len(sets)

    def _excludes(self, bit: int, others: int) -> bool:
        """Whether a bit is never 1 together with any of a set."""
        left = others & ~(self.known[bit].false | self._yes.rows.get(bit, 0))
        if left & self._no.rows.get(bit, 0):
            return False
        while left:
            lowest = left & -left
            if not self.exclusive(bit, lowest.bit_length() - 1):
                return False
            left ^= lowest
        return True

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
