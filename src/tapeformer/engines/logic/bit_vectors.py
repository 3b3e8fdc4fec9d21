"""Unsigned integer arithmetic as gates: each binary digit of a number is a literal."""

from __future__ import annotations

from collections.abc import Sequence

from tapeformer.engines.logic.and_inverter_graph import FALSE, TRUE, AndInverterGraph

BitVector = Sequence[int]
"""The literals of a number's binary digits, lowest first."""


class BitVectors:
    """Builds adders, comparators and multiplexers in a graph."""

    def __init__(self, graph: AndInverterGraph) -> None:
        self.graph = graph

    def constant(self, value: int, width: int) -> list[int]:
        """Return a constant modulo 2 ** width."""
        return [TRUE if value >> digit & 1 else FALSE for digit in range(width)]

    def multiple(self, vector: BitVector, factor: int, width: int) -> list[int]:
        """Return a number times a constant, modulo 2 ** width."""
        total = self.constant(0, width)
        for digit in range(width):
            if factor >> digit & 1:
                shifted = [*[FALSE] * digit, *vector, *[FALSE] * width]
                total = self.add(total, shifted[:width])
        return total

    def add(self, left: BitVector, right: BitVector, carry: int = FALSE) -> list[int]:
        """Return the sum of two numbers of the same width, modulo 2 ** width."""
        total = []
        for a, b in zip(left, right, strict=True):
            half = self.graph.xor(a, b)
            total.append(self.graph.xor(half, carry))
            both, either = self.graph.conjunction([a, b]), self.graph.conjunction([half, carry])
            carry = self.graph.disjunction([both, either])
        return total

    def subtract(self, left: BitVector, right: BitVector) -> list[int]:
        """Return the difference modulo 2 ** width."""
        return self.add(left, [digit ^ 1 for digit in right], TRUE)

    def less(self, left: BitVector, right: BitVector) -> int:
        """Return the literal of left < right."""
        found = FALSE
        for a, b in zip(left, right, strict=True):
            found = self.graph.multiplexer(self.graph.xor(a, b), b, found)
        return found

    def multiplexer(self, condition: int, then: BitVector, otherwise: BitVector) -> list[int]:
        """Select one of two numbers of the same width."""
        pairs = zip(then, otherwise, strict=True)
        return [self.graph.multiplexer(condition, a, b) for a, b in pairs]
