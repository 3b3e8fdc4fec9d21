"""Parameters <-> the bytes of `model.safetensors`: integers only, zeros not stored.

A matrix is three vectors (rows, columns, values), a bias two (places, values); one that is all
zero is not there. Reading trusts nothing: every size is checked against the file before use.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from tapeformer.faults import Fault, Place, TapeformerError, quoted
from tapeformer.weights.parameters import Parameter, parameters, with_parameters
from tapeformer.weights.record import Integers, Matrix, TransformerWeights

DTYPES = {"I8": "<i1", "I16": "<i2", "I32": "<i4", "U16": "<u2"}
MOST_HEADER = 64 << 20

Tensors = dict[str, NDArray[np.int64]]


def parameter_bytes(weights: TransformerWeights) -> bytes:
    """The file's content; equal parameters give equal bytes."""
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
    """The numbers in the smallest type that holds them."""
    for kind in (np.int8, np.int16) if signed else (np.uint16,):
        limits = np.iinfo(kind)
        if limits.min <= numbers.min(initial=0) and numbers.max(initial=0) <= limits.max:
            return numbers.astype(kind)
    return numbers


def with_stored(skeleton: TransformerWeights, content: bytes, path: Path) -> TransformerWeights:
    """The model with the parameters that a file holds; the skeleton has names and shapes."""
    tensors = _tensors(content, path)
    known = {parameter.path: parameter for parameter in parameters(skeleton)}
    found: dict[str, Matrix | Integers] = {}
    for name in sorted({name.rpartition(".")[0] for name in tensors}):
        if name not in known:
            _refuse(path, "a tensor that the model does not have", got=quoted(name))
        value = known[name].value
        is_matrix = isinstance(value, Matrix)
        parts = [tensors.pop(f"{name}.{part}", None) for part in _parts(is_matrix)]
        sizes = {-1 if part is None else part.size for part in parts}
        if len(sizes) != 1 or -1 in sizes:
            expected = " and ".join(_parts(is_matrix)) + ", equally long"
            _refuse(path, f"parameter {quoted(name)} is not complete", expected=expected)
        whole = [part for part in parts if part is not None]
        found[name] = (
            _matrix(known[name], whole) if is_matrix else _vector(known[name], whole, path)
        )
    if tensors:
        _refuse(path, "a tensor that the model does not have", got=quoted(min(tensors)))
    return with_parameters(skeleton, found)


def _parts(is_matrix: bool) -> tuple[str, ...]:
    return ("rows", "columns", "values") if is_matrix else ("places", "values")


def _matrix(parameter: Parameter, parts: list[NDArray[np.int64]]) -> Matrix:
    rows, columns, values = (part.astype(np.int32) for part in parts)
    return Matrix((parameter.shape[0], parameter.shape[1]), rows, columns, values)


def _vector(parameter: Parameter, parts: list[NDArray[np.int64]], path: Path) -> Integers:
    places, values = parts
    size = parameter.shape[0]
    if ((places < 0) | (places >= size)).any() or (np.diff(places) <= 0).any():
        expected = f"increasing places from 0 to {size - 1}"
        _refuse(path, f"the shape of {parameter.path} is wrong", expected=expected)
    vector = np.zeros(size, np.int32)
    vector[places] = values
    return vector


def _tensors(content: bytes, path: Path) -> Tensors:
    """The vectors of a safetensors file, every one checked to lie inside it."""
    if len(content) < 8:
        _refuse(path, "the file is truncated", expected="8 bytes or more", got=str(len(content)))
    length = int.from_bytes(content[:8], "little")
    if length > min(MOST_HEADER, len(content) - 8):
        expected = f"a header of at most {min(MOST_HEADER, len(content) - 8)} bytes"
        _refuse(path, "the file is truncated or damaged", expected=expected, got=str(length))
    try:
        header = json.loads(content[8 : 8 + length])
    except (ValueError, RecursionError) as error:
        _refuse(path, "the header is not JSON", got=str(error))
    if not isinstance(header, dict):
        _refuse(path, "the header is not a table", got=type(header).__name__)
    body = content[8 + length :]
    tensors, ends = {}, [0]
    for name, entry in header.items():
        start, end = _span(name, entry, len(body), path)
        tensors[name] = np.frombuffer(body[start:end], DTYPES[entry["dtype"]]).astype(np.int64)
        ends += [start, end]
    if sum(ends[2::2]) - sum(ends[1::2]) != len(body):
        _refuse(path, "the tensors do not fill the file", expected="no gap and no overlap")
    return tensors


def _span(name: str, entry: object, size: int, path: Path) -> tuple[int, int]:
    """Where a vector lies in the file's body."""
    what = f"tensor {quoted(name)} has no sound header"
    if not isinstance(entry, dict) or entry.get("dtype") not in DTYPES:
        _refuse(path, what, expected="an integer type: " + ", ".join(DTYPES))
    shape, span = entry.get("shape"), entry.get("data_offsets")
    if not (_integers(shape, 1) and _integers(span, 2)):
        _refuse(path, what, expected="one dimension and two offsets")
    assert isinstance(shape, list)
    assert isinstance(span, list)
    start, end = span
    width = np.dtype(DTYPES[entry["dtype"]]).itemsize
    if not (0 <= start <= end <= size and end - start == shape[0] * width):
        expected = f"{shape[0]} entries of {width} bytes inside {size} bytes"
        _refuse(path, what, expected=expected, got=f"bytes {start} to {end}")
    return start, end


def _integers(value: object, count: int) -> bool:
    return (
        isinstance(value, list)
        and len(value) == count
        and all(type(item) is int and 0 <= item < 1 << 62 for item in value)
    )


def _refuse(path: Path, what: str, expected: str = "", got: str = "") -> NoReturn:
    remedy = "compile the machine again"
    raise TapeformerError(Fault(what, Place(str(path)), expected, got, remedy))
