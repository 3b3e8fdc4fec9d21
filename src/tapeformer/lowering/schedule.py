"""Choose the layer of the ReLU network at which each AND of a circuit is computed.

A value is carried from the layer that makes it to the last layer that needs it, one neuron per
layer in between. The depth is the circuit's own; inside that freedom each AND is moved to where
fewest values are carried.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tapeformer.circuit.record import And, Bit, Circuit, InputBit, Literal

SWEEPS = 40


@dataclass(frozen=True)
class Schedule:
    """For each bit the layer at which it is ready (inputs: 0), and the number of hidden layers."""

    ready: tuple[int, ...]
    depth: int


def schedule(circuit: Circuit, needed: Iterable[Literal]) -> Schedule:
    """Return the layers of all bits, so that the `needed` literals can be read after the last one."""
    placement = _Placement(circuit, {literal.bit for literal in needed})
    for _ in range(SWEEPS):
        if not placement.improve():
            break
    return Schedule(tuple(placement.ready), placement.depth)


def is_neuron(bit: Bit) -> bool:
    """Return whether a bit costs a ReLU neuron: an AND of two literals or more. Others are linear."""
    return isinstance(bit, And) and len(bit.literals) > 1


def operands(bit: Bit) -> tuple[Literal, ...]:
    """Return the literals that a bit is made of; none for an input."""
    return () if isinstance(bit, InputBit) else bit.literals


class _Placement:
    """The layers while they are being chosen, first as early as possible."""

    def __init__(self, circuit: Circuit, needed: set[int]) -> None:
        self.parts = [tuple({literal.bit for literal in operands(bit)}) for bit in circuit.bits]
        self.neuron = [is_neuron(bit) for bit in circuit.bits]
        self.needed = needed
        self.ready = [0] * len(circuit.bits)
        for bit in range(len(circuit.bits)):
            self.ready[bit] = self.earliest(bit)
        self.depth = max([1, *(self.ready[bit] for bit in needed)])
        self.live = self._live()
        self.users = self._users()
        self.uses = self._uses()

    def earliest(self, bit: int) -> int:
        """Return the layer after the last operand for a neuron, that of the last operand otherwise."""
        last = max((self.ready[part] for part in self.parts[bit]), default=0)
        return last + 1 if self.neuron[bit] else last

    def _live(self) -> list[int]:
        """Return the bits on which something needed depends, in order."""
        reached = [False] * len(self.parts)
        for bit in self.needed:
            reached[bit] = True
        for bit in reversed(range(len(self.parts))):
            for part in self.parts[bit] if reached[bit] else ():
                reached[part] = True
        return [bit for bit, live in enumerate(reached) if live]

    def _users(self) -> list[list[int]]:
        users: list[list[int]] = [[] for _ in self.parts]
        for bit in self.live:
            for part in self.parts[bit]:
                users[part].append(bit)
        return users

    def _uses(self) -> list[list[int]]:
        """Count, for each bit and layer, what reads the bit there; outputs read after the last."""
        uses = [[0] * (self.depth + 2) for _ in self.parts]
        for bit in self.live:
            for part in self.parts[bit]:
                uses[part][self._reading_layer(bit)] += 1
        for bit in self.needed:
            uses[bit][self.depth + 1] += 1
        return uses

    def _reading_layer(self, bit: int) -> int:
        """Return the layer of a neuron, which reads there; a linear bit is read one layer later."""
        return self.ready[bit] if self.neuron[bit] else self.ready[bit] + 1

    def _move(self, bit: int, layer: int) -> None:
        if layer == self.ready[bit]:
            return
        before = self._reading_layer(bit)
        self.ready[bit] = layer
        for part in self.parts[bit]:
            self.uses[part][before] -= 1
            self.uses[part][self._reading_layer(bit)] += 1

    def improve(self) -> bool:
        """Make one pass from the outputs back; return whether anything moved."""
        before = list(self.ready)
        latest = [self.depth] * len(self.parts)
        for bit in reversed(self.live):
            if self.parts[bit]:
                latest[bit] = self._deadline(bit, latest)
            if self.neuron[bit]:
                self._move(bit, self._cheapest(bit, latest[bit]))
        for bit in self.live:
            if not self.neuron[bit]:
                self._move(bit, self.earliest(bit))
        return before != self.ready

    def _deadline(self, bit: int, latest: Sequence[int]) -> int:
        """Return the last layer at which the bit may become ready, users staying where they are."""
        limits = (
            self.ready[user] - 1 if self.neuron[user] else latest[user] for user in self.users[bit]
        )
        return min(limits, default=self.depth)

    def _cheapest(self, bit: int, deadline: int) -> int:
        """Return the layer between operands and deadline at which fewest values are carried.

        Of equally good ones the last, which leaves the operands room to follow.
        """
        parts = self.parts[bit]
        first = max(self.ready[part] for part in parts) + 1
        if first >= deadline:
            return first
        others = [self._last_use(part, bit) for part in parts]
        return min(
            range(first, deadline + 1),
            key=lambda layer: (sum(max(layer - last, 0) for last in others) - layer, -layer),
        )

    def _last_use(self, bit: int, without: int) -> int:
        """Return the last layer that reads the bit, leaving one user aside."""
        uses, own = self.uses[bit], self._reading_layer(without)
        for layer in range(self.depth + 1, self.ready[bit], -1):
            if uses[layer] > (layer == own):
                return layer
        return self.ready[bit] + 1
