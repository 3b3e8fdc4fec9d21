"""Symbolic evaluation: one position of a model, on affine forms instead of numbers.

Neurons that only carry a value vanish; all others become gates. Nothing is assumed about the
weights: what is not proven is guarded.
"""

from __future__ import annotations

from collections.abc import Sequence

from tapeformer.engines.logic.affine_forms import (
    AffineForm,
    NodeGroup,
    affine_map,
    linear_combination,
    read_together,
    vector_sum,
)
from tapeformer.engines.logic.and_inverter_graph import TRUE
from tapeformer.engines.logic.netlist import FactorValue, FetchedBit
from tapeformer.engines.logic.not_logic import NotLogicError
from tapeformer.engines.logic.sum_decomposition import SumDecomposition
from tapeformer.engines.logic.threshold_synthesis import ThresholdSynthesis
from tapeformer.weights.family import WeightFamily, first_map
from tapeformer.weights.matrices import beside, stacked, transposed
from tapeformer.weights.record import Layer


class SymbolicPosition:
    """Evaluates the newest position: its token, what heads fetch for it, the residual stream.

    It covers all models of a family: `choices` has a bit for each column that a member may choose.
    """

    def __init__(self, family: WeightFamily) -> None:
        weights = family.weights
        if weights.layer_norm:
            raise NotLogicError("layer normalisation is not linear")
        self.family, self.weights, self.synthesis = family, weights, ThresholdSynthesis()
        self.token = [self.synthesis.add_one_hot(len(factor.values)) for factor in weights.factors]
        self.choices = [self.synthesis.add_one_hot(size) for size in family.sizes]
        self._open_map = first_map(weights) if family.sizes else None
        self.fetched: list[FetchedBit] = []
        self._value_of: dict[int, FactorValue] = {
            form.terms[0][0]: (factor, value)
            for factor, forms in enumerate(self.token)
            for value, form in enumerate(forms)
            if form.terms
        }
        self._fetched_factors: dict[tuple[int, int], list[AffineForm]] = {}
        self._fetched_nodes: dict[tuple[int, int], AffineForm] = {}
        self.heads = 0

    def residual_stream(self) -> list[AffineForm]:
        """Return the residual stream after the last layer."""
        embedding = stacked(self.weights.embeddings, len(self.weights.fields))
        bits = [form for forms in self.token for form in forms]
        stream = affine_map(transposed(embedding), None, bits)
        for layer in self.weights.layers:
            stream = self._layer(layer, stream)
        return stream

    def _layer(self, layer: Layer, stream: list[AffineForm]) -> list[AffineForm]:
        fetched: list[AffineForm] = []
        for number, head in enumerate(layer.heads, start=self.heads):
            values = affine_map(head.value, None, stream)
            fetched += [self._fetch(number, form) for form in values]
        self.heads += len(layer.heads)
        stream = vector_sum(stream, affine_map(layer.mix, layer.mix_bias, fetched))
        hidden = stream
        for affine in layer.feed_forward[:-1]:
            matrix = affine.matrix
            if affine is self._open_map:
                matrix = beside(matrix, self.family.shifts)
                hidden = [*hidden, *(form for forms in self.choices for form in forms)]
            rows = affine_map(matrix, affine.bias, hidden)
            together = read_together(matrix, hidden)
            hidden = self._neurons(rows, together)
        for affine in layer.feed_forward[-1:]:
            stream = vector_sum(stream, affine_map(affine.matrix, affine.bias, hidden))
        return stream

    def _neurons(
        self, rows: Sequence[AffineForm], together: Sequence[Sequence[NodeGroup]]
    ) -> list[AffineForm]:
        """Return a map's neurons; one that adds up sums that others carry becomes their AND."""
        neurons: dict[int, AffineForm] = {}
        overlapping = [i for i, row in enumerate(rows) if any(abs(c) > 1 for _, c in row.terms)]
        for index in sorted(set(range(len(rows))).difference(overlapping)):
            neurons[index] = self.synthesis.relu(rows[index], together[index])
        carried = [form for i, form in neurons.items() if form == rows[i] and len(form.terms) > 1]
        sums = SumDecomposition(carried)
        for index in overlapping:
            parts = sums.parts(rows[index])
            neuron = parts and self.synthesis.conjunction(rows[index], parts)
            neurons[index] = neuron or self.synthesis.relu(rows[index], together[index])
        return [neurons[index] for index in range(len(rows))]

    def _fetch(self, head: int, form: AffineForm) -> AffineForm:
        """Return a value as a head fetches it: the same form, over fetched nodes."""
        parts = [(coefficient, self._fetch_node(head, node)) for node, coefficient in form.terms]
        return linear_combination(form.constant, parts)

    def _fetch_node(self, head: int, node: int) -> AffineForm:
        if node in self._value_of:
            factor, value = self._value_of[node]
            return self._fetch_factor(head, factor)[value]
        if (head, node) not in self._fetched_nodes:
            self._fetched_nodes[head, node] = self._fetch_neuron(head, node)
        return self._fetched_nodes[head, node]

    def _fetch_factor(self, head: int, factor: int) -> list[AffineForm]:
        if (head, factor) not in self._fetched_factors:
            forms = self.synthesis.add_one_hot(len(self.token[factor]))
            self._fetched_factors[head, factor] = forms
            for source, form in zip(self.token[factor], forms, strict=True):
                self._record(head, source.terms[0][0], form.terms[0][0])
        return self._fetched_factors[head, factor]

    def _fetch_neuron(self, head: int, node: int) -> AffineForm:
        copy = self.synthesis.add_node(self.synthesis.graph.input())
        self.synthesis.exclusion.declare_unconstrained(copy)
        self._record(head, node, copy)
        return AffineForm(0, ((copy, 1),))

    def _record(self, head: int, source: int, copy: int) -> None:
        literals = self.synthesis.literals
        self.fetched.append(FetchedBit(head, literals[source], literals[copy]))

    def literals(self, forms: Sequence[AffineForm]) -> tuple[int, ...]:
        """Return the literals of a factor's bits."""
        literals = self.synthesis.literals
        return tuple(literals[form.terms[0][0]] if form.terms else TRUE for form in forms)
