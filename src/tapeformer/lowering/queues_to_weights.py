"""Step II, factored: any queue machine -> Transformer weights (Theorem 3, Appendix B).

The residual stream is [constant | the token, one-hot per factor | slots for what the heads fetch
| the next token, one-hot per factor]. Keys are zero; the query of head r is e_r, read from the
constant; values copy symbols and parity; W brings them to the slots; the last feed-forward
network computes the step. Nothing here knows a queue's length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tapeformer.circuit.record import Circuit, InputBit, Port
from tapeformer.faults import Fault, TapeformerError, quoted
from tapeformer.lowering.circuit_to_network import Form, Readout, relu_network
from tapeformer.lowering.queues_to_circuit import (
    PARITY,
    constant_ports,
    fetched_ports,
    fronted,
    token_ports,
    used_inputs,
)
from tapeformer.lowering.queues_to_heads import (
    CURRENT_TOKEN_RULE,
    HeadMode,
    HeadPlan,
    head_plans,
    layered,
)
from tapeformer.queues.record import QueueMachine
from tapeformer.weights.family import WeightFamily
from tapeformer.weights.matrices import integers, matrix, split_columns, zeros
from tapeformer.weights.record import (
    Affine,
    Factor,
    Head,
    Layer,
    Matrix,
    TransformerWeights,
)

CONSTANT = "constant"


def transformer(
    machine: QueueMachine, heads: HeadMode = "offset", layers: int = 1
) -> TransformerWeights:
    """Return the weights that generate, token by token, the steps of a queue machine."""
    return weight_family(machine, heads, layers).member(chosen_constants(machine))


def chosen_constants(machine: QueueMachine) -> tuple[int, ...]:
    """Return the value of each constant by its number: what tells the weights from others of a family."""
    ports = constant_ports(machine)
    return tuple(port.values.index(machine.constants[port.name]) for port in ports)


def weight_family(
    machine: QueueMachine, heads: HeadMode = "offset", layers: int = 1
) -> WeightFamily:
    """Return the weights for all values of a queue machine's constants: they differ in biases alone."""
    check_names(machine)
    plans = head_plans(machine, heads)
    split = layered(plans, layers)
    circuit = fronted(machine, plans, heads)
    stream = _stream(token_ports(machine), plans, used_inputs(circuit))
    width = max((len(list(stream.copies(plan))) for plan in plans), default=0)
    constants = constant_ports(machine)
    network, shifts = _network(circuit, stream, constants)
    networks = [()] * (layers - 1) + [network]
    weights = TransformerWeights(
        factors=tuple(Factor(port.name, port.values) for port in stream.token),
        fields=stream.fields,
        embeddings=tuple(_embedding(port, stream) for port in stream.token),
        layers=tuple(
            _layer([(r, plans[r]) for r in group], len(plans), width, stream, network)
            for group, network in zip(split, networks, strict=True)
        ),
        outputs=tuple(_output(port, stream) for port in stream.token),
        position_rules=tuple(plan.rule for plan in plans),
        key_width=len(plans),
        value_width=width,
    )
    return WeightFamily(weights, shifts, tuple(len(port.values) for port in constants))


def check_names(machine: QueueMachine) -> None:
    """Refuse factors of one name, and a parity test for a queue of length one."""
    names = Counter(port.name for port in token_ports(machine))
    faults = [
        Fault(f"the name {quoted(name)} is used {times} times in a token", remedy="rename a part")
        for name, times in names.items()
        if times > 1
    ]
    faults += [
        Fault(
            f"queue {quoted(queue.name)} has length one and a parity test",
            expected="no parity test: it reads the current token, whose parity is its own",
        )
        for queue in machine.queues
        if queue.length_rule == CURRENT_TOKEN_RULE and queue.parity_test
    ]
    if faults:
        raise TapeformerError(faults)


@dataclass(frozen=True)
class _Stream:
    """The residual stream: the coordinate of each value of each port."""

    token: tuple[Port, ...]
    fields: tuple[str, ...]
    now: dict[InputBit, int]
    next: dict[InputBit, int]

    def copies(self, plan: HeadPlan) -> Iterator[tuple[int, int]]:
        """Yield what one head copies: from which coordinate of a token to which of its slots."""
        for source, into in fetched_ports(plan):
            for value in source.values:
                if InputBit(into.name, value) in self.now:
                    slot = self.now[InputBit(into.name, value)]
                    yield self.now[InputBit(source.name, value)], slot


def _stream(
    token: tuple[Port, ...], plans: Sequence[HeadPlan], used: frozenset[InputBit]
) -> _Stream:
    """Return coordinates for what the step reads, or a head copies for it, and for the next token."""
    fetched = [pair for plan in plans for pair in fetched_ports(plan)]
    slots = [bit for bit in _bits(into for _, into in fetched) if bit in used]
    copied = {
        InputBit(source.name, value)
        for source, into in fetched
        for value in source.values
        if InputBit(into.name, value) in used
    }
    now = [*(bit for bit in _bits(token) if bit in used or bit in copied), *slots]
    after = list(_bits(token))
    fields = (
        CONSTANT,
        *(f"{bit.port}={bit.value}" for bit in now),
        *(f"next {bit.port}={bit.value}" for bit in after),
    )
    return _Stream(
        token,
        fields,
        {bit: place for place, bit in enumerate(now, start=1)},
        {bit: place for place, bit in enumerate(after, start=1 + len(now))},
    )


def _bits(ports: Iterable[Port]) -> Iterable[InputBit]:
    return (InputBit(port.name, value) for port in ports for value in port.values)


def _embedding(port: Port, stream: _Stream) -> Matrix:
    """Return the one-hot embedding of the values that are ever read; a parity also adds the constant."""
    rows = [(row, bit) for row, bit in enumerate(_bits([port])) if bit in stream.now]
    entries = {(row, stream.now[bit]): 1 for row, bit in rows}
    if port == PARITY:
        entries |= {(row, 0): 1 for row in range(len(port.values))}
    return matrix((len(port.values), len(stream.fields)), entries)


def _output(port: Port, stream: _Stream) -> Affine:
    """Return the output map: the logit of a value is the coordinate that the last network wrote."""
    entries = {(row, stream.next[bit]): 1 for row, bit in enumerate(_bits([port]))}
    shape = (len(port.values), len(stream.fields))
    return Affine(matrix(shape, entries), integers([0] * shape[0]), port.values)


def _layer(
    plans: Sequence[tuple[int, HeadPlan]],
    key_width: int,
    value_width: int,
    stream: _Stream,
    network: tuple[Affine, ...],
) -> Layer:
    d = len(stream.fields)
    mix = {
        (slot, place * value_width + column): 1
        for place, (_, plan) in enumerate(plans)
        for column, (_, slot) in enumerate(stream.copies(plan))
    }
    return Layer(
        heads=tuple(_head(r, plan, key_width, value_width, stream) for r, plan in plans),
        mix=matrix((d, len(plans) * value_width), mix),
        mix_bias=integers([0] * d),
        feed_forward=network,
    )


def _head(r: int, plan: HeadPlan, key_width: int, value_width: int, stream: _Stream) -> Head:
    """Query e_r from the constant, key zero, values a copy of the parts that the head fetches."""
    d = len(stream.fields)
    value = {(row, source): 1 for row, (source, _) in enumerate(stream.copies(plan))}
    return Head(
        name=plan.name,
        position=r,
        query=matrix((key_width, d), {(r, 0): 1}),
        key=zeros(key_width, d),
        value=matrix((value_width, d), value),
    )


def _network(
    circuit: Circuit, stream: _Stream, constants: Sequence[Port]
) -> tuple[tuple[Affine, ...], Matrix]:
    """Return the last feed-forward network: the step, written where the next token is read off.

    Constants are read as coordinates after the residual stream. Their columns are returned beside
    the network: where a constant is true, its column is added to the biases of the first map.
    """
    width = len(stream.fields)
    bits = list(_bits(constants))
    reads = {bit: Form(Counter({place: 1})) for bit, place in stream.now.items()}
    reads |= {bit: Form(Counter({place: 1})) for place, bit in enumerate(bits, start=width)}
    readouts = [
        Readout(stream.next[InputBit(port.name, value)], ((literal, 1),))
        for port, literals in zip(circuit.outputs, circuit.output_literals, strict=True)
        for value, literal in zip(port.values, literals, strict=True)
    ]
    first, *rest = relu_network(circuit, reads, readouts, stream.fields, len(bits))
    kept, shifts = split_columns(first.matrix, width)
    return (replace(first, matrix=kept), *rest), shifts
