"""Neurons as gates: one AND where a neuron is proven to be 0 or 1, a check where it is not."""

from __future__ import annotations

from collections.abc import Sequence

from tapeformer.engines.logic.affine_forms import ZERO, Bundle, Form
from tapeformer.engines.logic.and_inverter_graph import FALSE, TRUE, Gates, Numbers
from tapeformer.engines.logic.mutual_exclusion import Clique, Facts, NotLogicError, clique_of

LARGEST = 1 << 24
"""Values beyond this are not exact in the other engines' float32 either."""

MOST_GATES = 60_000

MOST_ROOM = 64
"""How far above 1 the bound of a neuron may be."""


class Neurons:
    """Nodes of a model, each a bit: of tokens, of what heads fetch, of neurons."""

    def __init__(self) -> None:
        self.gates, self.facts = Gates(), Facts()
        self.numbers = Numbers(self.gates)
        self.literals: list[int] = []
        self.doubts: list[int] = []
        self._neurons: dict[Form, Form] = {}
        self._differences: dict[tuple[int, tuple[int, ...]], int] = {}

    def new(self, literal: int) -> int:
        """Another node; what is known of it is entered by the caller."""
        if len(self.gates.gates) > MOST_GATES:
            raise NotLogicError("the logic would be too large")
        self.literals.append(literal)
        return len(self.literals) - 1

    def one_hot(self, size: int) -> list[Form]:
        """New input bits of which exactly one is 1."""
        if size == 1:
            return [Form(1)]
        bits = [self.new(self.gates.input()) for _ in range(size)]
        self.facts.one_hot(bits)
        return [Form(0, ((bit, 1),)) for bit in bits]

    def span(self, form: Form) -> tuple[int, int]:
        """Bounds of a form's value."""
        form = self.without_differences(form)
        return self._span(form, self.facts.cliques(form.terms))

    def guessed_span(self, form: Form) -> tuple[int, int]:
        """Bounds of a form's value if guesses hold that are doubted from now on."""
        form = self.without_differences(form)
        return self._span(form, self._with_guesses(form))

    def _span(self, form: Form, cliques: Sequence[Clique]) -> tuple[int, int]:
        low = form.constant + sum(clique.low for clique in cliques)
        high = form.constant + sum(clique.high for clique in cliques)
        if max(-low, high) > LARGEST:
            raise NotLogicError("values may be too large for exact arithmetic")
        return low, high

    def relu(self, form: Form, together: Sequence[Bundle] = ()) -> Form:
        """The form of a neuron: itself where it cannot be negative, else a new node.

        `together` has nodes that are likely to be parts of one sum.
        """
        if not form.terms:
            return Form(max(0, form.constant))
        if len(form.terms) == 1 and form.constant >= 0 and form.terms[0][1] > 0:
            return form
        if form not in self._neurons:
            self._neurons[form] = self._relu(form, together)
        return self._neurons[form]

    def without_differences(self, form: Form) -> Form:
        """The same value with one node for each difference of a bit and bits that imply it."""
        implying = self._implying(form)
        if not implying:
            return form
        terms = dict(form.terms)
        for bit, others in sorted(implying.items()):
            if bit in terms:
                opposite = -terms[bit]
                taken = self._exclusive([one for one in others if terms.get(one) == opposite])
                if taken:
                    coefficient = terms.pop(bit)
                    for other in taken:
                        del terms[other]
                    rest = self._difference(bit, tuple(taken))
                    terms[rest] = terms.get(rest, 0) + coefficient
        return Form(form.constant, tuple(sorted((n, c) for n, c in terms.items() if c)))

    def _implying(self, form: Form) -> dict[int, list[int]]:
        """For each bit of a form those that imply it and are subtracted from it."""
        if len({coefficient > 0 for _, coefficient in form.terms}) < 2:
            return {}
        coefficients = dict(form.terms)
        every = sum(1 << bit for bit in coefficients)
        found: dict[int, list[int]] = {}
        for other, coefficient in form.terms:
            implied = self.facts.known[other].true & every & ~(1 << other)
            while implied:
                bit = implied.bit_length() - 1
                implied ^= 1 << bit
                if coefficients[bit] == -coefficient:
                    found.setdefault(bit, []).append(other)
        return found

    def _exclusive(self, bits: Sequence[int]) -> list[int]:
        """As many of the bits, in order, as exclude each other."""
        found: list[int] = []
        for bit in bits:
            if all(self.facts.exclusive(bit, one) for one in found):
                found.append(bit)
        return found

    def _difference(self, bit: int, taken: tuple[int, ...]) -> int:
        """The node that is 1 where a bit is 1 and none of those that imply it."""
        if (bit, taken) not in self._differences:
            parts = [self.literals[bit], *(self.literals[other] ^ 1 for other in taken)]
            node = self._differences[bit, taken] = self.new(self.gates.all_of(parts))
            alone = clique_of([(bit, 1)])
            self.facts.learn(node, [alone, clique_of([(other, -1) for other in taken])])
        return self._differences[bit, taken]

    def _relu(self, form: Form, together: Sequence[Bundle]) -> Form:
        form = self.without_differences(form)
        cliques = self._sorted_out(form, together)
        low, high = self._span(form, cliques)
        if low >= 0 or high <= 0:
            return form if low >= 0 else ZERO
        node = self.new(self._at_least(1, high, cliques))
        if high == 1:
            self.facts.learn(node, cliques)
        else:
            self.facts.free(node)
            self.doubts.append(self._at_least(2, high, cliques))
        return Form(0, ((node, 1),))

    def _sorted_out(self, form: Form, together: Sequence[Bundle]) -> list[Clique]:
        """The cliques of a form; if they leave it too high, bundles are taken for exclusive."""
        first = [bit for bundle in together for bit in bundle]
        cliques = self.facts.cliques(form.terms, first)
        if self._span(form, cliques)[1] <= 1:
            return cliques
        assumed = self.facts.assume(together)
        tighter = self.facts.cliques(form.terms, first)
        if self._span(form, tighter)[1] == 1:
            doubtful = [bits for bits, pairs in zip(together, assumed, strict=True) if pairs]
            self.doubts += [self._several(bits) for bits in doubtful]
            return tighter
        self.facts.withdraw(assumed)
        return cliques

    def _several(self, bits: Sequence[int]) -> int:
        """Whether more than one of the bits is 1: a tree, so that equal parts stay side by side."""
        sums = [(self.literals[bit], FALSE) for bit in bits]
        while len(sums) > 1:
            pairs = [sums[index : index + 2] for index in range(0, len(sums), 2)]
            sums = [self._sum(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
        return sums[0][1]

    def _sum(self, left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
        """Whether any is 1, and whether several are, of two lots of bits."""
        both = self.gates.all_of([left[0], right[0]])
        some = self.gates.any_of([left[0], right[0]])
        return some, self.gates.any_of([left[1], right[1], both])

    def as_bit(self, form: Form) -> int:
        """A form that should be 0 or 1 as a literal; what is not proven of it is doubted."""
        form = self.without_differences(form)
        cliques = self._with_guesses(form)
        low, high = self._span(form, cliques)
        if high > 1:
            self.doubts.append(self._at_least(2, high, cliques))
        if low < 0:
            self.doubts.append(self._at_least(0, high, cliques) ^ 1)
        return self._at_least(1, high, cliques)

    def _with_guesses(self, form: Form) -> list[Clique]:
        """The cliques of a form; where they are not enough, bits of which nothing is known are
        taken for exclusive, and doubted."""
        cliques = self.facts.cliques(form.terms)
        low, high = self._span(form, cliques)
        lots = [
            [bit for bit, c in form.terms if (c > 0) == positive and self.facts.is_free(bit)]
            for positive in (True, False)
        ]
        if (low >= 0 and high <= 1) or max(map(len, lots)) < 3:
            return cliques
        assumed = self.facts.assume(lots)
        tighter = self.facts.cliques(form.terms)
        if self._span(form, tighter)[1] > MOST_ROOM:
            self.facts.withdraw(assumed)
            return cliques
        self.doubts += [self._several(bits) for bits in lots if bits]
        return tighter

    def _at_least(self, least: int, high: int, cliques: Sequence[Clique]) -> int:
        """Whether all cliques together stay near enough below their highest values."""
        room = high - least
        if room < 0:
            return FALSE
        if room > MOST_ROOM:
            raise NotLogicError("a neuron has too wide a range")
        within = [TRUE] * (room + 1)
        for clique in cliques:
            within = self._one_more(within, clique)
        return within[room]

    def _one_more(self, within: Sequence[int], clique: Clique) -> list[int]:
        """For each number: whether what is missing so far, with one more clique, is at most it."""
        missing = {clique.high - coefficient for _, coefficient in clique.terms}
        steps = sorted(missing if clique.complete else missing | {clique.high})
        near = [(step, self._misses_at_most(step, clique)) for step in steps if step < len(within)]
        return [
            self.gates.any_of(
                self.gates.all_of([literal, within[room - step]])
                for step, literal in near
                if step <= room
            )
            for room in range(len(within))
        ]

    def _misses_at_most(self, step: int, clique: Clique) -> int:
        least = clique.high - step
        near = [self.literals[bit] for bit, c in clique.terms if c >= least]
        far = [self.literals[bit] for bit, c in clique.terms if c < least]
        if not clique.complete and least <= 0:
            return self.gates.any_of(far) ^ 1
        if clique.complete and len(far) < len(near):
            return self.gates.any_of(far) ^ 1
        return self.gates.any_of(near)
