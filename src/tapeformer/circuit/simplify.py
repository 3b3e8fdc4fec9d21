"""Simplify a circuit: share equal logic, fold constants, drop dead logic, make labels unique."""

from __future__ import annotations

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.labels import with_own_labels
from tapeformer.circuit.record import And, Bit, Circuit, InputBit, Literal


def simplify(circuit: Circuit) -> Circuit:
    """Return an equal circuit in which an output needs every bit, and every bit has its own label.

    All input bits are kept. A bit that several became keeps the rules of them all.
    """
    return with_own_labels(_without_dead(_rebuilt(circuit)))


def _rebuilt(circuit: Circuit) -> Circuit:
    """Build the circuit again; the builder shares equal logic and folds constants."""
    builder = Builder()
    inputs = {port.name: builder.input(port.name, port.values) for port in circuit.inputs}
    made: list[Literal] = []
    for bit in circuit.bits:
        made.append(_made(builder, bit, made, inputs))
    for port, literals in zip(circuit.outputs, circuit.output_literals, strict=True):
        now = (_moved(literal, made) for literal in literals)
        builder.output(port.name, Wire(dict(zip(port.values, now, strict=True))))
    return builder.circuit()


def _made(builder: Builder, bit: Bit, made: list[Literal], inputs: dict[str, Wire]) -> Literal:
    if isinstance(bit, InputBit):
        return inputs[bit.port][bit.value]
    literals = [_moved(literal, made) for literal in bit.literals]
    combine = builder.all_of if isinstance(bit, And) else builder.one_of
    return combine(*literals, label=bit.label, rules=bit.rules)


def _moved(literal: Literal, made: list[Literal]) -> Literal:
    now = made[literal.bit]
    return now if literal.positive else negated(now)


def _without_dead(circuit: Circuit) -> Circuit:
    live = _live(circuit)
    kept = [index for index, bit in enumerate(circuit.bits) if live[index]]
    place = {old: new for new, old in enumerate(kept)}

    def moved(literals: tuple[Literal, ...]) -> tuple[Literal, ...]:
        return tuple(Literal(place[literal.bit], literal.positive) for literal in literals)

    def renumbered(bit: Bit) -> Bit:
        if isinstance(bit, InputBit):
            return bit
        return type(bit)(moved(bit.literals), bit.label, bit.rules)

    bits = tuple(renumbered(circuit.bits[index]) for index in kept)
    outputs = tuple(moved(literals) for literals in circuit.output_literals)
    return Circuit(circuit.inputs, circuit.outputs, bits, outputs)


def _live(circuit: Circuit) -> list[bool]:
    """Return which bits an output needs; input bits always count as needed."""
    live = [isinstance(bit, InputBit) for bit in circuit.bits]
    for literals in circuit.output_literals:
        for literal in literals:
            live[literal.bit] = True
    for index in reversed(range(len(circuit.bits))):
        bit = circuit.bits[index]
        if live[index] and not isinstance(bit, InputBit):
            for literal in bit.literals:
                live[literal.bit] = True
    return live
