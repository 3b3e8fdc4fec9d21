"""Traces as Parquet: one row per word, the names and sizes of the factors in the schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapeformer.export.dataset.traces import Trace
from tapeformer.extras import require
from tapeformer.faults import Fault, SourceLocation, TapeformerError
from tapeformer.weights.record import Factor

COLUMNS = ("input", "prompt_length", "tokens", "steps", "states", "outcome", "output")
KEY = b"tapeformer"
"""The schema's metadata under this key is a JSON object: `factors`, `shard` and `dataset`."""


def pyarrow(part: str = "") -> Any:
    """Import pyarrow, or a part of it, or say which install brings it."""
    return require(f"pyarrow{part}", extra="data", what="a dataset in Parquet")


def schema_of(factors: Sequence[Factor], dtype: np.dtype[Any], about: dict[str, object]) -> Any:
    """Return the schema of a shard; `tokens` is a list of rows with one number per factor."""
    pa = pyarrow()
    texts = pa.list_(pa.string())
    number = pa.from_numpy_dtype(dtype)
    types = {
        "input": pa.string(),
        "prompt_length": pa.int32(),
        "tokens": pa.list_(pa.list_(number, len(factors))),
        "steps": pa.int64(),
        "states": texts,
        "outcome": pa.string(),
        "output": texts,
    }
    named = [{"name": f.name, "size": len(f.values), "values": list(f.values)} for f in factors]
    metadata = json.dumps({"factors": named, **about}, ensure_ascii=False)
    return pa.schema([(name, types[name]) for name in COLUMNS], {KEY: metadata.encode()})


def record_batch(schema: Any, traces: Sequence[Trace], inputs: list[str], states: Any) -> Any:
    """Return traces as a batch of rows; `states` are the names that state numbers stand for."""
    pa = pyarrow()
    width = schema.field("tokens").type.value_type.list_size
    flat = pa.array(np.concatenate([trace.tokens.ravel() for trace in traces]))
    rows = pa.FixedSizeListArray.from_arrays(flat, width)
    numbers = np.concatenate([trace.state_numbers for trace in traces]).astype(np.int32)
    names = pa.DictionaryArray.from_arrays(pa.array(numbers), pa.array(states)).cast(pa.string())
    columns = [
        pa.array(inputs, pa.string()),
        pa.array([trace.prompt_length for trace in traces], pa.int32()),
        pa.ListArray.from_arrays(_ends([len(trace.tokens) for trace in traces]), rows),
        pa.array([trace.steps for trace in traces], pa.int64()),
        pa.ListArray.from_arrays(_ends([trace.steps for trace in traces]), names),
        pa.array([trace.outcome for trace in traces], pa.string()),
        pa.array([list(trace.output) for trace in traces], pa.list_(pa.string())),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _ends(lengths: list[int]) -> Any:
    return pyarrow().array(np.cumsum([0, *lengths]), pyarrow().int32())


@dataclass(frozen=True)
class ShardInfo:
    """What the footer of a shard says: which dataset it belongs to, and how much it holds."""

    about: dict[str, Any]
    rows: int
    tokens: int


def about_shard(path: Path) -> ShardInfo:
    """Read the footer of a shard."""
    try:
        file = pyarrow(".parquet").ParquetFile(path)
        about = json.loads(file.schema_arrow.metadata[KEY])
        return ShardInfo(about, file.metadata.num_rows, _tokens(file.metadata, about))
    except (OSError, ValueError, KeyError, TypeError, pyarrow().ArrowException):
        raise TapeformerError(
            Fault(
                "this is not a shard of a dataset",
                SourceLocation(str(path)),
                remedy="remove it, or choose another folder",
            )
        ) from None


def _tokens(metadata: Any, about: dict[str, Any]) -> int:
    """Count tokens by the numbers that the column holds, one for each factor."""
    column = COLUMNS.index("tokens")
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    return int(sum(group.column(column).num_values for group in groups)) // len(about["factors"])


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a shard, one row group at a time; `tokens` is an array."""
    file = pyarrow(".parquet").ParquetFile(path)
    for number in range(file.num_row_groups):
        group = file.read_row_group(number)
        tokens = group.column("tokens").combine_chunks()
        rest = group.drop_columns(["tokens"]).to_pylist()
        for index, row in enumerate(rest):
            yield {**row, "tokens": _rows(tokens[index].values)}


def _rows(values: Any) -> NDArray[np.unsignedinteger]:
    flat: NDArray[np.unsignedinteger] = values.flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(len(values), -1)
