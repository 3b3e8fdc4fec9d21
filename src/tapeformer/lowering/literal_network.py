"""Build the last network of Appendix B (Equation (ff)), which outputs the next token's unit vector.

It decodes the registers from their bits, finds the fronts, applies the step, has one neuron for
each token of the vocabulary, and takes away what the stream held.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tapeformer.circuit.record import And, Circuit, InputBit, Literal
from tapeformer.lowering.circuit_to_network import Form, Readout, relu_network
from tapeformer.lowering.compose import Composer
from tapeformer.lowering.literal_blocks import Blocks, bits_of
from tapeformer.lowering.queues_to_circuit import PARITY, fronted, parity_slot, slot, token_ports
from tapeformer.lowering.queues_to_heads import head_plans
from tapeformer.queues.record import QueueMachine
from tapeformer.weights.record import Affine

ON, OFF = "1", "0"


def literal_network(blocks: Blocks) -> tuple[Affine, ...]:
    """Return the network with FF(h) + h = the unit vector of the next token."""
    composer = Composer()
    tokens = _next_token(composer, blocks)
    held = [composer.input(_cell(place), ON) for place in _written(blocks)]
    circuit = Circuit((), (), tuple(composer.bits), ())
    readouts = [Readout(place, ((token, 1),)) for place, token in enumerate(tokens)]
    readouts += [
        Readout(place, ((bit, -1),)) for place, bit in zip(_written(blocks), held, strict=True)
    ]
    readouts += [Readout(blocks.start(r), (), -1) for r in range(len(blocks.machine.queues))]
    return relu_network(circuit, dict(_reads(blocks)), readouts, blocks.fields)


def _next_token(composer: Composer, blocks: Blocks) -> list[Literal]:
    """Return a literal for each token of the vocabulary: whether it is the next token."""
    machine = blocks.machine
    step = fronted(machine, head_plans(machine, "queue"), "queue")
    following = composer.include(step, _registers(composer, machine))
    names = [port.name for port in token_ports(machine)]
    return [
        composer.bit(And(_tests(following, names, values), f"next token {' '.join(values)}"))
        for values in blocks.vocabulary
    ]


def _tests(
    following: dict[InputBit, Literal], names: list[str], values: tuple[str, ...]
) -> tuple[Literal, ...]:
    """Return the literals that all hold iff the next token has these values."""
    return tuple(following[InputBit(n, value)] for n, value in zip(names, values, strict=True))


def _registers(composer: Composer, machine: QueueMachine) -> dict[InputBit, Literal]:
    """Return the values of the registers, decoded from their bits."""
    decoded = {}
    for register in machine.registers:
        for number, value in enumerate(register.alphabet):
            literals = tuple(
                composer.input(_state_bit(register.name, bit), ON if number >> bit & 1 else OFF)
                for bit in range(bits_of(register))
            )
            label = f"decoded {register.name}={value}"
            decoded[InputBit(register.name, value)] = composer.bit(And(literals, label))
    return decoded


def _state_bit(register: str, bit: int) -> str:
    return f"bit {bit} of {register}"


def _cell(place: int) -> str:
    return f"coordinate {place}"


def _written(blocks: Blocks) -> list[int]:
    """Return the coordinates that may not be zero when the last network reads, constants aside."""
    inside = (
        range(blocks.start(r) + 1, blocks.start(r) + blocks.block)
        for r in range(len(blocks.machine.queues))
    )
    return [place for block in inside for place in block]


def _reads(blocks: Blocks) -> Iterator[tuple[InputBit, Form]]:
    """Yield how each input bit is read from the stream; state and own parity from block 0."""
    for r, queue in enumerate(blocks.machine.queues):
        for number, value in enumerate(queue.alphabet):
            yield InputBit(slot(queue).name, value), _coordinate(blocks.slot(r, number))
        yield from _bit_reads(parity_slot(queue.name).name, blocks.parity_slot(r))
    yield from _bit_reads(PARITY.name, blocks.parity(0))
    place = blocks.state(0, 0)
    for register in blocks.machine.registers:
        for bit in range(bits_of(register)):
            yield from _bit_reads(_state_bit(register.name, bit), place)
            place += 1
    for place in _written(blocks):
        yield InputBit(_cell(place), ON), _coordinate(place)


def _bit_reads(port: str, place: int) -> Iterator[tuple[InputBit, Form]]:
    """Yield how a bit is read from a coordinate: on is the coordinate, off is one minus it."""
    yield InputBit(port, ON), _coordinate(place)
    yield InputBit(port, OFF), Form(Counter({place: -1}), 1)


def _coordinate(place: int) -> Form:
    return Form(Counter({place: 1}))
