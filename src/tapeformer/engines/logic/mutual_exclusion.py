"""Proves which bits of a model are mutually exclusive: never 1 at the same time.

For each bit we keep what follows if it is 1: the bits that are then 1, and those that are then 0,
each a bit set in one Python integer. Tokens are one-hot in each factor whatever the weights are,
because every factor's value is an argmax. Everything else follows from the weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import NamedTuple, TypeVar

from tapeformer.engines.logic.affine_forms import Term
from tapeformer.engines.logic.not_logic import NotLogicError

MAX_CLAUSES = 6
"""How many clauses to keep for a bit."""

MAX_QUERIES = 500_000
"""How many pairs to decide before a model counts as too intricate."""

T = TypeVar("T")
Pair = tuple[int, int]
"""Two bits."""


@dataclass
class Implications:
    """What follows if a bit is 1: bits that are 1, bits that are 0, and clauses.

    A clause is a bit set too: at least one of its bits is 1.
    """

    true: int
    false: int
    clauses: list[int] = field(default_factory=list)


class Clique(NamedTuple):
    """Terms of which at most one is nonzero, or exactly one if `complete`.

    `low` and `high` bound their sum.
    """

    terms: tuple[Term, ...]
    complete: bool
    low: int
    high: int


@dataclass(slots=True)
class _GrowingClique:
    """A clique under construction: `denied` has the bits that each of its bits implies to be 0.

    A bit that implies any of those to be 1 excludes the whole clique.
    """

    terms: list[Term]
    positive: bool
    bits: int
    denied: int


def clique_of(terms: Sequence[Term], complete: bool = False) -> Clique:
    """Return some terms as a clique, with the bounds of their sum."""
    values = [coefficient for _, coefficient in terms]
    if not complete:
        values.append(0)
    return Clique(tuple(terms), complete, min(values), max(values))


def _bits(numbers: int) -> Iterator[int]:
    """Yield the members of a bit set."""
    while numbers:
        lowest = numbers & -numbers
        yield lowest.bit_length() - 1
        numbers ^= lowest


def distinct(tuples: Iterable[tuple[T, ...]]) -> list[tuple[T, ...]]:
    """Return each tuple once; equal tuples must be the same object."""
    return list({id(one): one for one in tuples}.values())


class SymmetricRelation:
    """A symmetric relation between bits: for each bit, the bit set of those related to it."""

    def __init__(self) -> None:
        self.rows: dict[int, int] = {}

    def add(self, left: int, right: int) -> None:
        """Relate two bits."""
        self.rows[left] = self.rows.get(left, 0) | 1 << right
        self.rows[right] = self.rows.get(right, 0) | 1 << left

    def remove(self, left: int, right: int) -> None:
        """Unrelate two bits."""
        self.rows[left] = self.rows.get(left, 0) & ~(1 << right)
        self.rows[right] = self.rows.get(right, 0) & ~(1 << left)


class MutualExclusion:
    """What is known about all bits, in order of declaration."""

    def __init__(self) -> None:
        self.implications: dict[int, Implications] = {}
        self.factor_of: dict[int, tuple[int, ...]] = {}
        self._exclusive, self._compatible = SymmetricRelation(), SymmetricRelation()
        self._recent: list[Pair] = []
        self._queries = 0
        self._covers: dict[Sequence[Term], list[Clique]] = {}

    def declare_one_hot(self, bits: Sequence[int]) -> None:
        """Declare bits of which exactly one is 1."""
        every, factor = sum(1 << bit for bit in bits), tuple(bits)
        for bit in bits:
            self.implications[bit] = Implications(1 << bit, every & ~(1 << bit))
            self.factor_of[bit] = factor

    def declare_unconstrained(self, bit: int) -> None:
        """Declare a bit about which nothing is known."""
        self.implications[bit] = Implications(1 << bit, 0)

    def is_unconstrained(self, bit: int) -> bool:
        """Check whether nothing is known about a bit."""
        return self.implications[bit] == Implications(1 << bit, 0)

    def are_exclusive(self, left: int, right: int) -> bool:
        """Check whether two bits are proven never to be 1 at the same time."""
        if self._exclusive.rows.get(left, 0) >> right & 1:
            return True
        if self._compatible.rows.get(left, 0) >> right & 1:
            return False
        return self._decide(left, right)

    def _decide(self, left: int, right: int) -> bool:
        """Try to prove that two bits are exclusive, and remember the result."""
        self._queries += 1
        if self._queries > MAX_QUERIES:
            raise NotLogicError("the weights are too intricate to be turned into gates")
        found = self._prove(left, right)
        (self._exclusive if found else self._compatible).add(left, right)
        self._recent.append((left, right))
        return found

    def assume_exclusive(self, groups: Iterable[Sequence[int]]) -> list[list[Pair]]:
        """Assume that the bits of each group are exclusive; return the pairs without a proof."""
        unproven = [
            [(a, b) for a, b in combinations(sorted(bits), 2) if not self.are_exclusive(a, b)]
            for bits in groups
        ]
        for left, right in chain.from_iterable(unproven):
            self._compatible.remove(left, right)
            self._exclusive.add(left, right)
        self._recent = []
        self._covers.clear()
        return unproven

    def retract(self, assumed: Iterable[Sequence[Pair]]) -> None:
        """Retract assumptions, and everything concluded since."""
        for left, right in [*self._recent, *chain.from_iterable(assumed)]:
            self._exclusive.remove(left, right)
            self._compatible.remove(left, right)
        for left, right in chain.from_iterable(assumed):
            self._compatible.add(left, right)
        self._covers.clear()

    def _prove(self, left: int, right: int) -> bool:
        a, b = self.implications[left], self.implications[right]
        if a.true & b.false or a.false & b.true:
            return True
        for clause in a.clauses:
            if self._refutes(right, clause):
                return True
        for clause in b.clauses:
            if self._refutes(left, clause):
                return True
        return any(self._contradict(one, other) for one in a.clauses for other in b.clauses)

    def _refutes(self, bit: int, clause: int) -> bool:
        """Check whether a bit excludes every bit of a clause."""
        return not clause >> bit & 1 and self._excludes(bit, clause)

    def _contradict(self, one: int, other: int) -> bool:
        """Check whether every bit of one clause excludes every bit of another."""
        return not one & other and all(self._excludes(bit, other) for bit in _bits(one))

    def clique_cover(self, terms: tuple[Term, ...], first: Sequence[int] = ()) -> list[Clique]:
        """Split terms greedily into cliques of one sign, starting with the bits in `first`.

        A whole factor is one clique, whatever the signs of its terms.
        """
        if first:
            coefficients = dict(terms)
            order = dict.fromkeys([*(bit for bit in first if bit in coefficients), *coefficients])
            terms = tuple([(bit, coefficients[bit]) for bit in order])
        cover = self._covers.get(terms)
        if cover is None:
            cover = self._covers[terms] = self._greedy_cover(terms)
        return cover

    def _greedy_cover(self, terms: Sequence[Term]) -> list[Clique]:
        whole = self._whole_factors(terms)
        cliques: list[_GrowingClique] = []
        for term in terms:
            if term[0] not in whole:
                self._add_to_first(term, cliques)
        partial = [clique_of(clique.terms) for clique in cliques]
        return [clique_of(terms, complete=True) for terms in distinct(whole.values())] + partial

    def _whole_factors(self, terms: Sequence[Term]) -> dict[int, tuple[Term, ...]]:
        """Return the bits whose whole factor is among the terms, each with its factor's terms."""
        coefficients = dict(terms)
        factors = (self.factor_of[node] for node, _ in terms if node in self.factor_of)
        whole: dict[int, tuple[Term, ...]] = {}
        for factor in distinct(factors):
            if all(bit in coefficients for bit in factor):
                whole |= dict.fromkeys(factor, tuple((bit, coefficients[bit]) for bit in factor))
        return whole

    def _add_to_first(self, term: Term, cliques: list[_GrowingClique]) -> None:
        """Add a term to the first clique that it can join, or to a new one."""
        bit, positive = term[0], term[1] > 0
        implied = self.implications[bit]
        for clique in cliques:
            if clique.positive == positive and (
                clique.denied & implied.true or self._excludes(bit, clique.bits)
            ):
                clique.terms.append(term)
                clique.bits |= 1 << bit
                clique.denied &= implied.false
                return
        cliques.append(_GrowingClique([term], positive, 1 << bit, implied.false))

    def _excludes(self, bit: int, others: int) -> bool:
        """Check whether a bit excludes every bit of a set."""
        if others & self._compatible.rows.get(bit, 0):
            return False
        left = others & ~(self.implications[bit].false | self._exclusive.rows.get(bit, 0))
        while left:
            lowest = left & -left
            if not self._decide(bit, lowest.bit_length() - 1):
                return False
            left ^= lowest
        return True

    def declare_maximum(self, bit: int, cliques: Iterable[Clique]) -> None:
        """Declare a bit that is 1 exactly if every clique has its largest value."""
        implied = Implications(1 << bit, 0)
        for clique in cliques:
            highest = [b for b, c in clique.terms if c == clique.high]
            for other, coefficient in clique.terms:
                if coefficient != clique.high:
                    self._imply_zero(implied, other)
            if highest:
                self._imply_one_of(implied, highest)
        implied.clauses = implied.clauses[:MAX_CLAUSES]
        self.implications[bit] = implied

    def _imply_zero(self, implied: Implications, bit: int) -> None:
        """Add that a bit is 0; in a factor of two values, the other one is then 1."""
        implied.false |= 1 << bit
        factor = self.factor_of.get(bit, ())
        if len(factor) == 2:
            other = self.implications[factor[0] + factor[1] - bit]
            implied.true |= other.true
            implied.false |= other.false

    def _imply_one_of(self, implied: Implications, bits: list[int]) -> None:
        """Add that one of the bits is 1: whatever all of them imply, and a clause."""
        parts = [self.implications[bit] for bit in bits]
        true, false = parts[0].true, parts[0].false
        for part in parts[1:]:
            true &= part.true
            false &= part.false
        implied.true |= true
        implied.false |= false
        implied.clauses += parts[0].clauses if len(parts) == 1 else [sum(1 << bit for bit in bits)]
