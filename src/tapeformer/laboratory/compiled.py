"""Adapters: a compiled bundle as a model of the laboratory, so that it is measured like the others.

The weights and look-backs are the compiler's, unchanged; the tokens come from the sparse engine and
were compared with the queue machine and, decoded, with the direct simulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tapeformer.bundle.record import Bundle
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.compile.sizes import for_steps
from tapeformer.faults import Fault, TapeformerError
from tapeformer.inference.compare import Compared, verify_word
from tapeformer.inference.generation import Generation
from tapeformer.inference.limits import Limits
from tapeformer.laboratory.arithmetic import MOST_BITS, Arithmetic, Rounded
from tapeformer.laboratory.attention import Head
from tapeformer.laboratory.coordinates import Map, numbered, relu, row
from tapeformer.laboratory.experiment import Context, Shape, TokenExperiment
from tapeformer.laboratory.preparation import Prepared
from tapeformer.laboratory.row import Bounds, Row, Task
from tapeformer.laboratory.transformer import Coordinates, Factor, Layer, Transformer
from tapeformer.simulator.fast import simulate
from tapeformer.weights.bounds import sum_bounds
from tapeformer.weights.count import count
from tapeformer.weights.record import Affine, Matrix
from tapeformer.weights.record import Layer as WeightsLayer


@dataclass(frozen=True)
class CompiledExperiment(TokenExperiment):
    """An experiment on a compiled model, whose sums are bounded by its weights alone."""

    bundle: Bundle | None = None

    def reference(self) -> Arithmetic:
        """Return the widest mantissa: integers this small are exact in it."""
        return Rounded(MOST_BITS)

    def shape(self) -> Shape:
        """Return the size of the compiled model."""
        assert self.bundle is not None
        counts = count(self.bundle.weights)
        heads = tuple(len(layer.heads) for layer in self.bundle.weights.layers)
        return Shape(
            counts.d_model,
            heads,
            counts.parameters,
            counts.nonzero_parameters,
            counts.parameter_bits,
            counts.ff_depth,
        )


def compiled_experiment(task: Task, shorter: int = 0, **options: Any) -> CompiledExperiment:
    """Return the compiled model of a task; `shorter` takes that much from its longest look-back."""
    machine, word = task.source, task.word
    space = max(*simulate(machine, word, max_steps=task.steps).cells, len(word), 1)
    asked = CompileOptions(space=space, **options)
    bundle = compile_machine(machine, for_steps(machine, asked, word, task.steps))
    generation = Generation(bundle, word, "sparse")
    prompt = tuple(map(tuple, generation.window().tolist()))

    def contexts() -> Sequence[Context]:
        report = verify_word(machine, word, asked, Compared("sparse", task.steps))
        if not report.agreed:
            raise TapeformerError(Fault(str(report.difference)))
        rows = np.concatenate(list(generation.pieces(Limits(task.steps))))
        stepped = generation.reader.steps(rows)
        tokens = tuple(map(tuple, rows.tolist()))
        return [Context((*prompt, *tokens), len(prompt), tuple(np.cumsum(stepped).tolist()))]

    return CompiledExperiment(
        model=model_of(bundle, shorter),
        contexts=contexts,
        prompt=prompt,
        steps=lambda _: [],
        stops=lambda token: generation.reader.outcome(token) is not None,
        bundle=bundle,
        exact_from=sum_bounds(bundle.weights).sums.bit_length(),
    )


def compiled_row(construction: str, printed: Bounds, steps_per_token: int = 1, **named: Any) -> Row:
    """Return the row of one of the compiler's constructions."""
    experiment = partial(
        compiled_experiment, construction=construction, steps_per_token=steps_per_token
    )
    return Row(
        **named,
        printed=printed,
        provenance=f"the compiler's own construction {construction}, run with its weights and engines",
        experiment=experiment,
        prepare=Prepared,
        several_tapes=True,
        construction=construction,
        ablations={"the longest look-back one shorter": partial(experiment, shorter=1)},
    )


def model_of(bundle: Bundle, shorter: int = 0) -> Transformer:
    """Return a bundle's weights as maps of the laboratory."""
    weights, offsets = bundle.weights, list(bundle.offsets)
    longest = max(offsets)
    offsets = [offset - shorter if offset == longest else offset for offset in offsets]
    names = [factor.name for factor in weights.factors]
    values = [range(len(factor.values)) for factor in weights.factors]
    outputs = [
        Factor(name, tuple(domain), _map(out, len(weights.fields)))
        for name, domain, out in zip(names, values, weights.outputs, strict=True)
    ]
    return Transformer(
        fields=numbered(len(weights.fields)),
        embed=_Embedding(bundle),
        layers=tuple(_layer(layer, offsets, len(weights.fields)) for layer in weights.layers),
        factors=tuple(outputs),
        token=tuple,
        rational=False,
    )


class _Embedding:
    """The sum of the embeddings of a token's factors."""

    def __init__(self, bundle: Bundle) -> None:
        self.tables = [_rows(part) for part in bundle.weights.embeddings]

    def __call__(self, token: Any) -> Coordinates:
        out: dict[Any, int] = {}
        for table, value in zip(self.tables, token, strict=True):
            for column, entry in table.get(value, {}).items():
                out[column] = out.get(column, 0) + entry
        return out


def _rows(part: Matrix) -> dict[int, dict[Any, int]]:
    rows: dict[int, dict[Any, int]] = {}
    entries = zip(part.rows.tolist(), part.columns.tolist(), part.values.tolist(), strict=True)
    for at, column, entry in entries:
        rows.setdefault(at, {})[column] = entry
    return rows


def _map(affine: Affine, width: int) -> Map:
    return _sparse(affine.matrix, affine.bias.tolist(), width)


def _sparse(part: Matrix, bias: Sequence[int], width: int) -> Map:
    """Return a sparse integer matrix and a bias as a map."""
    terms = _rows(part)
    kept = [row(at, terms.get(at, {}), b) for at, b in enumerate(bias) if b or at in terms]
    return Map(numbered(width), numbered(part.shape[0]), kept)


def _layer(layer: WeightsLayer, offsets: Sequence[int], d: int) -> Layer:
    """Return a layer; each head's share of the mixing matrix is applied to its values."""
    width = layer.mix.shape[1] // len(layer.heads)
    heads = []
    for number, head in enumerate(layer.heads):
        value = _sparse(head.value, [0] * width, d)
        share = _columns(layer.mix, number * width, width)
        mix = _sparse(share, [0] * d, width)
        heads.append(Head(head.name, (value, mix), offset=offsets[head.position]))
    bias = Map(
        numbered(d),
        numbered(d),
        [row(at, {}, b) for at, b in enumerate(layer.mix_bias.tolist()) if b],
    )
    networks: list[Any] = [(bias,)] if len(bias.outputs) else []
    if layer.feed_forward:
        networks.append(_network(layer.feed_forward))
    return Layer(tuple(heads), tuple(networks))


def _columns(part: Matrix, start: int, width: int) -> Matrix:
    kept = (part.columns >= start) & (part.columns < start + width)
    columns = part.columns[kept] - start
    return replace(
        part,
        shape=(part.shape[0], width),
        rows=part.rows[kept],
        columns=columns,
        values=part.values[kept],
    )


def _network(affines: Sequence[Affine]) -> tuple[Any, ...]:
    """Return a ReLU network: an activation between two maps, none after the last."""
    steps: list[Any] = []
    for affine in affines:
        steps += [_map(affine, affine.matrix.shape[1]), relu]
    return tuple(steps[:-1])
