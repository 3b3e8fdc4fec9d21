"""The step circuit with the fronts of the queues put before it, as the last network computes it.

Front of queue r = blank if the parity fetched with it equals the token's own, else the symbol
fetched (Appendix B, after Equation (ff)). The parity of the next token is flipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tapeformer.circuit.record import And, Bit, Circuit, InputBit, Literal, Port, Sum
from tapeformer.lowering.heads import CURRENT_TOKEN_RULE, HeadMode, HeadPlan
from tapeformer.queues.record import Queue, QueueMachine

PARITY = Port("parity", ("0", "1"))


def slot(queue: Queue) -> Port:
    """What a head fetched of a queue."""
    return Port(f"fetched {queue.name}", queue.alphabet)


def parity_slot(head: str) -> Port:
    """The parity of the token that a head attends to."""
    return Port(f"fetched parity of {head}", PARITY.values)


def token_ports(machine: QueueMachine) -> tuple[Port, ...]:
    """The factors of a token in order: queues, registers, parity."""
    queues = (Port(queue.name, queue.alphabet) for queue in machine.queues)
    registers = (Port(register.name, register.alphabet) for register in machine.registers)
    return (*queues, *registers, PARITY)


def fetched_ports(plan: HeadPlan) -> tuple[Port, ...]:
    """What one head writes: its queues' symbols and, where needed, the parity."""
    parity = (parity_slot(plan.name),) if plan.fetches_parity else ()
    return (*(slot(queue) for queue in plan.queues), *parity)


def source_port(port: Port, plan: HeadPlan) -> Port:
    """The part of a token that is copied into a slot of a head."""
    sources = (*(Port(q.name, q.alphabet) for q in plan.queues), PARITY)
    return sources[fetched_ports(plan).index(port)]


def fronted(machine: QueueMachine, plans: Sequence[HeadPlan], mode: HeadMode) -> Circuit:
    """The step function in terms of a token and of what its heads fetched."""
    builder = _Builder()
    fronts: dict[InputBit, Literal] = {}
    for plan in plans:
        for queue in plan.queues:
            fronts |= builder.front(queue, plan.name)
    for queue in machine.queues if mode == "offset" else ():
        if queue.length_rule == CURRENT_TOKEN_RULE:
            fronts |= {_pop(queue, v): builder.input(queue.name, v) for v in queue.alphabet}
    outputs = builder.step(machine.step, fronts)
    flipped = tuple(builder.input(PARITY.name, value) for value in reversed(PARITY.values))
    inputs = (*token_ports(machine), *(port for plan in plans for port in fetched_ports(plan)))
    return Circuit(
        inputs, (*machine.step.outputs, PARITY), tuple(builder.bits), (*outputs, flipped)
    )


def _pop(queue: Queue, value: str) -> InputBit:
    """The step function's own input bit for a queue's front."""
    return InputBit(queue.name, value)


@dataclass
class _Builder:
    """Bits in order of dependence; every input bit and every head's range test stands once."""

    bits: list[Bit] = field(default_factory=list)
    places: dict[InputBit, Literal] = field(default_factory=dict)
    ranges: dict[str, tuple[Literal, ...]] = field(default_factory=dict)

    def bit(self, record: Bit) -> Literal:
        self.bits.append(record)
        return Literal(len(self.bits) - 1)

    def input(self, port: str, value: str) -> Literal:
        record = InputBit(port, value)
        if record not in self.places:
            self.places[record] = self.bit(record)
        return self.places[record]

    def front(self, queue: Queue, head: str) -> dict[InputBit, Literal]:
        """The front of a queue, value by value."""
        fetched = slot(queue).name
        if not queue.parity_test:
            return {_pop(queue, v): self.input(fetched, v) for v in queue.alphabet}
        return {
            _pop(queue, value): self.bit(
                Sum(self._tested(queue, head, value), f"{queue.name}/front={value}")
            )
            for value in queue.alphabet
        }

    def _tested(self, queue: Queue, head: str, value: str) -> tuple[Literal, ...]:
        """The ways to have a front: fetched from another parity, or blank from the own one."""
        found = self.input(slot(queue).name, value)
        label = f"{queue.name}/front={value}"
        ways = tuple(
            self.bit(And((found, *self._parities(head, own, other)), label))
            for own, other in (("0", "1"), ("1", "0"))
        )
        return (*ways, *self._out_of_range(head)) if value == queue.blank else ways

    def _out_of_range(self, head: str) -> tuple[Literal, ...]:
        """True where the head found no token so far back and attends to the current one."""
        if head not in self.ranges:
            label = f"{head}/before the beginning"
            pairs = (self._parities(head, parity, parity) for parity in PARITY.values)
            self.ranges[head] = tuple(self.bit(And(pair, label)) for pair in pairs)
        return self.ranges[head]

    def _parities(self, head: str, own: str, fetched: str) -> tuple[Literal, Literal]:
        return self.input(PARITY.name, own), self.input(parity_slot(head).name, fetched)

    def step(
        self, step: Circuit, fronts: dict[InputBit, Literal]
    ) -> tuple[tuple[Literal, ...], ...]:
        """Copies the step circuit; answers where its output literals are now."""
        moved: list[Literal] = []

        def here(literal: Literal) -> Literal:
            target = moved[literal.bit]
            return Literal(target.bit, target.positive == literal.positive)

        for record in step.bits:
            if isinstance(record, InputBit):
                moved.append(fronts.get(record) or self.input(record.port, record.value))
            else:
                literals = tuple(here(literal) for literal in record.literals)
                moved.append(self.bit(replace(record, literals=literals)))
        return tuple(tuple(here(literal) for literal in port) for port in step.output_literals)
