"""Weights -> logic: every neuron becomes gates, and what is not proven is checked.

Neurons that only carry a value vanish. A neuron that is proven to be 0 or 1 on all tokens becomes
one AND. Of any other it is checked, in every token, that it is 0 or 1: the guard says where this
fails, and there another engine must take over. Nothing is assumed of the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tapeformer.engines.logic.affine_forms import Form, added, applied, bundles
from tapeformer.engines.logic.and_inverter_graph import TRUE, Gate
from tapeformer.engines.logic.mutual_exclusion import NotLogicError
from tapeformer.engines.logic.threshold_synthesis import Neurons
from tapeformer.weights.matrices import stacked, transposed
from tapeformer.weights.record import Layer, TransformerWeights


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
    of the one after it. `guard` is 1 where some neuron is neither 0 nor 1, and then nothing else
    counts. `margin` has the digits of the margin where it had to be computed; `proven_margin` is
    what is known of it beforehand (None: nothing).
    """

    gates: tuple[Gate, ...]
    token: tuple[tuple[int, ...], ...]
    fetched: tuple[Fetched, ...]
    following: tuple[tuple[int, ...], ...]
    guard: int
    margin: tuple[int, ...]
    proven_margin: int | None


class Position:
    """One position of a model, evaluated with forms instead of numbers."""

    def __init__(self, weights: TransformerWeights) -> None:
        if weights.layer_norm:
            raise NotLogicError("layer normalisation is not linear")
        self.weights, self.neurons = weights, Neurons()
        self.token = [self.neurons.one_hot(len(factor.values)) for factor in weights.factors]
        self.fetched: list[Fetched] = []
        self._value_of = {
            form.terms[0][0]: (factor, value)
            for factor, forms in enumerate(self.token)
            for value, form in enumerate(forms)
            if form.terms
        }
        self._brought: dict[tuple[int, int], list[Form]] = {}
        self.heads = 0

    def stream(self) -> list[Form]:
        """The residual stream after the last layer."""
        embedding = stacked(self.weights.embeddings, len(self.weights.fields))
        bits = [form for forms in self.token for form in forms]
        stream = applied(transposed(embedding), None, bits)
        for index, layer in enumerate(self.weights.layers):
            stream = self._layer(index, layer, stream)
        return stream

    def _layer(self, index: int, layer: Layer, stream: list[Form]) -> list[Form]:
        fetched: list[Form] = []
        for number, head in enumerate(layer.heads, start=self.heads):
            values = applied(head.value, None, stream)
            fetched += [self._bring(number, index, form) for form in values]
        self.heads += len(layer.heads)
        stream = added(stream, applied(layer.mix, layer.mix_bias, fetched))
        hidden = stream
        for affine in layer.feed_forward[:-1]:
            rows = applied(affine.matrix, affine.bias, hidden)
            together = bundles(affine.matrix, hidden)
            hidden = [self.neurons.relu(*pair) for pair in zip(rows, together, strict=True)]
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
        if node in self._value_of:
            factor, value = self._value_of[node]
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
        copy = self.neurons.new(self.neurons.gates.input())
        self.neurons.facts.free(copy)
        self._record(head, layer, node, copy)
        return Form(0, ((copy, 1),))

    def _record(self, head: int, layer: int, source: int, copy: int) -> None:
        literals = self.neurons.literals
        self.fetched.append(Fetched(head, layer, literals[source], literals[copy]))

    def bits(self, forms: Sequence[Form]) -> tuple[int, ...]:
        """The literals of a factor's bits."""
        return tuple(self.neurons.literals[f.terms[0][0]] if f.terms else TRUE for f in forms)


def _times(form: Form, factor: int) -> Form:
    return Form(form.constant * factor, tuple((n, c * factor) for n, c in form.terms))
