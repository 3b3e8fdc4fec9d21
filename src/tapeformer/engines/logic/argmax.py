"""The argmax of each factor as gates: the first value on ties, and the margin."""

from __future__ import annotations

from collections.abc import Sequence

from tapeformer.engines.logic.affine_forms import AffineForm, linear_combination
from tapeformer.engines.logic.and_inverter_graph import FALSE, TRUE
from tapeformer.engines.logic.bit_vectors import BitVectors
from tapeformer.engines.logic.threshold_synthesis import MAX_SLACK, Bounds, ThresholdSynthesis


class ArgmaxSynthesis:
    """Builds one argmax after another, and the smallest margin among them.

    `proven_margin` is 1 if some factor's margin is proven to be 1, otherwise None.
    """

    def __init__(self, synthesis: ThresholdSynthesis) -> None:
        self.synthesis, self.graph = synthesis, synthesis.graph
        self.vectors = BitVectors(synthesis.graph)
        self.proven_margin: int | None = None
        self._margins: list[list[int]] = []

    def argmax(self, logits: Sequence[AffineForm]) -> tuple[int, ...]:
        """Return a literal for each value, which says whether it is chosen."""
        if len(logits) == 1:
            return (TRUE,)
        bounds = [self.synthesis.bounds(form) for form in logits]
        if not _may_be_bits(bounds):
            bounds = [self.synthesis.speculative_bounds(form) for form in logits]
        return self._of_bits(logits) if _may_be_bits(bounds) else self._of_numbers(logits, bounds)

    def _of_bits(self, logits: Sequence[AffineForm]) -> tuple[int, ...]:
        """Choose among logits that are 0 or 1: the first 1, or the first value if there is none."""
        ones = [self.synthesis.as_literal(form) for form in logits]
        total = linear_combination(0, [(1, form) for form in logits])
        low, high = self.synthesis.bounds(total)
        if high <= 1 <= low:
            self.proven_margin = 1
            return tuple(ones)
        return self._first(ones, at_most_one=high <= 1)

    def _first(self, ones: Sequence[int], at_most_one: bool) -> tuple[int, ...]:
        earlier, several, chosen = FALSE, FALSE, []
        for one in ones:
            if at_most_one:
                chosen.append(one)
            else:
                chosen.append(self.graph.conjunction([one, earlier ^ 1]))
                again = self.graph.conjunction([one, earlier])
                several = self.graph.disjunction([several, again])
            earlier = self.graph.disjunction([earlier, one])
        chosen[0] = self.graph.disjunction([chosen[0], earlier ^ 1])
        self._margins.append([self.graph.conjunction([earlier, several ^ 1])])
        return tuple(chosen)

    def _of_numbers(
        self, logits: Sequence[AffineForm], bounds: Sequence[Bounds]
    ) -> tuple[int, ...]:
        """Compare logits as numbers, one after another, keeping the best and the second best."""
        low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
        width = (high - low + 1).bit_length()
        values = [self._vector(linear_combination(-low, [(1, form)]), width) for form in logits]
        best, second = values[0], None
        improves = [TRUE]
        for value in values[1:]:
            wins = self.vectors.less(best, value)
            loser = self.vectors.multiplexer(wins, best, value)
            second = loser if second is None else self._larger(second, loser)
            best = self.vectors.multiplexer(wins, value, best)
            improves.append(wins)
        assert second is not None
        self._margins.append(self.vectors.subtract(best, second))
        return self._last(improves)

    def _vector(self, form: AffineForm, width: int) -> list[int]:
        """Return a form's value as a bit vector."""
        total = self.vectors.constant(form.constant, width)
        for node, coefficient in form.terms:
            literal = self.synthesis.literals[node]
            term = self.vectors.multiple([literal], abs(coefficient), width)
            operation = self.vectors.add if coefficient > 0 else self.vectors.subtract
            total = operation(total, term)
        return total

    def _larger(self, left: list[int], right: list[int]) -> list[int]:
        return self.vectors.multiplexer(self.vectors.less(left, right), right, left)

    def _last(self, improves: Sequence[int]) -> tuple[int, ...]:
        """Choose the last value that was better than all before it."""
        later, chosen = FALSE, []
        for wins in reversed(improves):
            chosen.append(self.graph.conjunction([wins, later ^ 1]))
            later = self.graph.disjunction([later, wins])
        return tuple(reversed(chosen))

    def margin(self) -> list[int]:
        """Return the smallest unproven margin as a bit vector; empty if all margins are proven."""
        if not self._margins:
            return []
        if self.proven_margin is not None:
            nonzero = (self.graph.disjunction(digits) for digits in self._margins)
            return [self.graph.conjunction(nonzero)]
        width = max(len(digits) for digits in self._margins)
        padded = [[*digits, *[FALSE] * (width - len(digits))] for digits in self._margins]
        least = padded[0]
        for digits in padded[1:]:
            smaller = self.vectors.less(digits, least)
            least = self.vectors.multiplexer(smaller, digits, least)
        return least


def _may_be_bits(bounds: Sequence[Bounds]) -> bool:
    """Check whether logits within these bounds could all be 0 or 1."""
    return all(low <= 0 < high <= MAX_SLACK or low == high in (0, 1) for low, high in bounds)
