"""A circuit as text: its sizes, and one line for each bit."""

from __future__ import annotations

from dataclasses import dataclass

from tapeformer.circuit.record import And, Bit, Circuit, InputBit, Literal, Sum


@dataclass(frozen=True)
class Size:
    """ANDs are neurons; the AND-depth is the depth of the feed-forward network."""

    input_bits: int
    ands: int
    sums: int
    depth: int


def size(circuit: Circuit) -> Size:
    """How large the network of a circuit will be."""
    kinds = [type(bit) for bit in circuit.bits]
    return Size(kinds.count(InputBit), kinds.count(And), kinds.count(Sum), max(depths(circuit)))


def depths(circuit: Circuit) -> tuple[int, ...]:
    """For each bit the largest number of ANDs on a way to it, itself included."""
    found: list[int] = []
    for bit in circuit.bits:
        below = 0
        if not isinstance(bit, InputBit):
            below = max((found[literal.bit] for literal in bit.literals), default=0)
        found.append(below + (isinstance(bit, And) and bool(bit.literals)))
    return tuple(found)


def show(circuit: Circuit) -> str:
    """The whole circuit, one bit a line, with its label."""
    made = size(circuit)
    head = f"{made.input_bits} input bits, {made.ands} ands, {made.sums} sums, depth {made.depth}"
    bits = [f"b{index} = {_text(bit)}" for index, bit in enumerate(circuit.bits)]
    return "\n".join([head, *bits, *_outputs(circuit)])


def _outputs(circuit: Circuit) -> list[str]:
    ports = zip(circuit.outputs, circuit.output_literals, strict=True)
    return [
        f"{port.name} := {value} where {_name(literal)}"
        for port, literals in ports
        for value, literal in zip(port.values, literals, strict=True)
    ]


def _text(bit: Bit) -> str:
    if isinstance(bit, InputBit):
        return f"[{bit.port} is {bit.value}]"
    if isinstance(bit, And):
        body = " & ".join(map(_name, bit.literals)) or "true"
    else:
        body = " + ".join(map(_name, bit.literals)) or "false"
    return f"{body}    # {bit.label}" if bit.label else body


def _name(literal: Literal) -> str:
    return f"b{literal.bit}" if literal.positive else f"!b{literal.bit}"
