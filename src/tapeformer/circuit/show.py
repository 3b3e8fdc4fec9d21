"""Print a circuit: its sizes, its ports, and one line for each gate, by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tapeformer.circuit.record import (
    MOST_RULES,
    And,
    Bit,
    Circuit,
    InputBit,
    Literal,
    Sum,
    input_name,
)
from tapeformer.listing import first


@dataclass(frozen=True)
class Size:
    """Numbers of bits by kind. An AND is a neuron; the depth counts ANDs only."""

    input_bits: int
    ands: int
    sums: int
    depth: int


def size(circuit: Circuit) -> Size:
    """Return how large the network of a circuit will be."""
    kinds = [type(bit) for bit in circuit.bits]
    return Size(kinds.count(InputBit), kinds.count(And), kinds.count(Sum), max(depths(circuit)))


def depths(circuit: Circuit) -> tuple[int, ...]:
    """Return for each bit the largest number of ANDs on a path to it, itself included."""
    found: list[int] = []
    for bit in circuit.bits:
        below = 0
        if not isinstance(bit, InputBit):
            below = max((found[literal.bit] for literal in bit.literals), default=0)
        found.append(below + (isinstance(bit, And) and bool(bit.literals)))
    return tuple(found)


def show(circuit: Circuit, limit: int | None = None) -> str:
    """Return the circuit as text; of gates and of outputs at most `limit` lines each.

    A line such as `and  NAME = a & not b` is a gate; names are the labels.
    """
    made = size(circuit)
    gates = [bit for bit in circuit.bits if not isinstance(bit, InputBit)]
    results = sum(len(port.values) for port in circuit.outputs)
    head = f"input bits {made.input_bits}, ands {made.ands}, sums {made.sums}, depth {made.depth}"
    inputs = (f"input {port.name}: {' '.join(port.values)}" for port in circuit.inputs)
    return "\n".join(
        [
            head,
            *first(inputs, limit, len(circuit.inputs), "inputs"),
            *first(_gates(circuit), limit, len(gates), "gates"),
            *first(_outputs(circuit), limit, results, "output values"),
        ]
    )


def _gates(circuit: Circuit) -> Iterator[str]:
    for index, bit in enumerate(circuit.bits):
        if not isinstance(bit, InputBit):
            kind, sign = ("and", " & ") if isinstance(bit, And) else ("sum", " + ")
            body = sign.join(_literal(circuit, part) for part in bit.literals)
            empty = "true" if isinstance(bit, And) else "false"
            yield f"{kind}  {_name(index, bit)} = {body or empty}{_rules(bit)}"


def _outputs(circuit: Circuit) -> Iterator[str]:
    ports = zip(circuit.outputs, circuit.output_literals, strict=True)
    for port, literals in ports:
        for value, literal in zip(port.values, literals, strict=True):
            yield f"output {port.name}={value} = {_literal(circuit, literal)}"


def _literal(circuit: Circuit, literal: Literal) -> str:
    name = _name(literal.bit, circuit.bits[literal.bit])
    return name if literal.positive else f"not {name}"


def _name(index: int, bit: Bit) -> str:
    return input_name(bit) if isinstance(bit, InputBit) else bit.label or f"bit {index}"


def _rules(bit: And | Sum) -> str:
    """Return the rules a gate comes from as a remark, if there are any."""
    if not bit.rules:
        return ""
    numbers = ", ".join(map(str, bit.rules[:MOST_RULES]))
    more = " and more" if len(bit.rules) > MOST_RULES else ""
    return f"    # rule{'s' if len(bit.rules) > 1 else ''} {numbers}{more}"
