"""Explain what was clicked, from the weights: a field of a token, a neuron, an attention head."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapeformer.explorer.forward import Computed, Forward, Numbers
from tapeformer.explorer.recording import Part, Recording
from tapeformer.faults import Fault, TapeformerError, quoted
from tapeformer.weights.explain import Explanation, explain_head, explain_neuron
from tapeformer.weights.names import carried, rules_of
from tapeformer.weights.record import Affine, Head, Layer, TransformerWeights

MOST = 12
"""The most neurons or terms that are listed."""
LONGEST_WINDOW = 1 << 15
"""Windows up to this length are scored in full."""
COLUMNS = 160
"""The most columns of an attention matrix that is sent; more are merged, the highest score kept."""

Record = dict[str, Any]


@dataclass(frozen=True, eq=False)
class TokenView:
    """One generated token of a recording, with the window that it was computed from."""

    recording: Recording
    token: int

    def __post_init__(self) -> None:
        if not self.recording.progress.prompt <= self.token < self.recording.progress.tokens:
            raise _refused("the model did not make this token", "a generated token")
        if self.part.bundle.weights.layer_norm:
            raise _refused("neurons behind a layer normalisation are not shown", "no layer norm")
        if self.part.bundle.window > LONGEST_WINDOW:
            raise _refused("the window is too long to score in full", f"at most {LONGEST_WINDOW}")

    @cached_property
    def part(self) -> Part:
        """The model that made the token."""
        return self.recording.part_at(self.token)

    @property
    def weights(self) -> TransformerWeights:
        """The weights of that model."""
        return self.part.bundle.weights

    @cached_property
    def forward(self) -> Forward:
        """The model as matrix products."""
        bundle, window = self.part.bundle, self.recording.generation.engine.window
        return Forward(bundle.weights, bundle.offsets, min(window, bundle.window))

    @cached_property
    def window(self) -> NDArray[np.int32]:
        """The tokens that it was computed from, those of an earlier model as they were continued."""
        return self.recording.window_before(self.token)

    @cached_property
    def computed(self) -> Computed:
        """Every number that led to the token."""
        return self.forward.computed(self.window)

    def field(self, name: str) -> Record:
        """Explain a field: its value, the head that fetches it, the neurons that wrote it."""
        factors = self.part.reader.factors
        place = next((at for at, factor in enumerate(factors) if factor.name == name), None)
        if place is None:
            raise _refused("the token has no such field", "a name such as 'state'", quoted(name))
        value = int(self.recording.rows(self.token, self.token + 1)[0][place])
        head = next((h for h in self._heads() if _fetches(self.weights, h, place)), None)
        logits = self.computed.logits[place]
        return {
            "kind": "field",
            "name": name,
            "value": factors[place].values[value],
            "head": None if head is None else head.position,
            "back": None if head is None else self.part.bundle.offsets[head.position],
            "logits": dict(zip(factors[place].values, logits.tolist(), strict=True)),
            "neurons": list(self._writers(place, value))[:MOST],
        }

    def neuron(self, number: int) -> Record:
        """Explain a neuron: its inputs with their values in this token, its rules and their lines."""
        told = explain_neuron(self.weights, number)
        affine, row, inputs, activation = self._hidden(number)
        chosen = affine.matrix.rows == row
        names = self._input_names(number)
        terms = [
            {"weight": int(w), "name": names[c], "value": float(inputs[c]), "input": index}
            for index, (w, c) in enumerate(
                zip(affine.matrix.values[chosen], affine.matrix.columns[chosen], strict=True)
            )
        ]
        return {
            **self._told("neuron", told),
            "number": number,
            "terms": terms[: 3 * MOST],
            "more": max(0, len(terms) - 3 * MOST),
            "bias": int(affine.bias[row]),
            "activation": activation,
        }

    def head(self, position: int) -> Record:
        """Explain a head."""
        bundle = self.part.bundle
        told = explain_head(self.weights, position, bundle.layout.lengths)
        return {**self._told("head", told), "number": position, "back": bundle.offsets[position]}

    def attention(self, position: int, queries: int) -> Record:
        """Return a head's scores for the last few queries, over all keys that any of them sees."""
        head = next((h for h in self._heads() if h.position == position), None)
        if head is None:
            raise _refused("the model has no such head", "its number", str(position))
        context = self.forward.embedded(self.recording.window_before(self.token, queries))
        queries = min(queries, len(context))
        scores = np.full((queries, len(context)), -1.0)
        for row in range(queries):
            seen = context[: len(context) - queries + row + 1][-len(self.forward.positions) :]
            found = self.forward.scores(head, seen, seen[-1])
            end = len(context) - queries + row + 1
            scores[row, end - len(seen) : end] = found
        first = self.token - len(context)
        attended = [first + int(np.argmax(row)) for row in scores]
        return {"head": position, "first": first, "attended": attended, **_merged(scores)}

    def _heads(self) -> Iterator[Head]:
        for layer in self.weights.layers:
            yield from layer.heads

    def _writers(self, place: int, value: int) -> Iterator[Record]:
        """Yield the neurons that are on and raise or lower the logit of a value."""
        output = self.weights.outputs[place].matrix
        coordinates = output.columns[output.rows == value].tolist()
        first = 0
        for layer, active in zip(self.weights.layers, self.computed.neurons, strict=True):
            if active:
                yield from self._last_neurons(layer, active[-1], first, coordinates)
                first += sum(map(len, active))

    def _last_neurons(
        self, layer: Layer, active: Numbers, first: int, coordinates: list[int]
    ) -> Iterator[Record]:
        """Yield a layer's neurons that are on and lead to some coordinates, where they were computed."""
        matrix = layer.feed_forward[-1].matrix
        for entry in np.flatnonzero(np.isin(matrix.rows, coordinates)):
            last = int(matrix.columns[entry])
            if active[last]:
                depth, neuron = _origin(layer, last)
                name = layer.feed_forward[depth].names[neuron]
                below = sum(len(affine.names) for affine in layer.feed_forward[:depth])
                yield {
                    "number": first + below + neuron,
                    "name": carried(name) or name,
                    "coefficient": int(matrix.values[entry]),
                    "rules": self._rules(*rules_of(name)),
                }

    def _hidden(self, number: int) -> tuple[Affine, int, Numbers, float]:
        """Return a neuron's affine map, its row there, that map's inputs, and its activation."""
        left = number
        for layer, active in zip(self.weights.layers, self.computed.neurons, strict=True):
            stream = self.computed.streams[self.weights.layers.index(layer)]
            for affine, inputs, outputs in zip(
                layer.feed_forward, (stream, *active), active, strict=False
            ):
                if left < len(outputs):
                    return affine, left, inputs, float(outputs[left])
                left -= len(outputs)
        raise _refused("the model has no such neuron", "its number", str(number))

    def _input_names(self, number: int) -> tuple[str, ...]:
        left = number
        for layer in self.weights.layers:
            names = self.weights.fields
            for affine in layer.feed_forward[:-1]:
                if left < len(affine.names):
                    return names
                left, names = left - len(affine.names), affine.names
        return ()

    def _told(self, kind: str, told: Explanation) -> Record:
        return {
            "kind": kind,
            "title": told.title,
            "reads": list(told.reads[:MOST]),
            "writes": list(told.writes[:MOST]),
            "fewer": [max(0, len(told.reads) - MOST), max(0, len(told.writes) - MOST)],
            "why": told.why,
            "rules": self._rules(told.rules, told.more_rules),
        }

    def _rules(self, numbers: tuple[int, ...], more: bool) -> Record:
        origins = self.part.bundle.rules
        named = [{"text": origins[n - 1].text, "line": origins[n - 1].line} for n in numbers[:MOST]]
        return {"rules": named, "more": more or len(numbers) > MOST}


def _origin(layer: Layer, neuron: int) -> tuple[int, int]:
    """Return the depth and place at which a neuron of the last hidden layer was computed.

    In between it is only handed on, by neurons with one input.
    """
    depth = len(layer.feed_forward) - 2
    while depth > 0 and carried(layer.feed_forward[depth].names[neuron]):
        matrix = layer.feed_forward[depth].matrix
        inputs = matrix.columns[matrix.rows == neuron]
        if len(inputs) != 1:
            break
        depth, neuron = depth - 1, int(inputs[0])
    return depth, neuron


def _fetches(weights: TransformerWeights, head: Head, place: int) -> bool:
    """Return whether a head copies what a field of a token embeds to."""
    return bool(np.isin(head.value.columns, weights.embeddings[place].columns).any())


def _merged(scores: Numbers) -> Record:
    """Return neighbouring columns as one, with the highest score, where there are too many."""
    step = -(-scores.shape[1] // COLUMNS)
    padded = np.pad(scores, ((0, 0), (-scores.shape[1] % step, 0)), constant_values=-1.0)
    merged = padded.reshape(len(scores), -1, step).max(axis=2)
    return {"scores": merged.tolist(), "step": step, "padding": padded.shape[1] - scores.shape[1]}


def _refused(what: str, expected: str, got: str = "") -> TapeformerError:
    return TapeformerError(Fault(what, expected=expected, got=got))
