"""Term merging: an OR over all values of a factor but one, each with the same rest, is one term.

Sums over the values that may arrive somewhere ask whether any of them does. Such an OR is the rest
AND NOT the value left out.
"""

from __future__ import annotations

from collections.abc import Iterable

from tapeformer.engines.logic.and_inverter_graph import Gate
from tapeformer.engines.logic.rewriting import OneHot, Rewriting

TermsByRest = dict[tuple[OneHot, tuple[int, ...]], dict[int, int]]
"""For each factor and rest of a term: the term of each value."""


class TermMerging(Rewriting):
    """Rewrites the negated operands of AND gates, which are the terms of an OR."""

    def conjunction(self, gate: Gate) -> int:
        """Return the AND of a gate's operands, with terms merged."""
        operands = {self.new(literal) for literal in gate.literals}
        terms = sorted(x for x in operands if x & 1 and self.operands(x))
        if len(terms) > 1:
            for merged, replaced in self._merged(terms):
                operands = operands - replaced | {merged}
        return self.graph.conjunction(operands)

    def _merged(self, terms: Iterable[int]) -> Iterable[tuple[int, set[int]]]:
        """Yield merged terms and those they replace, largest merges first."""
        found = self._by_rest(terms)
        taken: set[int] = set()
        for (group, rest), values in sorted(found.items(), key=lambda item: -len(item[1])):
            missing = group - values.keys()
            replaced = set(values.values())
            if len(values) > 1 and len(missing) <= 1 and taken.isdisjoint(replaced):
                taken |= replaced
                yield self.graph.conjunction([*rest, *(x ^ 1 for x in missing)]) ^ 1, replaced

    def _by_rest(self, terms: Iterable[int]) -> TermsByRest:
        """Group terms that differ in a single literal, which is a value of a factor."""
        found: TermsByRest = {}
        for term in terms:
            literals = self.operands(term)
            for literal in literals:
                if literal in self.one_hot:
                    rest = tuple(other for other in literals if other != literal)
                    found.setdefault((self.one_hot[literal], rest), {})[literal] = term
        return found
