"""Check that a queue machine is legal and a layout fits it; `verify` lists every fault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tapeformer.circuit.record import Port
from tapeformer.circuit.verify import verify as verify_circuit
from tapeformer.faults import Fault, quoted
from tapeformer.layout import Layout
from tapeformer.queues.record import QueueMachine
from tapeformer.queues.verdicts import VERDICTS


def verify(machine: QueueMachine) -> tuple[Fault, ...]:
    """Return all faults of a queue machine, those of its circuit included."""
    return (
        *_name_faults(machine),
        *_alphabet_faults(machine),
        *_port_faults("input", machine, machine.step.inputs[: _varying(machine)]),
        *_constant_faults(machine, machine.step.inputs[_varying(machine) :]),
        *_port_faults("output", machine, machine.step.outputs),
        *_prompt_faults(machine),
        *_register_faults(machine),
        *verify_circuit(machine.step),
    )


def verify_layout(machine: QueueMachine, layout: Layout) -> tuple[Fault, ...]:
    """Return all faults of a layout: lengths missing, not positive, or odd under a parity test."""
    return tuple(_length_faults(machine, layout))


def _name_faults(machine: QueueMachine) -> Iterator[Fault]:
    names = [queue.name for queue in machine.queues] + [r.name for r in machine.registers]
    for name, count in Counter([*names, "parity"]).items():
        if count > 1:
            yield Fault(f"the factor name {quoted(name)} is used {count} times", expected="once")


def _alphabet_faults(machine: QueueMachine) -> Iterator[Fault]:
    firsts = [("queue", q.name, q.alphabet, q.blank) for q in machine.queues]
    firsts += [("register", r.name, r.alphabet, r.start) for r in machine.registers]
    for kind, name, alphabet, first in firsts:
        if first not in alphabet:
            what = f"{kind} {quoted(name)} begins with a symbol that it does not have"
            yield Fault(what, expected=", ".join(alphabet), got=quoted(first))


def _port_faults(side: str, machine: QueueMachine, ports: Sequence[Port]) -> Iterator[Fault]:
    wanted = [(queue.name, queue.alphabet) for queue in machine.queues]
    wanted += [(register.name, register.alphabet) for register in machine.registers]
    got = [(port.name, port.values) for port in ports]
    if [name for name, _ in wanted] != [name for name, _ in got]:
        yield Fault(
            f"the step's {side} ports are not the queues and registers, in order",
            expected=", ".join(name for name, _ in wanted),
            got=", ".join(name for name, _ in got),
        )
        return
    for (name, alphabet), (_, values) in zip(wanted, got, strict=True):
        if alphabet != values:
            what = f"the step's {side} port {quoted(name)} has another alphabet"
            yield Fault(what, expected=", ".join(alphabet), got=", ".join(values))


def _varying(machine: QueueMachine) -> int:
    """Return the number of input ports whose values change from step to step."""
    return len(machine.step.inputs) - len(machine.constants)


def _constant_faults(machine: QueueMachine, ports: Sequence[Port]) -> Iterator[Fault]:
    for port, (name, value) in zip(ports, machine.constants.items(), strict=True):
        if port.name != name or value not in port.values:
            what = f"the constant {quoted(name)} does not fit the step's port {quoted(port.name)}"
            yield Fault(what, expected=", ".join(port.values), got=quoted(value))


def _prompt_faults(machine: QueueMachine) -> Iterator[Fault]:
    alphabets = {queue.name: queue.alphabet for queue in machine.queues}
    for name in (machine.prompt_queue, *machine.prompt_copies):
        if name not in alphabets:
            what = "the prompt goes to a queue that is not there"
            yield Fault(what, expected=", ".join(alphabets), got=quoted(name))
            continue
        for cell in (machine.prompt_start, *machine.prompt_symbols.values()):
            if cell not in alphabets[name]:
                what = f"the prompt writes a symbol that {quoted(name)} does not have"
                yield Fault(what, got=quoted(cell))


def _register_faults(machine: QueueMachine) -> Iterator[Fault]:
    alphabets = {register.name: set(register.alphabet) for register in machine.registers}
    counts = {str(n) for n in range(len(alphabets.get(machine.stepped, "")))}
    wanted = {machine.verdict: set(VERDICTS), machine.stepped: counts}
    for name, values in wanted.items():
        if not alphabets.get(name, {"?"}) <= values:
            what = f"register {quoted(name)} is missing or has other values"
            yield Fault(what, expected=", ".join(sorted(values)))
    if machine.state not in alphabets:
        yield Fault(f"register {quoted(machine.state)} is missing")


def _length_faults(machine: QueueMachine, layout: Layout) -> Iterator[Fault]:
    for queue in machine.queues:
        length = layout.lengths.get(queue.length_rule)
        if length is None or length < 1:
            what = f"the layout gives no length for {quoted(queue.length_rule)}"
            yield Fault(what, expected="at least 1", got=str(length))
        elif queue.parity_test and length % 2:
            yield Fault(
                f"queue {quoted(queue.name)} has odd length {length}",
                expected="an even length, or parity does not tell what was never written",
                got=str(length),
            )
