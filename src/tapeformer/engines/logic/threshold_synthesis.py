"""Threshold synthesis: a neuron, ReLU of an affine form over bits, becomes gates.

A neuron proven to be 0 or 1 becomes one AND of ORs. Any other is computed as if it were a bit
(speculation), and a guard says if it is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tapeformer.engines.logic.affine_forms import ZERO, AffineForm, NodeGroup
from tapeformer.engines.logic.and_inverter_graph import FALSE, TRUE, AndInverterGraph
from tapeformer.engines.logic.mutual_exclusion import Clique, MutualExclusion, clique_of
from tapeformer.engines.logic.not_logic import NotLogicError

MAX_VALUE = 1 << 24
"""Beyond this, values are not exact in the other engines' float32 either."""

MAX_GATES = 60_000

MAX_SLACK = 64
"""How far a neuron's largest value may be above its threshold."""

Bounds = tuple[int, int]
"""The least and the largest value."""


class ThresholdSynthesis:
    """The nodes of a model, each of them a bit: of tokens, of what heads fetch, of neurons.

    `guards` has a literal for each speculation, which is 1 if it fails.
    """

    def __init__(self) -> None:
        self.graph, self.exclusion = AndInverterGraph(), MutualExclusion()
        self.literals: list[int] = []
        self.guards: list[int] = []
        self._neurons: dict[AffineForm, AffineForm] = {}
        self._differences: dict[tuple[int, tuple[int, ...]], int] = {}

    def add_node(self, literal: int) -> int:
        """Add a node; the caller declares what is known about it."""
        if len(self.graph.gates) > MAX_GATES:
            raise NotLogicError("the logic would be too large")
        self.literals.append(literal)
        return len(self.literals) - 1

    def add_one_hot(self, size: int) -> list[AffineForm]:
        """Add input bits of which exactly one is 1."""
        if size == 1:
            return [AffineForm(1)]
        bits = [self.add_node(self.graph.input()) for _ in range(size)]
        self.exclusion.declare_one_hot(bits)
        return [AffineForm(0, ((bit, 1),)) for bit in bits]

    def bounds(self, form: AffineForm) -> Bounds:
        """Return proven bounds of a form's value."""
        form = self._fold_differences(form)
        return self._bounds(form, self.exclusion.clique_cover(form.terms))

    def speculative_bounds(self, form: AffineForm) -> Bounds:
        """Return bounds of a form's value that hold unless a guard is set."""
        form = self._fold_differences(form)
        return self._bounds(form, self._speculative_cover(form))

    def _bounds(self, form: AffineForm, cliques: Sequence[Clique]) -> Bounds:
        low = form.constant + sum([clique.low for clique in cliques])
        high = form.constant + sum([clique.high for clique in cliques])
        if max(-low, high) > MAX_VALUE:
            raise NotLogicError("values may be too large for exact arithmetic")
        return low, high

    def relu(self, form: AffineForm, together: Sequence[NodeGroup] = ()) -> AffineForm:
        """Return a neuron's form: its input if that is never negative, else a new node.

        `together` has nodes that are likely to be parts of one sum.
        """
        if not form.terms:
            return AffineForm(max(0, form.constant))
        if len(form.terms) == 1 and form.constant >= 0 and form.terms[0][1] > 0:
            return form
        if form not in self._neurons:
            self._neurons[form] = self._relu(form, together)
        return self._neurons[form]

    def conjunction(self, form: AffineForm, parts: Sequence[AffineForm]) -> AffineForm | None:
        """Return a neuron as the AND of its form's parts, or None if it is not.

        The parts add up to the form except for its constant; all must be bits, and all be needed.
        """
        rest = form.constant - sum(part.constant for part in parts)
        bounds = [self.speculative_bounds(part) for part in parts]
        if rest != 1 - len(parts) or any(low < 0 or high > 1 for low, high in bounds):
            return None
        if form not in self._neurons:
            literals = [self.as_literal(part) for part in parts]
            node = self.add_node(self.graph.conjunction(literals))
            covers = [self.exclusion.clique_cover(part.terms) for part in parts]
            self.exclusion.declare_maximum(node, [one for cover in covers for one in cover])
            self._neurons[form] = AffineForm(0, ((node, 1),))
        return self._neurons[form]

    def _fold_differences(self, form: AffineForm) -> AffineForm:
        """Replace each bit minus bits that imply it by a single node."""
        implying = self._implying(form)
        if not implying:
            return form
        terms = dict(form.terms)
        for bit, others in sorted(implying.items()):
            if bit in terms:
                opposite = -terms[bit]
                taken = self._exclusive_among([one for one in others if terms.get(one) == opposite])
                if taken:
                    coefficient = terms.pop(bit)
                    for other in taken:
                        del terms[other]
                    rest = self._difference(bit, tuple(taken))
                    terms[rest] = terms.get(rest, 0) + coefficient
        return AffineForm(form.constant, tuple(sorted((n, c) for n, c in terms.items() if c)))

    def _implying(self, form: AffineForm) -> dict[int, list[int]]:
        """Return, for each bit of a form, the bits that imply it and are subtracted from it."""
        if len({coefficient > 0 for _, coefficient in form.terms}) < 2:
            return {}
        coefficients = dict(form.terms)
        every = sum(1 << bit for bit in coefficients)
        found: dict[int, list[int]] = {}
        for other, coefficient in form.terms:
            implied = self.exclusion.implications[other].true & every
            while implied:
                bit = implied.bit_length() - 1
                implied ^= 1 << bit
                if coefficients[bit] == -coefficient:
                    found.setdefault(bit, []).append(other)
        return found

    def _exclusive_among(self, bits: Sequence[int]) -> list[int]:
        """Return bits that exclude each other, chosen greedily in order."""
        found: list[int] = []
        for bit in bits:
            if all(self.exclusion.are_exclusive(bit, one) for one in found):
                found.append(bit)
        return found

    def _difference(self, bit: int, taken: tuple[int, ...]) -> int:
        """Return the node that is 1 if a bit is 1 and none of these bits that imply it is."""
        if (bit, taken) not in self._differences:
            parts = [self.literals[bit], *(self.literals[other] ^ 1 for other in taken)]
            node = self._differences[bit, taken] = self.add_node(self.graph.conjunction(parts))
            rest = clique_of([(other, -1) for other in taken])
            self.exclusion.declare_maximum(node, [clique_of([(bit, 1)]), rest])
        return self._differences[bit, taken]

    def _relu(self, form: AffineForm, together: Sequence[NodeGroup]) -> AffineForm:
        form = self._fold_differences(form)
        cliques = self._relu_cover(form, together)
        low, high = self._bounds(form, cliques)
        if low >= 0 or high <= 0:
            return form if low >= 0 else ZERO
        node = self.add_node(self._at_least(1, high, cliques))
        if high == 1:
            self.exclusion.declare_maximum(node, cliques)
        else:
            self.exclusion.declare_unconstrained(node)
            self.guards.append(self._at_least(2, high, cliques))
        return AffineForm(0, ((node, 1),))

    def _relu_cover(self, form: AffineForm, together: Sequence[NodeGroup]) -> list[Clique]:
        """Return a clique cover; if its bound exceeds 1, try groups as exclusive, with guards."""
        first = [bit for group in together for bit in group]
        cliques = self.exclusion.clique_cover(form.terms, first)
        if self._bounds(form, cliques)[1] <= 1:
            return cliques
        assumed = self.exclusion.assume_exclusive(together)
        tighter = self.exclusion.clique_cover(form.terms, first)
        if self._bounds(form, tighter)[1] == 1:
            unproven = [bits for bits, pairs in zip(together, assumed, strict=True) if pairs]
            self.guards += [self._more_than_one(bits) for bits in unproven]
            return tighter
        self.exclusion.retract(assumed)
        return cliques

    def _more_than_one(self, bits: Sequence[int]) -> int:
        """Return whether two or more bits are 1, by a tree, so that equal parts stay together."""
        counts = [(self.literals[bit], FALSE) for bit in bits]
        while len(counts) > 1:
            pairs = [counts[index : index + 2] for index in range(0, len(counts), 2)]
            counts = [self._count(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
        return counts[0][1]

    def _count(self, left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
        """Add two counts, each a pair of literals: at least one, and at least two."""
        both = self.graph.conjunction([left[0], right[0]])
        some = self.graph.disjunction([left[0], right[0]])
        return some, self.graph.disjunction([left[1], right[1], both])

    def as_literal(self, form: AffineForm) -> int:
        """Return the literal of a form that should be 0 or 1; guards check what is not proven."""
        form = self._fold_differences(form)
        cliques = self._speculative_cover(form)
        low, high = self._bounds(form, cliques)
        if high > 1:
            self.guards.append(self._at_least(2, high, cliques))
        if low < 0:
            self.guards.append(self._at_least(0, high, cliques) ^ 1)
        return self._at_least(1, high, cliques)

    def _speculative_cover(self, form: AffineForm) -> list[Clique]:
        """Return a clique cover; if it does not prove a bit, speculate on unconstrained bits.

        Those of the same sign are assumed to be exclusive, and guards check it.
        """
        cliques = self.exclusion.clique_cover(form.terms)
        low, high = self._bounds(form, cliques)
        signs = [
            [b for b, c in form.terms if (c > 0) == positive and self.exclusion.is_unconstrained(b)]
            for positive in (True, False)
        ]
        if (low >= 0 and high <= 1) or max(map(len, signs)) < 3:
            return cliques
        assumed = self.exclusion.assume_exclusive(signs)
        tighter = self.exclusion.clique_cover(form.terms)
        if self._bounds(form, tighter)[1] > MAX_SLACK:
            self.exclusion.retract(assumed)
            return cliques
        self.guards += [self._more_than_one(bits) for bits in signs if bits]
        return tighter

    def _at_least(self, threshold: int, high: int, cliques: Sequence[Clique]) -> int:
        """Return whether the sum of all cliques, at most `high`, reaches a threshold.

        Each clique may miss its largest value; together they may miss the slack.
        """
        slack = high - threshold
        if slack < 0:
            return FALSE
        if slack == 0:
            return self._all_largest(cliques)
        if slack > MAX_SLACK:
            raise NotLogicError("a neuron has too wide a range")
        within = [TRUE] * (slack + 1)
        for clique in cliques:
            within = self._add_clique(within, clique)
        return within[slack]

    def _all_largest(self, cliques: Iterable[Clique]) -> int:
        """Return whether every clique has its largest value; most neurons are such ANDs."""
        all_so_far = TRUE
        for clique in cliques:
            literal = self._misses_at_most(0, clique)
            all_so_far = self.graph.conjunction((literal, all_so_far))
        return all_so_far

    def _add_clique(self, within: Sequence[int], clique: Clique) -> list[int]:
        """Return for each slack whether adding one more clique stays within it."""
        misses = {clique.high - coefficient for _, coefficient in clique.terms}
        steps = sorted(misses if clique.complete else misses | {clique.high})
        near = [(step, self._misses_at_most(step, clique)) for step in steps if step < len(within)]
        return [
            self.graph.disjunction(
                self.graph.conjunction([literal, within[slack - step]])
                for step, literal in near
                if step <= slack
            )
            for slack in range(len(within))
        ]

    def _misses_at_most(self, step: int, clique: Clique) -> int:
        """Return whether a clique is at most `step` below its largest value."""
        least = clique.high - step
        near = [self.literals[bit] for bit, c in clique.terms if c >= least]
        far = [self.literals[bit] for bit, c in clique.terms if c < least]
        if not clique.complete and least <= 0:
            return self.graph.disjunction(far) ^ 1
        if clique.complete and len(far) < len(near):
            return self.graph.disjunction(far) ^ 1
        return self.graph.disjunction(near)
