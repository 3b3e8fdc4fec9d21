"""A cache of machine code, or of why there is none, keyed by a hash of everything it depends on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from tapeformer.cache.key import key_for
from tapeformer.cache.store import Store
from tapeformer.dataclass import dataclass
from tapeformer.engines.logic.not_logic import NotLogicError
from tapeformer.engines.native.memory_layout import BatchLayout, CodeLayout, MemoryLayout
from tapeformer.weights.parameters import parameters
from tapeformer.weights.record import Integers, Matrix, TransformerWeights

PLAIN: dict[object, tuple[type, ...]] = {
    "int": (int,),
    "bool": (bool,),
    "int | None": (int, type(None)),
}
"""How plain fields of a memory layout are annotated, and the types their JSON values may have."""


NESTED: dict[object, int] = {"Numbers": 1, "Rows": 2, "ValueMasks": 3}
"""For the other fields, how deeply their lists of numbers are nested."""


Layout = TypeVar("Layout", bound=CodeLayout, covariant=True)


@dataclass(frozen=True)
class MachineCode(Generic[Layout]):
    """Machine code, and the memory layout to call it with."""

    layout: Layout
    machine_code: bytes


@dataclass(frozen=True)
class Refusal:
    """Why a model cannot be turned into gates: finding out can take longer than making code."""

    reason: str


def key_of(weights: TransformerWeights, *rest: object) -> str:
    """Return a hash of all parameters, the factors' sizes, and anything else given."""
    sizes = [len(factor.values) for factor in weights.factors]
    every = list(parameters(weights))
    arrays = [array for parameter in every for array in _arrays(parameter.value)]
    shapes = [(parameter.path, parameter.shape) for parameter in every]
    lengths = [(array.dtype.str, array.size) for array in arrays]
    first = repr((np.__version__, sizes, weights.layer_norm, rest, shapes, lengths))
    return key_for(first, b"".join(array.tobytes() for array in arrays))


def _arrays(value: Matrix | Integers) -> tuple[Integers, ...]:
    return (value.rows, value.columns, value.values) if isinstance(value, Matrix) else (value,)


class CodeCache:
    """Machine code in a folder, the user's cache folder unless one is given."""

    def __init__(self, folder: Path | None = None) -> None:
        self.store = Store("code", folder)

    def get(self, key: str, make: Callable[[], MachineCode[Any]]) -> MachineCode[Any]:
        """Return the code under a key, made now if missing; NotLogicError if there can be none."""
        found = self.find(key)
        if found is None:
            found = _outcome(make)
            self.store.put(key, _packed(found))
        if isinstance(found, Refusal):
            raise NotLogicError(found.reason)
        return found

    def find(self, key: str) -> MachineCode[Any] | Refusal | None:
        """Return what is stored under a key, if it is valid."""
        content = self.store.get(key)
        return None if content is None else _unpacked(content)


def _outcome(make: Callable[[], MachineCode[Any]]) -> MachineCode[Any] | Refusal:
    try:
        return make()
    except NotLogicError as error:
        return Refusal(str(error))


def _packed(found: MachineCode[Any] | Refusal) -> bytes:
    """Encode an entry: the length of a header, the header as JSON, and the machine code."""
    entries, code = (
        (asdict(found.layout), found.machine_code)
        if isinstance(found, MachineCode)
        else (asdict(found), b"")
    )
    header = json.dumps(entries).encode()
    return len(header).to_bytes(8, "little") + header + code


def _unpacked(content: bytes) -> MachineCode[Any] | Refusal | None:
    """Decode an entry; None if its header was not written here."""
    end = 8 + int.from_bytes(content[:8], "little")
    try:
        entries = json.loads(content[8:end])
        if entries.keys() == {"reason"}:
            return Refusal(_of_type(entries["reason"], str))
        return MachineCode(_layout(entries), content[end:])
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _layout(entries: Mapping[str, Any]) -> CodeLayout:
    """Return the memory layout in a header; raise if it is incomplete or invalid."""
    kind = BatchLayout if "rings" in entries else MemoryLayout
    given = {
        field.name: _of_type(entries[field.name], *PLAIN[field.type])
        if field.type in PLAIN
        else _tuples(entries[field.name], NESTED[field.type])
        for field in fields(kind)
    }
    return kind(**{**entries, **given})


def _tuples(value: Any, depth: int) -> Any:
    """Return lists of numbers as tuples; rows of a nested list have at least two numbers."""
    if depth == 1:
        return tuple(_of_type(number, int) for number in _of_type(value, list))
    rows = tuple(_tuples(part, depth - 1) for part in _of_type(value, list))
    if depth == 2 and any(len(row) < 2 for row in rows):
        raise ValueError("a header that was not written here")
    return rows


def _of_type(value: Any, *types: type) -> Any:
    """Return a value if it has one of these types; integers must be unsigned and fit 64 bits."""
    if type(value) not in types or (type(value) is int and not 0 <= value < 1 << 64):
        raise ValueError("a header that was not written here")
    return value
