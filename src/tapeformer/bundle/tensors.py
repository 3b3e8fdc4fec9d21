"""Parameters <-> the bytes of `model.safetensors`: integers only, zeros not stored.

A matrix is three vectors (rows, columns, values), a bias two (places, values); one that is all
zero is absent. Reading trusts nothing: every size is checked against the file before use.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tapeformer.bundle.files import refuse
from tapeformer.bundle.table import parsed
from tapeformer.faults import quoted
from tapeformer.weights.parameters import Parameter, parameters, with_parameters
from tapeformer.weights.record import Integers, Matrix, TransformerWeights

DTYPES = {"I8": "<i1", "I16": "<i2", "I32": "<i4", "U16": "<u2"}
WIDTHS = {kind: np.dtype(name).itemsize for kind, name in DTYPES.items()}
MOST_HEADER = 64 << 20

Tensors: TypeAlias = dict[str, Integers]


def parameter_bytes(weights: TransformerWeights) -> bytes:
    """Return the file's content; equal parameters give equal bytes."""
    from safetensors.numpy import save

    tensors: dict[str, NDArray[np.integer]] = {}
    for parameter in parameters(weights):
        tensors |= dict(_stored(parameter))
    content: bytes = save(tensors)
    return content


def _stored(parameter: Parameter) -> Iterator[tuple[str, NDArray[np.integer]]]:
    value = parameter.value
    if isinstance(value, Matrix):
        parts = {"rows": value.rows, "columns": value.columns, "values": value.values}
    else:
        places = np.flatnonzero(value).astype(np.int32)
        parts = {"places": places, "values": value[places]}
    if parts["values"].size:
        for name, part in parts.items():
            yield f"{parameter.path}.{name}", _small(part, signed=name == "values")


def _small(numbers: Integers, signed: bool) -> NDArray[np.integer]:
    """Return the numbers in the smallest type that holds them."""
    for kind in (np.int8, np.int16) if signed else (np.uint16,):
        limits = np.iinfo(kind)
        if limits.min <= numbers.min(initial=0) and numbers.max(initial=0) <= limits.max:
            return numbers.astype(kind)
    return numbers


def with_stored(skeleton: TransformerWeights, content: bytes, path: Path) -> TransformerWeights:
    """Return the model with the parameters that a file holds; the skeleton has names and shapes."""
    tensors = _tensors(content, path)
    known = {parameter.path: parameter for parameter in parameters(skeleton)}
    found: dict[str, Matrix | Integers] = {}
    for name in sorted({name.rpartition(".")[0] for name in tensors}):
        if name not in known:
            refuse(path, "a tensor that the model does not have", got=quoted(name))
        found[name] = _restored(known[name], tensors, path)
    if tensors:
        refuse(path, "a tensor that the model does not have", got=quoted(min(tensors)))
    return with_parameters(skeleton, found)


def _restored(parameter: Parameter, tensors: Tensors, path: Path) -> Matrix | Integers:
    """Return a parameter from its vectors, which are taken out of `tensors`."""
    is_matrix = isinstance(parameter.value, Matrix)
    names = ("rows", "columns", "values") if is_matrix else ("places", "values")
    parts = [tensors.pop(f"{parameter.path}.{name}", None) for name in names]
    whole = [part for part in parts if part is not None]
    if len(whole) < len(parts) or len({part.size for part in whole}) > 1:
        expected = ", ".join(names) + ", all equally long"
        refuse(path, f"parameter {quoted(parameter.path)} is not complete", expected=expected)
    if not is_matrix:
        return _vector(parameter, whole[0], whole[1], path)
    return Matrix((parameter.shape[0], parameter.shape[1]), whole[0], whole[1], whole[2])


def _vector(parameter: Parameter, places: Integers, values: Integers, path: Path) -> Integers:
    size = parameter.shape[0]
    if ((places < 0) | (places >= size)).any() or (np.diff(places) <= 0).any():
        expected = f"increasing places from 0 to {size - 1}"
        refuse(path, f"the shape of {parameter.path} is wrong", expected=expected)
    vector = np.zeros(size, np.int32)
    vector[places] = values
    return vector


def _tensors(content: bytes, path: Path) -> Tensors:
    """Return the vectors of a safetensors file, after all of them were seen to lie side by side in it."""
    header, body = _header(content, path)
    spans = {name: _span(name, entry, len(body), path) for name, entry in header.items()}
    end = 0
    for start, following, _ in sorted(spans.values()):
        if start != end:
            refuse(path, "the tensors do not fill the file", expected="no gap and no overlap")
        end = following
    if end != len(body):
        refuse(path, "the tensors do not fill the file", f"{len(body)} bytes", end)
    return {
        name: np.frombuffer(body[start:end], DTYPES[kind]).astype(np.int32)
        for name, (start, end, kind) in spans.items()
    }


def _header(content: bytes, path: Path) -> tuple[dict[str, object], bytes]:
    """Return the table of tensors, and the bytes after it."""
    length = int.from_bytes(content[:8], "little")
    most = max(0, min(MOST_HEADER, len(content) - 8))
    if len(content) < 8 or length > most:
        expected = f"a header of at most {most} bytes"
        refuse(path, "the file is truncated or damaged", expected, length)
    header = parsed(content[8 : 8 + length], path)
    header.pop("__metadata__", None)
    return header, content[8 + length :]


def _span(name: str, entry: object, size: int, path: Path) -> tuple[int, int, str]:
    """Return where a vector lies in the file's body, and its type."""

    def refused(expected: str, got: object = "") -> NoReturn:
        refuse(path, f"tensor {quoted(name)} has no sound header", expected, got)

    table = entry if isinstance(entry, dict) else {}
    kind = table.get("dtype")
    if not isinstance(kind, str) or kind not in DTYPES:
        refused("an integer type: " + ", ".join(DTYPES), quoted(str(kind)))
    shape, span = _integers(table.get("shape"), 1), _integers(table.get("data_offsets"), 2)
    if not shape or not span:
        refused("one dimension and two offsets")
    (count,), (start, end) = shape, span
    width = WIDTHS[kind]
    if not (start <= end <= size and end - start == count * width):
        expected = f"{count} entries of {width} bytes inside {size} bytes"
        refused(expected, f"bytes {start} to {end}")
    return start, end, kind


def _integers(value: object, count: int) -> list[int]:
    """Return a list of that many sizes; an empty one where it is anything else."""
    sound = (
        isinstance(value, list)
        and len(value) == count
        and all(type(item) is int and 0 <= item < 1 << 62 for item in value)
    )
    return list(value) if sound and isinstance(value, list) else []
