"""Compute a circuit on many inputs at once: bit n of every integer belongs to input n."""

from __future__ import annotations

from collections.abc import Mapping

from tapeformer.circuit.record import And, Circuit, InputBit, Literal

Slices = dict[tuple[str, str], int]
"""For each port and value, the inputs (or outputs) that have it."""


def evaluate_sliced(circuit: Circuit, inputs: Mapping[tuple[str, str], int], every: int) -> Slices:
    """Return the outputs; where a sum has two true literals, no value of the output is right.

    `every` has the bits of all inputs. A port whose values are all missing is constant false.
    """
    truth: list[int] = []
    broken = 0

    def of(literal: Literal) -> int:
        return truth[literal.bit] if literal.positive else every ^ truth[literal.bit]

    for bit in circuit.bits:
        if isinstance(bit, InputBit):
            truth.append(inputs.get((bit.port, bit.value), 0))
        elif isinstance(bit, And):
            value = every
            for literal in bit.literals:
                value &= of(literal)
            truth.append(value)
        else:
            value = 0
            for literal in bit.literals:
                broken |= value & of(literal)
                value |= of(literal)
            truth.append(value)
    outputs = zip(circuit.outputs, circuit.output_literals, strict=True)
    return {
        (port.name, value): of(literal) & ~broken
        for port, literals in outputs
        for value, literal in zip(port.values, literals, strict=True)
    }
