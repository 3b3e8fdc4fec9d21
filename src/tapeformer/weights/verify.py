"""What is legal in the weights of a Transformer: every fault at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from tapeformer.faults import Fault, TapeformerError, quoted
from tapeformer.weights.parameters import Parameter, parameters
from tapeformer.weights.record import Affine, Layer, Matrix, TransformerWeights

LARGEST = 32767
"""Parameters are small integers: what fits in 16 bits with its sign."""


def verify(weights: TransformerWeights) -> tuple[Fault, ...]:
    """Return all faults of the weights; none means that they are sound."""
    every = tuple(parameters(weights))
    wrong = () if _all_sound(every) else every
    return (
        *_name_faults(weights),
        *_shape_faults(weights),
        *(fault for parameter in wrong for fault in _entry_faults(parameter)),
    )


def checked(weights: TransformerWeights) -> TransformerWeights:
    """Return the weights if they are sound; otherwise raise every fault."""
    faults = verify(weights)
    if faults:
        raise TapeformerError(faults)
    return weights


def _name_faults(weights: TransformerWeights) -> Iterator[Fault]:
    yield from _repeated("residual field", weights.fields)
    yield from _repeated("factor", [factor.name for factor in weights.factors])
    for factor in weights.factors:
        yield from _repeated(f"value of factor {quoted(factor.name)}", factor.values)
        if not factor.values:
            yield Fault(f"factor {quoted(factor.name)} has no values", expected="1 or more")


def _repeated(kind: str, names: Sequence[str]) -> Iterator[Fault]:
    for name, times in Counter(names).items():
        if times > 1:
            yield Fault(f"a {kind} appears {times} times", expected="once", got=quoted(name))


def _shape_faults(weights: TransformerWeights) -> Iterator[Fault]:
    d = len(weights.fields)
    for kind, parts in (("embeddings", weights.embeddings), ("outputs", weights.outputs)):
        if len(parts) != len(weights.factors):
            yield _wrong(f"number of {kind}", len(weights.factors), len(parts))
    for index, (factor, part) in enumerate(zip(weights.factors, weights.embeddings, strict=False)):
        yield from _shape(f"embedding.{index}", part, (len(factor.values), d))
    for index, (factor, out) in enumerate(zip(weights.factors, weights.outputs, strict=False)):
        yield from _affine(f"output.{index}", out, (len(factor.values), d))
        if out.names != factor.values:
            yield Fault(f"output.{index} is not named as the values of {quoted(factor.name)}")
    for index, layer in enumerate(weights.layers):
        yield from _layer_faults(f"layer.{index}", layer, weights)


def _layer_faults(path: str, layer: Layer, weights: TransformerWeights) -> Iterator[Fault]:
    d = len(weights.fields)
    for index, head in enumerate(layer.heads):
        where = f"{path}.head.{index}"
        yield from _shape(f"{where}.query", head.query, (weights.key_width, d))
        yield from _shape(f"{where}.key", head.key, (weights.key_width, d))
        yield from _shape(f"{where}.value", head.value, (weights.value_width, d))
        if not 0 <= head.position < len(weights.position_rules):
            below = f"0 to {len(weights.position_rules) - 1}"
            yield _wrong(f"positional coordinate of {where}", below, head.position)
    yield from _shape(f"{path}.mix", layer.mix, (d, len(layer.heads) * weights.value_width))
    if layer.mix_bias.shape != (d,):
        yield _wrong(f"shape of {path}.mix_bias", (d,), layer.mix_bias.shape)
    yield from _network_faults(f"{path}.feed_forward", layer.feed_forward, weights.fields)


def _network_faults(path: str, network: Sequence[Affine], fields: Sequence[str]) -> Iterator[Fault]:
    yield from _repeated(f"neuron of {path}", [n for a in network[:-1] for n in a.names])
    width = d = len(fields)
    for index, affine in enumerate(network):
        height = d if index == len(network) - 1 else affine.matrix.shape[0]
        yield from _affine(f"{path}.{index}", affine, (height, width))
        width = height
    for last in network[-1:]:
        if last.names != tuple(fields):
            yield Fault(f"the outputs of {path} are not named as the residual fields")


def _affine(path: str, affine: Affine, shape: tuple[int, int]) -> Iterator[Fault]:
    yield from _shape(f"{path}.matrix", affine.matrix, shape)
    if affine.bias.shape != shape[:1]:
        yield _wrong(f"shape of {path}.bias", shape[:1], affine.bias.shape)
    if len(affine.names) != shape[0]:
        yield _wrong(f"number of names in {path}", shape[0], len(affine.names))


def _shape(path: str, part: Matrix, shape: tuple[int, int]) -> Iterator[Fault]:
    if part.shape != shape:
        yield _wrong(f"shape of {path}", shape, part.shape)


def _wrong(what: str, expected: object, got: object) -> Fault:
    return Fault(f"wrong {what}", expected=str(expected), got=str(got))


def _all_sound(every: Sequence[Parameter]) -> bool:
    """Say whether no entry has a fault, all looked at together: one by one takes ten times as long."""
    matrices = [p.value for p in every if isinstance(p.value, Matrix) and p.value.values.size]
    if not all(part.rows.shape == part.columns.shape == part.values.shape for part in matrices):
        return False
    vectors = [p.value for p in every if not isinstance(p.value, Matrix)]
    entries = np.concatenate([np.zeros(0), *vectors, *(part.values for part in matrices)])
    if np.abs(entries).max(initial=0) > LARGEST:
        return False
    return not matrices or _sorted_inside(matrices)


def _sorted_inside(matrices: Sequence[Matrix]) -> bool:
    """Say whether matrices have their entries in order, inside their shapes, and none is zero."""
    sizes = [part.values.size for part in matrices]
    rows, columns, values = (
        np.concatenate(parts)
        for parts in zip(
            *((part.rows, part.columns, part.values) for part in matrices), strict=True
        )
    )
    height, width = np.repeat(np.array([part.shape for part in matrices]), sizes, axis=0).T
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    new = np.zeros(len(rows), bool)
    new[np.cumsum(sizes[:-1], dtype=np.int64)] = True
    ordered = np.diff(rows.astype(np.int64) * width + columns) > 0
    return bool(inside.all() and (ordered | new[1:]).all() and values.all())


def _entry_faults(parameter: Parameter) -> Iterator[Fault]:
    value = parameter.value
    entries = value.values if isinstance(value, Matrix) else value
    largest = int(np.abs(entries.astype(np.int64)).max(initial=0))
    if largest > LARGEST:
        yield _wrong(f"size of an entry of {parameter.path}", f"at most {LARGEST}", largest)
    if isinstance(value, Matrix):
        yield from _coordinate_faults(parameter.path, value)


def _coordinate_faults(path: str, part: Matrix) -> Iterator[Fault]:
    if not part.rows.shape == part.columns.shape == part.values.shape:
        sizes = (part.rows.size, part.columns.size, part.values.size)
        yield _wrong(f"number of entries of {path}", "equal lists", sizes)
        return
    for kind, places, limit in zip(
        ("row", "column"), (part.rows, part.columns), part.shape, strict=True
    ):
        outside = places[(places < 0) | (places >= limit)]
        if outside.size:
            yield _wrong(f"{kind} of an entry of {path}", f"0 to {limit - 1}", int(outside[0]))
    flat = part.rows.astype(np.int64) * part.shape[1] + part.columns
    if (np.diff(flat) <= 0).any():
        yield Fault(f"entries of {path} are not sorted, or repeat", expected="rows, then columns")
    if (part.values == 0).any():
        yield Fault(f"{path} stores a zero", expected="nonzero entries only")
