"""Weights -> logic: every neuron becomes gates, exactly, whatever the weights are.

A neuron that is proven to be 0 or 1 becomes one AND; any other becomes binary arithmetic on the
digits of its value. Neurons that only carry a value vanish. Nothing is assumed of the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tapeformer.engines.nativecode.facts import Clique, Facts
from tapeformer.engines.nativecode.forms import ZERO, Form, added, applied
from tapeformer.engines.nativecode.gates import TRUE, Gate, Gates, Numbers
from tapeformer.weights.matrices import transposed
from tapeformer.weights.record import Layer, TransformerWeights

LARGEST = 1 << 24
"""Values beyond this are not exact in the other engines' float32 either."""

MOST_GATES = 400_000


class NotLogicError(Exception):
    """The model cannot be turned into gates; the message says why."""


@dataclass(frozen=True)
class Fetched:
    """An input bit that a head brings: `source` is computed at the attended position."""

    head: int
    layer: int
    source: int
    literal: int


@dataclass(frozen=True)
class Logic:
    """A whole model as gates.

    `token` and `following` have a literal for each value of each factor, of the newest token and
    of the one after it. `margin` has the digits of the margin where it had to be computed;
    `proven_margin` is what is known of it beforehand (None: nothing).
    """

    gates: tuple[Gate, ...]
    token: tuple[tuple[int, ...], ...]
    fetched: tuple[Fetched, ...]
    following: tuple[tuple[int, ...], ...]
    margin: tuple[int, ...]
    proven_margin: int | None


class Neurons:
    """Nodes of a model: bits of tokens, what heads fetch, and neurons, each with its digits."""

    def __init__(self) -> None:
        self.gates, self.facts = Gates(), Facts()
        self.numbers = Numbers(self.gates)
        self.planes: list[tuple[int, ...]] = []
        self.highest: list[int] = []
        self._neurons: dict[Form, Form] = {}

    def new(self, planes: Sequence[int], highest: int) -> int:
        """Another node; a bit is entered among the facts by the caller."""
        if len(self.gates.gates) > MOST_GATES:
            raise NotLogicError("the logic would be too large")
        self.planes.append(tuple(planes))
        self.highest.append(highest)
        return len(self.planes) - 1

    def one_hot(self, size: int) -> list[Form]:
        """New input bits of which exactly one is 1."""
        if size == 1:
            return [Form(1)]
        bits = [self.new([self.gates.input()], 1) for _ in range(size)]
        self.facts.one_hot(bits)
        return [Form(0, ((bit, 1),)) for bit in bits]

    def cliques(self, form: Form) -> list[Clique]:
        """The terms by what excludes each other; coefficients of numbers count their largest."""
        return self.facts.cliques(form.terms)

    def span(self, form: Form, cliques: Sequence[Clique]) -> tuple[int, int]:
        """Bounds of a form's value."""
        low = high = form.constant
        for clique in cliques:
            size = self.highest[clique.terms[0][0]]
            low += clique.low * size
            high += clique.high * size
        if max(-low, high) > LARGEST:
            raise NotLogicError("values may be too large for exact arithmetic")
        return low, high

    def relu(self, form: Form) -> Form:
        """The form of a neuron: itself where it cannot be negative, else a new node."""
        if not form.terms:
            return Form(max(0, form.constant))
        if len(form.terms) == 1 and form.constant >= 0 and form.terms[0][1] > 0:
            return form
        if form not in self._neurons:
            self._neurons[form] = self._relu(form)
        return self._neurons[form]

    def _relu(self, form: Form) -> Form:
        cliques = self.cliques(form)
        low, high = self.span(form, cliques)
        if low >= 0 or high <= 0:
            return form if low >= 0 else ZERO
        if high == 1 and self.are_bits(form):
            node = self.new([self._all_highest(cliques)], 1)
            self.facts.learn(node, cliques)
        else:
            node = self._number(form, low, high)
        return Form(0, ((node, 1),))

    def are_bits(self, form: Form) -> bool:
        """Whether a form reads bits only."""
        return all(node in self.facts.known for node, _ in form.terms)

    def _number(self, form: Form, low: int, high: int) -> int:
        *digits, sign = self.value(form, low, high)
        planes = [self.gates.all_of([d, sign ^ 1]) for d in digits[: high.bit_length()]]
        node = self.new(planes, high)
        if high == 1:
            self.facts.free(node)
        return node

    def value(self, form: Form, low: int, high: int) -> list[int]:
        """A form's value in two's complement, the sign last."""
        width = max(high.bit_length(), (-low).bit_length()) + 1
        total = self.numbers.constant(form.constant, width)
        for node, coefficient in form.terms:
            term = self.numbers.times(self.planes[node], abs(coefficient), width)
            operation = self.numbers.add if coefficient > 0 else self.numbers.subtract
            total = operation(total, term)
        return total

    def is_positive(self, form: Form) -> int:
        """For a form of bits whose highest value is 1: whether it has it."""
        return self._all_highest(self.cliques(form))

    def _all_highest(self, cliques: Sequence[Clique]) -> int:
        """Whether every clique has its highest value."""
        return self.gates.all_of([self._highest(clique) for clique in cliques])

    def _highest(self, clique: Clique) -> int:
        inside = [self.planes[b][0] for b, c in clique.terms if c == clique.high]
        outside = [self.planes[b][0] for b, c in clique.terms if c != clique.high]
        if not inside or (clique.complete and len(outside) < len(inside)):
            return self.gates.any_of(outside) ^ 1
        return self.gates.any_of(inside)


class Position:
    """One position of a model, evaluated with forms instead of numbers."""

    def __init__(self, weights: TransformerWeights) -> None:
        if weights.layer_norm:
            raise NotLogicError("layer normalisation is not linear")
        self.weights, self.neurons = weights, Neurons()
        self.token = [self.neurons.one_hot(len(factor.values)) for factor in weights.factors]
        self.fetched: list[Fetched] = []
        self._factor_of = {
            form.terms[0][0]: (factor, value)
            for factor, forms in enumerate(self.token)
            for value, form in enumerate(forms)
            if form.terms
        }
        self._brought: dict[tuple[int, int], list[Form]] = {}
        self.heads = 0

    def stream(self) -> list[Form]:
        """The residual stream after the last layer."""
        stream = [ZERO] * len(self.weights.fields)
        for embedding, forms in zip(self.weights.embeddings, self.token, strict=True):
            stream = added(stream, applied(transposed(embedding), None, forms))
        for index, layer in enumerate(self.weights.layers):
            stream = self._layer(index, layer, stream)
        return stream

    def _layer(self, index: int, layer: Layer, stream: list[Form]) -> list[Form]:
        fetched: list[Form] = []
        for number, head in enumerate(layer.heads, start=self.heads):
            values = applied(transposed(head.value), None, stream)
            fetched += [self._bring(number, index, form) for form in values]
        self.heads += len(layer.heads)
        stream = added(stream, applied(layer.mix, layer.mix_bias, fetched))
        hidden = stream
        for affine in layer.feed_forward[:-1]:
            rows = applied(affine.matrix, affine.bias, hidden)
            hidden = [self.neurons.relu(form) for form in rows]
        for affine in layer.feed_forward[-1:]:
            stream = added(stream, applied(affine.matrix, affine.bias, hidden))
        return stream

    def _bring(self, head: int, layer: int, form: Form) -> Form:
        """A value as a head fetches it: the same form over fetched nodes."""
        parts = [(c, self._bring_node(head, layer, node)) for node, c in form.terms]
        total = Form(form.constant)
        for coefficient, part in parts:
            total = added([total], [_times(part, coefficient)])[0]
        return total

    def _bring_node(self, head: int, layer: int, node: int) -> Form:
        if node in self._factor_of:
            factor, value = self._factor_of[node]
            return self._bring_factor(head, layer, factor)[value]
        if (head, -1 - node) not in self._brought:
            self._brought[head, -1 - node] = [self._bring_other(head, layer, node)]
        return self._brought[head, -1 - node][0]

    def _bring_factor(self, head: int, layer: int, factor: int) -> list[Form]:
        if (head, factor) not in self._brought:
            forms = self.neurons.one_hot(len(self.token[factor]))
            self._brought[head, factor] = forms
            for source, form in zip(self.token[factor], forms, strict=True):
                self._record(head, layer, source.terms[0][0], form.terms[0][0])
        return self._brought[head, factor]

    def _bring_other(self, head: int, layer: int, node: int) -> Form:
        neurons = self.neurons
        planes = [neurons.gates.input() for _ in neurons.planes[node]]
        copy = neurons.new(planes, neurons.highest[node])
        if neurons.highest[node] == 1:
            neurons.facts.free(copy)
        self._record(head, layer, node, copy)
        return Form(0, ((copy, 1),))

    def _record(self, head: int, layer: int, source: int, copy: int) -> None:
        pairs = zip(self.neurons.planes[source], self.neurons.planes[copy], strict=True)
        self.fetched += [Fetched(head, layer, a, b) for a, b in pairs]

    def literals(self, forms: Sequence[Form]) -> tuple[int, ...]:
        """The literals of a factor's bits."""
        return tuple(self.neurons.planes[f.terms[0][0]][0] if f.terms else TRUE for f in forms)


def _times(form: Form, factor: int) -> Form:
    return Form(form.constant * factor, tuple((n, c * factor) for n, c in form.terms))

