"""Print the weights of a Transformer: fields, embeddings, heads, neurons and outputs, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tapeformer.listing import first
from tapeformer.weights.count import count
from tapeformer.weights.explain import Explanation, explain_head
from tapeformer.weights.record import Affine, Layer, Matrix, TransformerWeights


def show(
    weights: TransformerWeights,
    lengths: Mapping[str, int] | None = None,
    limit: int | None = None,
) -> str:
    """Return every parameter that is not zero, by name; of each list at most `limit` lines.

    With the lengths of a layout, heads say how far they look back.
    """
    return "\n".join([_head(weights), *_tokens(weights, limit), *_layers(weights, lengths, limit)])


def _head(weights: TransformerWeights) -> str:
    sizes = count(weights)
    normal = ", layer normalisation" if weights.layer_norm else ""
    return (
        f"d_model {sizes.d_model}, heads {sizes.attention_heads}, layers {sizes.layers}, "
        f"feed-forward depth {sizes.ff_depth}, neurons {sizes.neurons}{normal}"
    )


def _tokens(weights: TransformerWeights, limit: int | None) -> Iterator[str]:
    """Yield the residual fields, and what each value of a token adds to them."""
    fields = (f"field {number}: {name}" for number, name in enumerate(weights.fields))
    yield from first(fields, limit, len(weights.fields), "fields")
    for factor, part in zip(weights.factors, weights.embeddings, strict=True):
        values = (
            f"embedding {factor.name}={value} = {_sum(part, row, weights.fields)}"
            for row, value in enumerate(factor.values)
        )
        yield from first(values, limit, len(factor.values), f"values of {factor.name}")


def _layers(
    weights: TransformerWeights, lengths: Mapping[str, int] | None, limit: int | None
) -> Iterator[str]:
    number = 0
    for layer in weights.layers:
        for head in layer.heads:
            yield from _attention(explain_head(weights, head.position, lengths), limit)
        if layer.mix_bias.any():
            yield f"bias of the heads = {_constants(weights.fields, layer.mix_bias)}"
        yield from _network(weights, layer, number, limit)
        number += sum(len(affine.names) for affine in layer.feed_forward[:-1])
    for factor, output in zip(weights.factors, weights.outputs, strict=True):
        logits = (
            f"logit {factor.name}={value} = {_row(output, row, weights.fields)}"
            for row, value in enumerate(factor.values)
        )
        yield from first(logits, limit, len(factor.values), f"logits of {factor.name}")


def _attention(head: Explanation, limit: int | None) -> Iterator[str]:
    yield head.title
    for verb, entries in (("reads", head.reads), ("writes", head.writes)):
        lines = (f"  {verb:<7} {entry}" for entry in entries)
        yield from first(lines, limit, len(entries), f"fields that it {verb}")
    yield f"  because {head.why}"


def _network(
    weights: TransformerWeights, layer: Layer, number: int, limit: int | None
) -> Iterator[str]:
    """Yield the neurons of a feed-forward network, then what its last map adds to each field."""
    inputs: Sequence[str] = weights.fields
    for depth, affine in enumerate(layer.feed_forward[:-1], 1):
        lines = _neurons(affine, inputs, number)
        yield from first(lines, limit, len(affine.names), f"neurons at depth {depth}")
        number += len(affine.names)
        inputs = affine.names
    for last in layer.feed_forward[-1:]:
        written = np.union1d(last.matrix.rows, np.flatnonzero(last.bias)).tolist()
        added = (f"{weights.fields[row]} += {_row(last, row, inputs)}" for row in written)
        yield from first(added, limit, len(written), "fields written")


def _neurons(affine: Affine, inputs: Sequence[str], start: int) -> Iterator[str]:
    for row, name in enumerate(affine.names):
        yield f"neuron {start + row}: {name} = relu({_row(affine, row, inputs)})"


def _row(affine: Affine, row: int, inputs: Sequence[str]) -> str:
    """Return one row of an affine map as a sum."""
    bias = int(affine.bias[row])
    total = _sum(affine.matrix, row, inputs)
    return f"{total} {_signed(bias)}" if bias else total


def _sum(part: Matrix, row: int, names: Sequence[str]) -> str:
    """Return one row of a matrix as a sum of named coordinates; rows are sorted."""
    here = slice(*np.searchsorted(part.rows, (row, row + 1)).tolist())
    terms = zip(part.columns[here].tolist(), part.values[here].tolist(), strict=True)
    text = " ".join(_term(value, names[column]) for column, value in terms)
    return text.removeprefix("+ ") or "0"


def _term(value: int, name: str) -> str:
    times = "" if abs(value) == 1 else f"{abs(value)} "
    return f"{'-' if value < 0 else '+'} {times}[{name}]"


def _signed(value: int) -> str:
    return f"{'-' if value < 0 else '+'} {abs(value)}"


def _constants(
    names: Sequence[str], values: np.ndarray[tuple[int, ...], np.dtype[np.int32]]
) -> str:
    return " ".join(_term(int(v), names[i]) for i, v in enumerate(values.tolist()) if v)
