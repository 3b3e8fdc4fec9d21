"""A pool of logic gates: every distinct gate stands once, negation is free.

A literal is a number: twice the gate, plus one where it is negated. Gate 0 is the constant false.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal as Choice

FALSE, TRUE = 0, 1


@dataclass(frozen=True)
class Gate:
    """An input bit, the AND of literals, or the XOR of two."""

    kind: Choice["constant", "input", "and", "xor"]
    literals: tuple[int, ...] = ()


class Gates:
    """Makes gates; equal ones are shared and constants are folded."""

    def __init__(self) -> None:
        self.gates: list[Gate] = [Gate("constant")]
        self._known: dict[Gate, int] = {}

    def input(self) -> int:
        """A new input bit."""
        self.gates.append(Gate("input"))
        return 2 * len(self.gates) - 2

    def all_of(self, literals: Iterable[int]) -> int:
        """The AND of literals."""
        kept = set(literals)
        kept.discard(TRUE)
        if FALSE in kept or any(literal ^ 1 in kept for literal in kept):
            return FALSE
        if len(kept) < 2:
            return kept.pop() if kept else TRUE
        return self._shared(Gate("and", tuple(sorted(kept))))

    def any_of(self, literals: Iterable[int]) -> int:
        """The OR of literals."""
        return self.all_of([literal ^ 1 for literal in literals]) ^ 1

    def xor(self, left: int, right: int) -> int:
        """The exclusive OR; negations move to its output."""
        negated = (left ^ right) & 1
        low, high = sorted((left & ~1, right & ~1))
        if low == high:
            return FALSE ^ negated
        if low == FALSE:
            return high ^ negated
        return self._shared(Gate("xor", (low, high))) ^ negated

    def choose(self, condition: int, yes: int, no: int) -> int:
        """One of two literals."""
        if yes == no:
            return yes
        return self.any_of([self.all_of([condition, yes]), self.all_of([condition ^ 1, no])])

    def _shared(self, gate: Gate) -> int:
        if gate not in self._known:
            self._known[gate] = len(self.gates)
            self.gates.append(gate)
        return 2 * self._known[gate]


Planes = Sequence[int]
"""A whole number as literals: its binary digits, lowest first."""


class Numbers:
    """Arithmetic with numbers of which every binary digit is a literal."""

    def __init__(self, gates: Gates) -> None:
        self.gates = gates

    def constant(self, value: int, width: int) -> list[int]:
        """A number modulo 2 ** width."""
        return [TRUE if value >> place & 1 else FALSE for place in range(width)]

    def times(self, planes: Planes, factor: int, width: int) -> list[int]:
        """A multiple, modulo 2 ** width."""
        total = self.constant(0, width)
        for place in range(width):
            if factor >> place & 1:
                shifted = [FALSE] * place + list(planes)
                total = self.add(total, self._padded(shifted, width))
        return total

    def add(self, left: Planes, right: Planes, carry: int = FALSE) -> list[int]:
        """The sum of two numbers of one width, modulo 2 ** width."""
        total = []
        for a, b in zip(left, right, strict=True):
            half = self.gates.xor(a, b)
            total.append(self.gates.xor(half, carry))
            both, either = self.gates.all_of([a, b]), self.gates.all_of([half, carry])
            carry = self.gates.any_of([both, either])
        return total

    def subtract(self, left: Planes, right: Planes) -> list[int]:
        """The difference, modulo 2 ** width."""
        return self.add(left, [plane ^ 1 for plane in right], TRUE)

    def less(self, left: Planes, right: Planes) -> int:
        """Whether one number without sign is smaller than another."""
        found = FALSE
        for a, b in zip(left, right, strict=True):
            differ = self.gates.xor(a, b)
            found = self.gates.choose(differ, b, found)
        return found

    def choose(self, condition: int, yes: Planes, no: Planes) -> list[int]:
        """One of two numbers of one width."""
        return [self.gates.choose(condition, a, b) for a, b in zip(yes, no, strict=True)]

    def _padded(self, planes: Planes, width: int) -> list[int]:
        return [*planes, *[FALSE] * width][:width]
