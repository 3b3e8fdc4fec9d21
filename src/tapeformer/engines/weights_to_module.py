"""Weights as a PyTorch module: the shape from names and offsets, the state from sparse matrices."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from tapeformer.engines.fixed import attended, constants_by_layer, fixed_query
from tapeformer.engines.transformer import Point, Shape, Transformer
from tapeformer.faults import Fault, TapeformerError, quoted
from tapeformer.weights.matrices import dense, stacked
from tapeformer.weights.positions import encoding, window_for
from tapeformer.weights.record import Head, Layer, TransformerWeights

AttentionMode = Literal["scores", "offsets"]


def shape_of(
    weights: TransformerWeights, offsets: Sequence[int], window: int | None = None
) -> Shape:
    """Return all that is not a parameter; the window is as long as the offsets need unless given."""
    return Shape(
        sizes=tuple(len(factor.values) for factor in weights.factors),
        d_model=len(weights.fields),
        key_width=weights.key_width,
        value_width=weights.value_width,
        offsets=tuple(offsets),
        heads=tuple(tuple(head.position for head in layer.heads) for layer in weights.layers),
        hidden=tuple(_hidden(layer) for layer in weights.layers),
        window=window_for(offsets) if window is None else window,
        layer_norm=weights.layer_norm,
    )


def state_of(weights: TransformerWeights, dtype: torch.dtype) -> dict[str, Tensor]:
    """Return every learnable parameter, named and shaped as in the module."""
    d = len(weights.fields)
    outputs = [output.matrix for output in weights.outputs]
    state: dict[str, ArrayLike] = {
        "embed.weight": dense(stacked(weights.embeddings, d)),
        "unembed.weight": dense(stacked(outputs, d)),
        "unembed.bias": np.concatenate([output.bias for output in weights.outputs]),
    }
    for number, layer in enumerate(weights.layers):
        named = _layer_state(layer, d)
        state.update({f"blocks.{number}.{name}": entries for name, entries in named.items()})
    return {name: torch.as_tensor(entries).to(dtype) for name, entries in state.items()}


def module_of(
    weights: TransformerWeights,
    shape: Shape,
    dtype: torch.dtype,
    attention: AttentionMode = "scores",
    point: Point = nn.Identity,
    kind: type[Transformer] = Transformer,
) -> Transformer:
    """Return the module with these weights; its parameters are made once, in the type asked for."""
    if attention == "offsets":
        check_offsets(weights, shape)
    with torch.device("meta"), warnings.catch_warnings(action="ignore"):  # of matrices without rows
        module = kind(shape, attention, point)
    module.load_state_dict(state_of(weights, dtype), assign=True)
    return module.eval()


def check_offsets(weights: TransformerWeights, shape: Shape) -> None:
    """Refuse to skip the scores of a head that does not attend to its look-back, whatever it reads.

    Layer normalisation leaves a stream of 1 and -1 as it is, which compiled models have.
    """
    rows = encoding(weights, shape.offsets, shape.window)
    for layer, constants in zip(weights.layers, constants_by_layer(weights, True), strict=True):
        for head in layer.heads:
            query = fixed_query(head, constants)
            back = shape.offsets[head.position]
            if query is None or not _looks_back(rows @ query, back):
                raise TapeformerError(_scored(head))


def _looks_back(scores: np.ndarray[tuple[int], np.dtype[np.float64]], back: int) -> bool:
    """Say whether the highest score is at distance `back`, and at 0 as long as that is not seen."""
    distances = np.arange(len(scores))
    found = attended(scores, rightmost=False)
    return np.array_equal(found, np.where(distances < back, 0, back))


def _scored(head: Head) -> Fault:
    return Fault(
        f"head {quoted(head.name)} does not always attend to its look-back",
        expected="keys that are zero, and a query that is the same in every token",
        remedy='use attention="scores"',
    )


def _hidden(layer: Layer) -> tuple[int, ...] | None:
    if not layer.feed_forward:
        return None
    return tuple(len(affine.bias) for affine in layer.feed_forward[:-1])


def _layer_state(layer: Layer, d: int) -> Mapping[str, ArrayLike]:
    parts = {
        "attn.q": [head.query for head in layer.heads],
        "attn.k": [head.key for head in layer.heads],
        "attn.v": [head.value for head in layer.heads],
    }
    state: dict[str, ArrayLike] = {
        f"{name}.weight": dense(stacked(matrices, d)) for name, matrices in parts.items()
    }
    state |= {"attn.o.weight": dense(layer.mix), "attn.o.bias": layer.mix_bias}
    for place, affine in enumerate(layer.feed_forward):
        state[f"mlp.linears.{place}.weight"] = dense(affine.matrix)
        state[f"mlp.linears.{place}.bias"] = affine.bias
    return state
