"""A circuit and its ReLU network agree on every input; hidden values stay 0 or 1."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tapeformer.circuit.record import And, Bit, Circuit, InputBit, Literal, Port, Sum
from tapeformer.lowering.circuit_to_network import Form, Readout, relu_network
from tapeformer.lowering.schedule import is_neuron, schedule
from tapeformer.weights.matrices import dense
from tapeformer.weights.record import Affine

PORTS = tuple(Port(f"x{place}", ("0", "1")) for place in range(4))


@st.composite
def circuits(draw: st.DrawFn) -> Circuit:
    """Random ANDs, and SUMs of two ANDs that exclude each other."""
    bits: list[Bit] = [InputBit(port.name, value) for port in PORTS for value in port.values]

    def literal() -> Literal:
        return Literal(draw(st.integers(0, len(bits) - 1)), draw(st.booleans()))

    for _ in range(draw(st.integers(0, 25))):
        kind = draw(st.sampled_from(["and", "choice", "alias", "false"]))
        if kind == "and":
            bits.append(And(tuple(literal() for _ in range(draw(st.integers(0, 4))))))
        elif kind == "choice":
            which, then, other = literal(), literal(), literal()
            place = len(bits)
            bits.append(And((which, then)))
            bits.append(And((Literal(which.bit, not which.positive), other)))
            bits.append(Sum((Literal(place), Literal(place + 1))))
        else:
            bits.append(Sum((literal(),) if kind == "alias" else ()))
    outputs = tuple(literal() for _ in range(5))
    return Circuit(PORTS, (), tuple(bits), (outputs,))


def evaluated(circuit: Circuit, values: dict[str, str]) -> list[int]:
    found: list[int] = []
    for bit in circuit.bits:
        if isinstance(bit, InputBit):
            found.append(int(values[bit.port] == bit.value))
        else:
            operands = [
                found[lit.bit] if lit.positive else 1 - found[lit.bit] for lit in bit.literals
            ]
            found.append(int(all(operands)) if isinstance(bit, And) else sum(operands))
    return [
        found[lit.bit] if lit.positive else 1 - found[lit.bit] for lit in circuit.output_literals[0]
    ]


def lowered(circuit: Circuit) -> tuple[Affine, ...]:
    inputs = [bit for bit in circuit.bits if isinstance(bit, InputBit)]
    reads = {bit: Form(Counter({place: 1})) for place, bit in enumerate(inputs)}
    start = len(inputs)
    outputs = circuit.output_literals[0]
    readouts = [Readout(start + n, ((literal, 1),)) for n, literal in enumerate(outputs)]
    fields = [f"field {place}" for place in range(start + len(outputs))]
    return relu_network(circuit, reads, readouts, fields)


@given(circuits())
@settings(max_examples=80, deadline=None)
def test_network_computes_the_circuit_and_hidden_values_are_bits(circuit: Circuit) -> None:
    network = lowered(circuit)
    for row in product("01", repeat=len(PORTS)):
        values = {port.name: value for port, value in zip(PORTS, row, strict=True)}
        inputs = [bit for bit in circuit.bits if isinstance(bit, InputBit)]
        x = np.zeros(len(inputs) + 5)
        x[: len(inputs)] = [values[bit.port] == bit.value for bit in inputs]
        for affine in network[:-1]:
            x = np.maximum(dense(affine.matrix) @ x + affine.bias, 0)
            assert set(x.tolist()) <= {0.0, 1.0}
        x = dense(network[-1].matrix) @ x + network[-1].bias
        assert x[len(inputs) :].tolist() == evaluated(circuit, values)
        assert not x[: len(inputs)].any()


@given(circuits())
@settings(max_examples=80, deadline=None)
def test_every_and_comes_after_its_operands_and_depth_is_the_circuit_s(circuit: Circuit) -> None:
    plan = schedule(circuit, circuit.output_literals[0])
    longest = [0] * len(circuit.bits)
    for place, bit in enumerate(circuit.bits):
        if not isinstance(bit, InputBit):
            last = max((longest[literal.bit] for literal in bit.literals), default=0)
            longest[place] = last + is_neuron(bit)
    needed = [longest[literal.bit] for literal in circuit.output_literals[0]]
    assert plan.depth == max(1, *needed)
    for place in used(circuit):
        bit = circuit.bits[place]
        if is_neuron(bit) and not isinstance(bit, InputBit):
            assert all(plan.ready[literal.bit] < plan.ready[place] for literal in bit.literals)
            assert plan.ready[place] <= plan.depth


def used(circuit: Circuit) -> set[int]:
    """The bits on which an output depends."""
    reached: set[int] = set()
    pending = [literal.bit for literal in circuit.output_literals[0]]
    while pending:
        place = pending.pop()
        bit = circuit.bits[place]
        if place not in reached and not isinstance(bit, InputBit):
            pending += [literal.bit for literal in bit.literals]
        reached.add(place)
    return reached


def test_a_value_is_carried_only_while_it_is_needed() -> None:
    """A chain of ANDs over x: the late user of the first input makes it travel, nothing else does."""
    bits: list[Bit] = [InputBit(port.name, "1") for port in PORTS]
    bits += [
        And((Literal(0), Literal(1))),
        And((Literal(4), Literal(2))),
        And((Literal(5), Literal(3))),
    ]
    circuit = Circuit(PORTS, (), tuple(bits), ((Literal(6),),))
    network = lowered(circuit)
    assert [affine.matrix.shape[0] for affine in network[:-1]] == [3, 2, 1]
    assert [name for affine in network[:-1] for name in affine.names if "carry" in name] == [
        "carry x2=1 at depth 1",
        "carry x3=1 at depth 1",
        "carry x3=1 at depth 2",
    ]
