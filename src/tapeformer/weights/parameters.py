"""Walking over the learnable parameters of a model by path, and exchanging some of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tapeformer.dataclass import dataclass
from tapeformer.weights.record import Affine, Head, Integers, Layer, Matrix, TransformerWeights


@dataclass(frozen=True, eq=False)
class Parameter:
    """One matrix or vector of a model under its path, such as `layer.0.head.2.query`."""

    path: str
    value: Matrix | Integers
    shape: tuple[int, ...]


def parameters(weights: TransformerWeights) -> Iterator[Parameter]:
    """Yield every learnable matrix and vector, in the order in which they act."""
    for index, embedding in enumerate(weights.embeddings):
        yield _of_matrix(f"embedding.{index}", embedding)
    for index, layer in enumerate(weights.layers):
        yield from _of_layer(f"layer.{index}", layer)
    for index, output in enumerate(weights.outputs):
        yield from _of_affine(f"output.{index}", output)


def _of_layer(path: str, layer: Layer) -> Iterator[Parameter]:
    for index, head in enumerate(layer.heads):
        yield _of_matrix(f"{path}.head.{index}.query", head.query)
        yield _of_matrix(f"{path}.head.{index}.key", head.key)
        yield _of_matrix(f"{path}.head.{index}.value", head.value)
    yield _of_matrix(f"{path}.mix", layer.mix)
    yield _of_vector(f"{path}.mix_bias", layer.mix_bias)
    for index, affine in enumerate(layer.feed_forward):
        yield from _of_affine(f"{path}.feed_forward.{index}", affine)


def _of_affine(path: str, affine: Affine) -> Iterator[Parameter]:
    yield _of_matrix(f"{path}.matrix", affine.matrix)
    yield _of_vector(f"{path}.bias", affine.bias)


def _of_matrix(path: str, value: Matrix) -> Parameter:
    return Parameter(path, value, value.shape)


def _of_vector(path: str, value: Integers) -> Parameter:
    return Parameter(path, value, value.shape)


def nonzero_values(parameter: Parameter) -> Integers:
    """Return the entries of a matrix or vector that are not zero."""
    value = parameter.value
    return value.values if isinstance(value, Matrix) else value[value != 0]


def with_parameters(
    weights: TransformerWeights, found: Mapping[str, Matrix | Integers]
) -> TransformerWeights:
    """Return the model with the parameters at some paths exchanged, the others as they were."""
    return replace(
        weights,
        embeddings=tuple(
            _matrix(found, f"embedding.{index}", part)
            for index, part in enumerate(weights.embeddings)
        ),
        layers=tuple(
            _layer(found, f"layer.{index}", layer) for index, layer in enumerate(weights.layers)
        ),
        outputs=tuple(
            _affine(found, f"output.{index}", part) for index, part in enumerate(weights.outputs)
        ),
    )


def _layer(found: Mapping[str, Matrix | Integers], path: str, layer: Layer) -> Layer:
    return Layer(
        heads=tuple(
            _head(found, f"{path}.head.{index}", head) for index, head in enumerate(layer.heads)
        ),
        mix=_matrix(found, f"{path}.mix", layer.mix),
        mix_bias=_vector(found, f"{path}.mix_bias", layer.mix_bias),
        feed_forward=tuple(
            _affine(found, f"{path}.feed_forward.{index}", affine)
            for index, affine in enumerate(layer.feed_forward)
        ),
    )


def _head(found: Mapping[str, Matrix | Integers], path: str, head: Head) -> Head:
    return replace(
        head,
        query=_matrix(found, f"{path}.query", head.query),
        key=_matrix(found, f"{path}.key", head.key),
        value=_matrix(found, f"{path}.value", head.value),
    )


def _affine(found: Mapping[str, Matrix | Integers], path: str, affine: Affine) -> Affine:
    return replace(
        affine,
        matrix=_matrix(found, f"{path}.matrix", affine.matrix),
        bias=_vector(found, f"{path}.bias", affine.bias),
    )


def _matrix(found: Mapping[str, Matrix | Integers], path: str, old: Matrix) -> Matrix:
    new = found.get(path, old)
    assert isinstance(new, Matrix), path
    return new


def _vector(found: Mapping[str, Matrix | Integers], path: str, old: Integers) -> Integers:
    new = found.get(path, old)
    assert not isinstance(new, Matrix), path
    return new


def with_sign_flipped(weights: TransformerWeights, path: str, entry: int) -> TransformerWeights:
    """Return the model with one nonzero entry negated: `entry` counts those of the parameter at `path`."""
    old = next(parameter.value for parameter in parameters(weights) if parameter.path == path)
    if isinstance(old, Matrix):
        values = old.values.copy()
        values[entry] *= -1
        return with_parameters(weights, {path: replace(old, values=values)})
    vector = old.copy()
    vector[vector.nonzero()[0][entry]] *= -1
    return with_parameters(weights, {path: vector})
