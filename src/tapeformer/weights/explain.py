"""Say what a head, a neuron or a residual field reads and writes, why, and from which rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tapeformer.faults import Fault, TapeformerError, quoted
from tapeformer.weights.names import carried, rules_of
from tapeformer.weights.record import Affine, Head, Integers, Layer, Matrix, TransformerWeights

MOST_LINES = 24


@dataclass(frozen=True)
class Explanation:
    """One part of a model in words.

    `rules` are the numbers, from 1, of the machine's rules that it comes from, lowest first;
    `more_rules` says that not all are named.
    """

    title: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    why: str
    rules: tuple[int, ...] = ()
    more_rules: bool = False

    def __str__(self) -> str:
        return self.text({})

    def text(self, rules: Mapping[int, str]) -> str:
        """Return the explanation as lines; `rules` has the text of each rule by its number."""
        lines = [self.title, *_shown("reads", self.reads), *_shown("writes", self.writes)]
        lines.append(f"  because {self.why}")
        named = [f"{number}: {rules[number]}" for number in self.rules if number in rules]
        if rules and not named:
            named = ["none in particular"]
        named += ["... and more"] if self.more_rules else []
        return "\n".join([*lines, *(f"  rule    {rule}" for rule in named)])


def _shown(verb: str, entries: Sequence[str]) -> list[str]:
    """Return a line for each entry, only the first ones where there are many."""
    lines = [f"  {verb:<7} {entry}" for entry in entries[:MOST_LINES]]
    more = len(entries) - MOST_LINES
    return [*lines, f"  {verb:<7} ... and {more} more"] if more > 0 else lines


def explain_head(
    weights: TransformerWeights, position: int, lengths: Mapping[str, int] | None = None
) -> Explanation:
    """Explain a head by its number r, the positional coordinate it uses; with lengths, in numbers."""
    for number, layer in enumerate(weights.layers):
        for place, head in enumerate(layer.heads):
            if head.position == position:
                title = f"head {position} ({head.name}), layer {number}"
                reads, why = _head_reads(weights, head), _why(weights, head, lengths)
                return Explanation(title, reads, _head_writes(weights, layer, place, head), why)
    raise _unknown("head", str(position), f"0 to {len(weights.position_rules) - 1}")


def _head_reads(weights: TransformerWeights, head: Head) -> tuple[str, ...]:
    query = sorted({weights.fields[column] for column in head.query.columns})
    copied = [weights.fields[column] for column in dict.fromkeys(head.value.columns.tolist())]
    return (f"query from {', '.join(query) or 'nothing'}", *(f"value from {f}" for f in copied))


def _head_writes(
    weights: TransformerWeights, layer: Layer, place: int, head: Head
) -> tuple[str, ...]:
    """Return the fields that W brings this head's columns to, with what is copied there."""
    start = place * weights.value_width
    sources: dict[int, list[str]] = {}
    for row, column in zip(head.value.rows.tolist(), head.value.columns.tolist(), strict=True):
        sources.setdefault(row, []).append(weights.fields[column])
    written = []
    for row, column in zip(layer.mix.rows.tolist(), layer.mix.columns.tolist(), strict=True):
        if column - start in sources and start <= column < start + weights.value_width:
            written.append(
                f"{weights.fields[row]}, a copy of {' + '.join(sources[column - start])}"
            )
    return tuple(written)


def _why(weights: TransformerWeights, head: Head, lengths: Mapping[str, int] | None) -> str:
    rule = weights.position_rules[head.position]
    if lengths is None or rule not in lengths:
        return f"the front of a queue of length rule {rule!r} is that many tokens before the next"
    number = lengths[rule]
    return (
        f"a queue of length {number} (rule {rule!r}) was appended its front {number - 1} tokens "
        "before the current one"
    )


def explain_neuron(weights: TransformerWeights, number: int) -> Explanation:
    """Explain a ReLU neuron, counted through all hidden layers of all feed-forward networks."""
    left = number
    for layer_number, layer in enumerate(weights.layers):
        inputs: Sequence[str] = weights.fields
        for depth, (affine, after) in enumerate(
            zip(layer.feed_forward, layer.feed_forward[1:], strict=False)
        ):
            if 0 <= left < len(affine.names):
                title = f"neuron {number}: {affine.names[left]} (layer {layer_number}, depth {depth + 1})"
                return _neuron(title, left, affine, after, inputs)
            left -= len(affine.names)
            inputs = affine.names
    raise _unknown("neuron", str(number), f"0 to {number - left - 1}")


def _neuron(
    title: str, row: int, affine: Affine, after: Affine, inputs: Sequence[str]
) -> Explanation:
    bias = int(affine.bias[row])
    reads = _terms(*_row(affine.matrix, row), inputs)
    writes = _terms(*_column(after.matrix, row), after.names)
    name = affine.names[row]
    needed = carried(name)
    if needed is None:
        why = f"relu(sum {bias:+d}) is 1 exactly where {name} holds"
    else:
        why = f"a later layer needs {needed}"
    return Explanation(title, (*reads, f"bias {bias:+d}"), writes, why, *rules_of(name))


def _row(part: Matrix, row: int) -> tuple[Integers, Integers]:
    """Return where the entries of a row are, and the entries."""
    chosen = part.rows == row
    return part.columns[chosen], part.values[chosen]


def _column(part: Matrix, column: int) -> tuple[Integers, Integers]:
    chosen = part.columns == column
    return part.rows[chosen], part.values[chosen]


def _terms(places: Integers, values: Integers, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        f"{value:+d} {names[place]}"
        for place, value in zip(places.tolist(), values.tolist(), strict=True)
    )


def explain_field(weights: TransformerWeights, name: str) -> Explanation:
    """Explain a residual coordinate: what fills it (`reads`) and what looks at it (`writes`)."""
    if name not in weights.fields:
        near = [field for field in weights.fields if name in field][:5] or weights.fields[:5]
        raise _unknown("field", quoted(name), "a name such as " + ", ".join(map(quoted, near)))
    place = weights.fields.index(name)
    writers, readers = _written_by_token(weights, place), []
    for layer in weights.layers:
        for number, head in enumerate(layer.heads):
            columns = layer.mix.columns[layer.mix.rows == place]
            if (columns // max(weights.value_width, 1) == number).any():
                writers.append(f"head {head.position} ({head.name})")
            if any((part.columns == place).any() for part in (head.query, head.key, head.value)):
                readers.append(f"head {head.position} ({head.name})")
        for last in layer.feed_forward[-1:]:
            writers += _terms(*_row(last.matrix, place), layer.feed_forward[-2].names)
        for first in layer.feed_forward[:1]:
            readers += _terms(*_column(first.matrix, place), first.names)
    rules, more = _rules_among([*writers, *readers])
    readers += _outputs(weights, place)
    why = "what it reads from fills it; what it writes to looks at it"
    title = f"field {quoted(name)}, coordinate {place}"
    return Explanation(title, tuple(writers), tuple(readers), why, rules, more)


def _rules_among(terms: Sequence[str]) -> tuple[tuple[int, ...], bool]:
    """Return the rules of the neurons in terms such as `+1 NAME`, the first ones if there are many."""
    found = [rules_of(term.partition(" ")[2]) for term in terms]
    rules = sorted({number for numbers, _ in found for number in numbers})
    return tuple(rules[:MOST_LINES]), len(rules) > MOST_LINES or any(more for _, more in found)


def _written_by_token(weights: TransformerWeights, place: int) -> list[str]:
    return [
        f"token {factor.name}={factor.values[row]}"
        for factor, part in zip(weights.factors, weights.embeddings, strict=True)
        for row in part.rows[np.asarray(part.columns == place)].tolist()
    ]


def _outputs(weights: TransformerWeights, place: int) -> list[str]:
    return [
        f"logit of {factor.name}={factor.values[row]}"
        for factor, output in zip(weights.factors, weights.outputs, strict=True)
        for row in output.matrix.rows[output.matrix.columns == place].tolist()
    ]


def _unknown(kind: str, got: str, expected: str) -> TapeformerError:
    return TapeformerError(Fault(f"the model has no such {kind}", expected=expected, got=got))
