"""Put the fronts of the queues before the step circuit: the circuit of the last network.

Front of queue r = blank if the parity fetched with it equals the token's own, else the symbol
fetched (Appendix B, after Equation (ff)). The parity of the next token is flipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tapeformer.circuit.record import And, Circuit, InputBit, Literal, Port, Sum
from tapeformer.lowering.compose import Composer
from tapeformer.lowering.queues_to_heads import CURRENT_TOKEN_RULE, HeadMode, HeadPlan
from tapeformer.queues.record import Queue, QueueMachine

PARITY = Port("parity", ("0", "1"))


def slot(queue: Queue) -> Port:
    """Return the port for what a head fetched of a queue."""
    return Port(f"fetched {queue.name}", queue.alphabet)


def parity_slot(head: str) -> Port:
    """Return the port for the parity of the token that a head attends to."""
    return Port(f"fetched parity of {head}", PARITY.values)


def token_ports(machine: QueueMachine) -> tuple[Port, ...]:
    """Return the factors of a token in order: queues, registers, parity."""
    queues = (Port(queue.name, queue.alphabet) for queue in machine.queues)
    registers = (Port(register.name, register.alphabet) for register in machine.registers)
    return (*queues, *registers, PARITY)


def constant_ports(machine: QueueMachine) -> tuple[Port, ...]:
    """Return the input ports of the step whose values never change."""
    return tuple(port for port in machine.step.inputs if port.name in machine.constants)


def fetched_ports(plan: HeadPlan) -> tuple[tuple[Port, Port], ...]:
    """Return what one head copies from a token, and to which slot: symbols, and the parity."""
    copies = [(Port(queue.name, queue.alphabet), slot(queue)) for queue in plan.queues]
    if plan.fetches_parity:
        copies.append((PARITY, parity_slot(plan.name)))
    return tuple(copies)


def fronted(machine: QueueMachine, plans: Sequence[HeadPlan], mode: HeadMode) -> Circuit:
    """Return the step function in terms of a token and of what its heads fetched."""
    composer = Composer()
    following = composer.include(machine.step, _fronts(composer, machine, plans, mode))
    flipped = zip(PARITY.values, reversed(PARITY.values), strict=True)
    following |= {
        InputBit(PARITY.name, value): composer.input(PARITY.name, other) for value, other in flipped
    }
    outputs = token_ports(machine)
    fetched = (into for plan in plans for _, into in fetched_ports(plan))
    return Circuit(
        inputs=(*outputs, *fetched, *constant_ports(machine)),
        outputs=outputs,
        bits=tuple(composer.bits),
        output_literals=tuple(
            tuple(following[InputBit(port.name, value)] for value in port.values)
            for port in outputs
        ),
    )


def used_inputs(circuit: Circuit) -> frozenset[InputBit]:
    """Return the input bits that some output depends on."""
    waiting = [literal.bit for literals in circuit.output_literals for literal in literals]
    seen: set[int] = set()
    while waiting:
        bit = waiting.pop()
        if bit not in seen:
            seen.add(bit)
            record = circuit.bits[bit]
            if not isinstance(record, InputBit):
                waiting += [literal.bit for literal in record.literals]
    return frozenset(b for bit in seen if isinstance(b := circuit.bits[bit], InputBit))


def _fronts(
    composer: Composer, machine: QueueMachine, plans: Sequence[HeadPlan], mode: HeadMode
) -> dict[InputBit, Literal]:
    """Return what replaces each input bit of the step function that asks for a queue's front."""
    fronts: dict[InputBit, Literal] = {}
    for plan in plans:
        test = _RangeTest(composer, plan.name)
        for queue in plan.queues:
            fronts |= _front(composer, queue, test)
    for queue in machine.queues if mode == "offset" else ():
        if queue.length_rule == CURRENT_TOKEN_RULE:
            fronts |= _copied(composer, queue, queue.name)
    return fronts


def _copied(composer: Composer, queue: Queue, port: str) -> dict[InputBit, Literal]:
    """Return a front that is what a port holds."""
    return {InputBit(queue.name, v): composer.input(port, v) for v in queue.alphabet}


def _front(composer: Composer, queue: Queue, test: _RangeTest) -> dict[InputBit, Literal]:
    """Return a front that is what was fetched, or blank where that lies before the first token."""
    if not queue.parity_test:
        return _copied(composer, queue, slot(queue).name)
    fronts = {}
    for value in queue.alphabet:
        label = f"{queue.name}/front={value}"
        ways = test.in_range(composer.input(slot(queue).name, value), label)
        if value == queue.blank:
            ways += test.out_of_range()
        fronts[InputBit(queue.name, value)] = composer.bit(Sum(ways, label))
    return fronts


@dataclass
class _RangeTest:
    """A head's test by parity whether it reads before the first token; made once for all its queues."""

    composer: Composer
    head: str
    outside: list[Literal] = field(default_factory=list)

    def in_range(self, found: Literal, label: str) -> tuple[Literal, ...]:
        """Return the two ways in which a fetched bit counts: the two parities differ."""
        return tuple(
            self.composer.bit(And((found, *self._parities(own, other)), f"{label} at parity {own}"))
            for own, other in (PARITY.values, reversed(PARITY.values))
        )

    def out_of_range(self) -> tuple[Literal, ...]:
        """Return the two ways in which there is no token so far back: the parities are equal."""
        if not self.outside:
            label = f"{self.head}/before the beginning at parity"
            self.outside = [
                self.composer.bit(And(self._parities(parity, parity), f"{label} {parity}"))
                for parity in PARITY.values
            ]
        return tuple(self.outside)

    def _parities(self, own: str, fetched: str) -> tuple[Literal, Literal]:
        port = parity_slot(self.head).name
        return self.composer.input(PARITY.name, own), self.composer.input(port, fetched)
