"""An and-inverter graph: AND gates of any fan-in, XOR gates, and negation on the edges.

A literal is an integer: twice the gate's index, plus one where the gate's output is negated.
Gate 0 is the constant false. Structurally equal gates are shared.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

FALSE, TRUE = 0, 1


class GateKind(StrEnum):
    """What a gate computes from its fan-in."""

    CONSTANT = "constant"
    INPUT = "input"
    AND = "and"
    XOR = "xor"


class Gate(NamedTuple):
    """A node of the graph: its kind and the literals of its fan-in."""

    kind: GateKind
    literals: tuple[int, ...] = ()


class AndInverterGraph:
    """Builds gates; shares equal ones (structural hashing) and folds constants."""

    def __init__(self) -> None:
        self.gates: list[Gate] = [Gate(GateKind.CONSTANT)]
        self._index: dict[GateKind, dict[tuple[int, ...], int]] = {kind: {} for kind in GateKind}

    def input(self) -> int:
        """Add an input bit."""
        self.gates.append(Gate(GateKind.INPUT))
        return 2 * len(self.gates) - 2

    def conjunction(self, literals: Iterable[int]) -> int:
        """Return the AND of literals."""
        kept = set(literals)
        kept.discard(TRUE)
        if FALSE in kept or not kept.isdisjoint([literal ^ 1 for literal in kept]):
            return FALSE
        if len(kept) < 2:
            return kept.pop() if kept else TRUE
        return self._shared(GateKind.AND, tuple(sorted(kept)))

    def disjunction(self, literals: Iterable[int]) -> int:
        """Return the OR of literals."""
        return self.conjunction([literal ^ 1 for literal in literals]) ^ 1

    def xor(self, left: int, right: int) -> int:
        """Return the exclusive OR; negations move to its output."""
        negated = (left ^ right) & 1
        low, high = sorted((left & ~1, right & ~1))
        if low == high:
            return FALSE ^ negated
        if low == FALSE:
            return high ^ negated
        return self._shared(GateKind.XOR, (low, high)) ^ negated

    def multiplexer(self, condition: int, then: int, otherwise: int) -> int:
        """Select one of two literals."""
        if then == otherwise:
            return then
        taken = self.conjunction([condition, then])
        return self.disjunction([taken, self.conjunction([condition ^ 1, otherwise])])

    def _shared(self, kind: GateKind, literals: tuple[int, ...]) -> int:
        index = self._index[kind].setdefault(literals, len(self.gates))
        if index == len(self.gates):
            self.gates.append(Gate(kind, literals))
        return 2 * index
