"""Absorption: drops operands of an AND gate that its other operands decide.

a AND NOT (a AND b) is the same as a AND NOT b, and NOT b often exists already: neurons that select
one of several values then share their condition. That exactly one value of a factor is 1 decides
operands too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain

from tapeformer.engines.logic.and_inverter_graph import FALSE, Gate
from tapeformer.engines.logic.netlist import Netlist
from tapeformer.engines.logic.rewriting import Rewriting

MAX_IMPLIED = 200
"""How many implied literals to remember of one; gates that imply more keep just their operands."""

Literals = frozenset[int]


class Absorption(Rewriting):
    """Rewrites AND gates without the operands that their other operands decide."""

    def __init__(self, netlist: Netlist) -> None:
        super().__init__(netlist)
        self.uses = _uses(netlist, self.cone)
        self._implied: dict[int, Literals] = {
            literal: frozenset([literal, *(other ^ 1 for other in group if other != literal)])
            for literal, group in self.one_hot.items()
        }
        self._opposite: dict[int, Literals] = {}

    def conjunction(self, gate: Gate) -> int:
        """Return the AND of what is left of a gate's operands."""
        operands = self._flattened(gate.literals)
        while True:
            known, again = _known([self.implied(literal) for literal in operands])
            if FALSE in operands or any(not known.isdisjoint(self._denied(x)) for x in operands):
                return FALSE
            fewer = self._undecided(operands, known, again)
            if fewer == operands:
                return self._remembered(operands)
            operands = fewer

    def implied(self, literal: int) -> Literals:
        """Return the literals that are 1 wherever a literal is 1."""
        found = self._implied.get(literal)
        if found is None:
            found = self._implied[literal] = frozenset([literal])
        return found

    def _denied(self, literal: int) -> Literals:
        """Return the literals that are 0 wherever a literal is 1."""
        if literal not in self._opposite:
            self._opposite[literal] = frozenset(other ^ 1 for other in self.implied(literal))
        return self._opposite[literal]

    def _flattened(self, literals: Iterable[int]) -> set[int]:
        """Return the new operands, flattening AND gates that nothing else reads."""
        found: set[int] = set()
        for literal in literals:
            new = self.new(literal)
            inner = () if new & 1 or self.uses[literal >> 1] > 1 else self.operands(new)
            found.update(inner or [new])
        return found

    def _undecided(self, operands: set[int], known: set[int], again: set[int]) -> set[int]:
        """Return the operands that others do not decide, and negated ANDs without known parts."""
        left: set[int] = set()
        for literal in operands - again:
            parts = self.operands(literal) if literal & 1 else ()
            if not known.isdisjoint([part ^ 1 for part in parts]):
                continue
            rest = [part for part in parts if part not in known]
            left.add(self._remembered(rest) ^ 1 if len(rest) < len(parts) else literal)
        return self._completed(left)

    def _completed(self, operands: set[int]) -> set[int]:
        """Replace the negations of all values of a factor but one by that value."""
        negated = [self.one_hot[x ^ 1] for x in operands if x & 1 and x ^ 1 in self.one_hot]
        for group, times in Counter(negated).items() if len(negated) > 1 else ():
            if times == len(group) - 1 > 1:
                operands = {literal for literal in operands if literal ^ 1 not in group} | {
                    value for value in group if value ^ 1 not in operands
                }
        return operands

    def _remembered(self, operands: Iterable[int]) -> int:
        """Return the AND of operands, and remember what it implies."""
        kept = list(operands)
        literal = self.graph.conjunction(kept)
        if literal > 1 and literal not in self._implied:
            every = frozenset([literal]).union(*map(self.implied, kept))
            self._implied[literal] = (
                every if len(every) <= MAX_IMPLIED else frozenset([literal, *kept])
            )
        return literal


def _known(implied: Iterable[Literals]) -> tuple[set[int], set[int]]:
    """Return what any of the literals implies, and what more than one of them implies."""
    known: set[int] = set()
    again: set[int] = set()
    for literals in implied:
        again |= known & literals
        known |= literals
    return known, again


def _uses(netlist: Netlist, cone: Iterable[int]) -> Counter[int]:
    """Count the gates and outputs that read each gate."""
    outputs = [literal for factor in netlist.next_token for literal in factor]
    outputs += [netlist.guard, *netlist.margin, *(bit.source for bit in netlist.fetched)]
    read = chain.from_iterable([netlist.gates[index].literals for index in cone])
    return Counter([literal >> 1 for literal in chain(outputs, read)])
