"""The paper's Section 2.3 in plain numpy: every position of every layer, computed anew.

With `object` as the type it computes with Python's integers, so nothing is ever rounded.

Nothing is kept from token to token and nothing is skipped, so that engines can be held against it.
It also tells which weights a workload exercises.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapeformer.weights.matrices import dense
from tapeformer.weights.parameters import parameters
from tapeformer.weights.positions import encoding
from tapeformer.weights.record import Layer, Matrix, Token, TransformerWeights

Array = NDArray[Any]
Flow = dict[str, tuple[Array, Array]]
"""For each matrix what went in and what came out (after the ReLU, if any), a row per position."""


def next_token(
    weights: TransformerWeights,
    offsets: Sequence[int],
    window: int,
    tokens: Sequence[Token],
    dtype: type = float,
) -> Token:
    """The token after the given ones."""
    logits = forward(weights, offsets, window, tokens, {}, dtype)
    return tuple(int(part[-1].argmax()) for part in logits)


def generated(
    weights: TransformerWeights,
    offsets: Sequence[int],
    window: int,
    prompt: Sequence[Token],
    count: int,
    dtype: type = float,
) -> list[Token]:
    """The next `count` tokens."""
    tokens = list(prompt)
    for _ in range(count):
        tokens.append(next_token(weights, offsets, window, tokens, dtype))
    return tokens[len(prompt) :]


def forward(
    weights: TransformerWeights,
    offsets: Sequence[int],
    window: int,
    tokens: Sequence[Token],
    flow: Flow,
    dtype: type = float,
) -> list[Array]:
    """The logits of each factor at every position; `flow` is filled on the way."""
    stream: Array = np.zeros((len(tokens), len(weights.fields)), dtype)
    for index, embedding in enumerate(weights.embeddings):
        one_hot: Array = np.eye(embedding.shape[0], dtype=dtype)[[token[index] for token in tokens]]
        stream = stream + _through(flow, f"embedding.{index}", one_hot, _full(embedding, dtype))
    positions: Array = (
        encoding(weights, offsets, max(window, len(tokens))).astype(int).astype(dtype)
    )
    for index, layer in enumerate(weights.layers):
        path = f"layer.{index}"
        stream = stream + _attention(layer, positions, window, stream, path, flow)
        stream = stream + _network(layer, stream, path, flow)
    return [
        _through(flow, f"output.{index}.matrix", stream, _full(out.matrix, dtype).T) + out.bias
        for index, out in enumerate(weights.outputs)
    ]


def _attention(
    layer: Layer, positions: Array, window: int, stream: Array, path: str, flow: Flow
) -> Array:
    fetched = [np.zeros((len(stream), 0), stream.dtype)]
    for index, head in enumerate(layer.heads):
        query, key = (stream @ _full(part, stream.dtype).T for part in (head.query, head.key))
        value = _through(
            flow, f"{path}.head.{index}.value", stream, _full(head.value, stream.dtype).T
        )
        chosen = [_attended(query[i], key, positions, window, i) for i in range(len(stream))]
        fetched.append(value[chosen])
    mixed = _through(
        flow, f"{path}.mix", np.concatenate(fetched, axis=1), _full(layer.mix, stream.dtype).T
    )
    return mixed + layer.mix_bias


def _attended(query: Array, key: Array, positions: Array, window: int, i: int) -> int:
    """Leftmost hardmax over the most recent `window` positions."""
    visible = range(max(0, i - window + 1), i + 1)
    scores = [(key[j] + positions[i - j]) @ query for j in visible]
    return visible[int(np.argmax(scores))]


def _network(layer: Layer, stream: Array, path: str, flow: Flow) -> Array:
    if not layer.feed_forward:
        return np.zeros_like(stream)
    x = stream
    for index, affine in enumerate(layer.feed_forward):
        y = x @ _full(affine.matrix, x.dtype).T + affine.bias
        if index < len(layer.feed_forward) - 1:
            y = np.maximum(y, 0)
        flow[f"{path}.feed_forward.{index}.matrix"] = (x, y)
        x = y
    return x


def _full(matrix: Matrix, dtype: type | np.dtype[Any]) -> Array:
    """Every entry, zeros too."""
    return dense(matrix).astype(int).astype(dtype)


def _through(flow: Flow, path: str, x: Array, matrix: Array) -> Array:
    flow[path] = (x, x @ matrix)
    return flow[path][1]


def exercised(
    weights: TransformerWeights, flow: Flow, joined: bool = True
) -> list[tuple[str, int]]:
    """The entries (path, number) whose output was once nonzero; `joined`: with a nonzero input."""
    found = []
    for parameter in parameters(weights):
        if isinstance(parameter.value, Matrix) and parameter.path in flow:
            x, y = ((part != 0).astype(float) for part in flow[parameter.path])
            together = y.T @ (x if joined else np.ones_like(x))
            if parameter.path.startswith("embedding"):
                together = together.T
            rows, columns = parameter.value.rows, parameter.value.columns
            active = np.flatnonzero(together[rows, columns])
            found += [(parameter.path, int(entry)) for entry in active]
    return found
