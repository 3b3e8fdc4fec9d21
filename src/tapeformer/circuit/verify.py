"""Check that a circuit is legal; `verify` lists every fault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tapeformer.circuit.record import Circuit, InputBit, Literal, Port, input_name
from tapeformer.faults import Fault, quoted


def verify(circuit: Circuit) -> tuple[Fault, ...]:
    """Return all faults of a circuit; none if the evaluators and the lowering may take it."""
    return (
        *_port_faults("input", circuit.inputs),
        *_port_faults("output", circuit.outputs),
        *_bit_faults(circuit),
        *_label_faults(circuit),
        *_output_faults(circuit),
    )


def _port_faults(kind: str, ports: Sequence[Port]) -> Iterator[Fault]:
    for name, count in Counter(port.name for port in ports).items():
        if count > 1:
            yield Fault(f"{kind} port {quoted(name)} is there {count} times", expected="once")
    for port in ports:
        if not port.values:
            yield Fault(f"{kind} port {quoted(port.name)} has no values", expected="at least one")
        for value, count in Counter(port.values).items():
            if count > 1:
                what = (
                    f"{kind} port {quoted(port.name)} has the value {quoted(value)} {count} times"
                )
                yield Fault(what, expected="once")


def _bit_faults(circuit: Circuit) -> Iterator[Fault]:
    known = {(port.name, value) for port in circuit.inputs for value in port.values}
    for number, bit in enumerate(circuit.bits):
        if isinstance(bit, InputBit):
            if (bit.port, bit.value) not in known:
                got = f"{quoted(bit.port)} = {quoted(bit.value)}"
                yield Fault(f"bit {number} reads no input port's value", got=got)
        else:
            yield from _reference_faults(f"bit {number}", bit.literals, number)


def _label_faults(circuit: Circuit) -> Iterator[Fault]:
    """Yield a fault for each label that does not say which bit is meant."""
    names = (b.label if not isinstance(b, InputBit) else input_name(b) for b in circuit.bits)
    for name, count in Counter(name for name in names if name).items():
        if count > 1:
            remedy = "simplify the circuit: it gives every bit its own label"
            yield Fault(f"{count} bits have the label {quoted(name)}", None, "one", remedy=remedy)


def _output_faults(circuit: Circuit) -> Iterator[Fault]:
    if len(circuit.outputs) != len(circuit.output_literals):
        yield Fault(
            "output ports and their literals do not match",
            expected=f"{len(circuit.outputs)} groups",
            got=str(len(circuit.output_literals)),
        )
    for port, literals in zip(circuit.outputs, circuit.output_literals, strict=False):
        name = f"output port {quoted(port.name)}"
        if len(port.values) != len(literals):
            what = f"{name} has not one literal for each value"
            yield Fault(what, expected=str(len(port.values)), got=str(len(literals)))
        yield from _reference_faults(name, literals, len(circuit.bits))


def _reference_faults(name: str, literals: Sequence[Literal], below: int) -> Iterator[Fault]:
    for literal in literals:
        if not 0 <= literal.bit < below:
            what = f"{name} refers to a bit that does not come before it"
            yield Fault(what, expected=f"0 to {below - 1}", got=str(literal.bit))
    for bit, count in Counter(literal.bit for literal in literals).items():
        if count > 1 and not name.startswith("output"):
            yield Fault(f"{name} has bit {bit} {count} times", expected="once")
