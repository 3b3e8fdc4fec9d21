"""Circuit -> ReLU network: one neuron per AND, SUMs and negations read off linearly.

An AND of n literals is relu(sum - (n - 1)), exact on 0/1 values. A value that a later layer needs
is carried by a neuron relu(x) = x. So every hidden value is 0 or 1 and all weights are small
integers. The paper asks for this network in Equation (ff) of Appendix B.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

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
from tapeformer.lowering.schedule import Schedule, is_neuron, operands, schedule
from tapeformer.weights.matrices import integers, matrix
from tapeformer.weights.names import carry_name, rule_name
from tapeformer.weights.record import Affine


@dataclass
class Form:
    """A linear form with a constant: coefficients by coordinate of the layer it is read from."""

    terms: Counter[int] = field(default_factory=Counter)
    constant: int = 0

    def add(self, other: Form, times: int = 1) -> None:
        """Add a multiple of another form."""
        for coordinate, coefficient in other.terms.items():
            self.terms[coordinate] += times * coefficient
        self.constant += times * other.constant


@dataclass(frozen=True)
class Readout:
    """What the last affine map adds to one residual coordinate: literals with coefficients."""

    coordinate: int
    literals: tuple[tuple[Literal, int], ...]
    constant: int = 0


def relu_network(
    circuit: Circuit,
    reads: Mapping[InputBit, Form],
    readouts: Sequence[Readout],
    fields: Sequence[str],
    constants: int = 0,
) -> tuple[Affine, ...]:
    """Return the feed-forward network that computes the readouts of a circuit.

    `reads` says how each input bit is read from the residual stream, whose coordinates are named
    by `fields`, and from so many constants after it; the network's output has the named coordinates.
    """
    needed = [literal for readout in readouts for literal, _ in readout.literals]
    lowering = _Lowering(circuit, reads, schedule(circuit, needed))
    return lowering.network(readouts, fields, len(fields) + constants)


class _Lowering:
    """The network under construction: layers are found by demand from the last to the first."""

    def __init__(self, circuit: Circuit, reads: Mapping[InputBit, Form], plan: Schedule) -> None:
        self.bits, self.reads, self.plan = circuit.bits, reads, plan
        self.neurons: list[list[int]] = [[] for _ in range(plan.depth + 1)]

    def network(
        self, readouts: Sequence[Readout], fields: Sequence[str], width: int
    ) -> tuple[Affine, ...]:
        """Return all hidden layers, the first of so many inputs, and the last affine map."""
        self._demand([literal for readout in readouts for literal, _ in readout.literals])
        forms: _Forms = _InputForms(self)
        layers = []
        for layer in range(1, self.plan.depth + 1):
            layers.append(self._hidden(layer, width, forms))
            width = len(self.neurons[layer])
            forms = _HiddenForms(self, layer)
        return (*layers, _last(readouts, forms, width, fields))

    def _demand(self, literals: Iterable[Literal]) -> None:
        """Fill `neurons`: for each layer the bits that its neurons hold, in circuit order."""
        wanted = {literal.bit for literal in literals}
        for layer in range(self.plan.depth, 0, -1):
            held = self._held(wanted, layer)
            self.neurons[layer] = sorted(held)
            wanted = {source.bit for bit in held for source in self.sources(bit, layer)}

    def _held(self, wanted: Iterable[int], layer: int) -> set[int]:
        """Return the bits to hold at a layer; a linear bit that is ready just there is read off its parts."""
        held, pending = set(), list(wanted)
        while pending:
            bit = pending.pop()
            if self.is_linear_at(bit, layer):
                pending += [literal.bit for literal in operands(self.bits[bit])]
            else:
                held.add(bit)
        return held

    def is_linear_at(self, bit: int, layer: int) -> bool:
        """Return whether a bit is read off its parts at a layer, instead of being held by a neuron."""
        record = self.bits[bit]
        if isinstance(record, InputBit) or is_neuron(record):
            return False
        return len(record.literals) < 2 or self.plan.ready[bit] == layer

    def sources(self, bit: int, layer: int) -> tuple[Literal, ...]:
        """Return what a neuron of a layer reads: an AND's literals where it is computed, else itself."""
        if is_neuron(self.bits[bit]) and self.plan.ready[bit] == layer:
            return operands(self.bits[bit])
        return (Literal(bit),)

    def _hidden(self, layer: int, width: int, forms: _Forms) -> Affine:
        rows = []
        for bit in self.neurons[layer]:
            sources = self.sources(bit, layer)
            row = Form(constant=1 - len(sources))
            for literal in sources:
                row.add(forms.literal(literal))
            rows.append(row)
        names = tuple(_name(self.bits, bit, layer, self.plan) for bit in self.neurons[layer])
        return _affine(rows, width, names)


class _Forms:
    """How the bits are read from one layer; each form is computed once."""

    def __init__(self, lowering: _Lowering, layer: int) -> None:
        self.lowering, self.layer = lowering, layer
        self.known: dict[int, Form] = {}

    def literal(self, literal: Literal) -> Form:
        """Return the form of a bit or of one minus it."""
        form = self.bit(literal.bit)
        if literal.positive:
            return form
        negated = Form(constant=1)
        negated.add(form, -1)
        return negated

    def bit(self, bit: int) -> Form:
        """Return the form of a bit."""
        if bit not in self.known:
            linear = self.lowering.is_linear_at(bit, self.layer)
            self.known[bit] = self._linear(bit) if linear else self._held(bit)
        return self.known[bit]

    def _linear(self, bit: int) -> Form:
        record = self.lowering.bits[bit]
        total = Form(constant=1 if record == And(()) else 0)
        for literal in operands(record):
            total.add(self.literal(literal))
        return total

    def _held(self, bit: int) -> Form:
        raise NotImplementedError


class _InputForms(_Forms):
    """Bits read from the residual stream."""

    def __init__(self, lowering: _Lowering) -> None:
        super().__init__(lowering, 0)

    def _held(self, bit: int) -> Form:
        record = self.lowering.bits[bit]
        assert isinstance(record, InputBit)
        return self.lowering.reads[record]


class _HiddenForms(_Forms):
    """Bits read from the neurons of a hidden layer."""

    def __init__(self, lowering: _Lowering, layer: int) -> None:
        super().__init__(lowering, layer)
        self.places = {bit: place for place, bit in enumerate(lowering.neurons[layer])}

    def _held(self, bit: int) -> Form:
        return Form(Counter({self.places[bit]: 1}))


def _last(readouts: Sequence[Readout], forms: _Forms, width: int, fields: Sequence[str]) -> Affine:
    """Return the affine map from the last hidden layer to the residual stream."""
    rows = [Form() for _ in fields]
    for readout in readouts:
        row = rows[readout.coordinate]
        row.constant += readout.constant
        for literal, times in readout.literals:
            row.add(forms.literal(literal), times)
    return _affine(rows, width, tuple(fields))


def _affine(rows: Sequence[Form], width: int, names: tuple[str, ...]) -> Affine:
    entries = {
        (row, column): coefficient
        for row, form in enumerate(rows)
        for column, coefficient in form.terms.items()
    }
    bias = integers(form.constant for form in rows)
    return Affine(matrix((len(rows), width), entries), bias, names)


def _name(bits: Sequence[Bit], bit: int, layer: int, plan: Schedule) -> str:
    """Return what a neuron is for: the label of its AND, or what it carries, with its rules."""
    record = bits[bit]
    own = bit_name(record, bit)
    computed = is_neuron(record) and plan.ready[bit] == layer
    return own if computed else carry_name(own, layer)


def bit_name(record: Bit, bit: int) -> str:
    """Return the label of a bit and the rules it comes from, or a description without a label."""
    if isinstance(record, InputBit):
        return input_name(record)
    kind = "sum" if isinstance(record, Sum) else "and"
    kept, more = record.rules[:MOST_RULES], len(record.rules) > MOST_RULES
    return rule_name(record.label or f"{kind} {bit}", kept, more)
