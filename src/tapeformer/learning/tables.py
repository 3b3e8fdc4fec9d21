"""Training data of a block: every distinct situation of the training traces, once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from tapeformer.learning.level_model import LevelModel
from tapeformer.learning.situations import Reader, distinct, row_hash
from tapeformer.learning.traces import DeviceTraces

PLACES = {"cpu": 1 << 12, "cuda": 1 << 15}
"""Tokens whose situations are read at a time."""


@dataclass(frozen=True, eq=False)
class Situations:
    """Rows of a block at some tokens, equal ones once; `inverse` (views, n) says which is where."""

    inputs: Tensor
    outputs: Tensor
    copies: Tensor
    inverse: Tensor


def situations(
    model: LevelModel, reader: Reader, traces: DeviceTraces, places: slice
) -> Situations:
    """Read the distinct situations of a block at some tokens."""
    inputs, outputs = reader.rows(traces.tokens, traces.at[places], traces.first[places])
    shape = inputs.shape[:2]
    copies = model.copy_of(reader.block, reader.levels)[:, None].expand(shape).flatten()
    inputs, outputs = inputs.flatten(0, 1), outputs.flatten(0, 1)
    kept, inverse = distinct(_keys(inputs, outputs, copies))
    return Situations(inputs[kept], outputs[kept], copies[kept], inverse.view(shape))


def _keys(inputs: Tensor, outputs: Tensor, copies: Tensor) -> Tensor:
    return row_hash(inputs, 1) + row_hash(outputs, 2) * 3 + (copies + 1) * 0x5DEECE66D


def chunks(traces: DeviceTraces) -> Iterator[slice]:
    """Yield all tokens to predict, some at a time."""
    size = PLACES[traces.tokens.device.type]
    for start in range(0, len(traces.at), size):
        yield slice(start, start + size)


@dataclass(frozen=True, eq=False)
class Table:
    """The distinct situations of all traces, sorted by copy; each copy's rows start at `starts`."""

    inputs: Tensor
    outputs: Tensor
    starts: Tensor
    counts: Tensor

    def __len__(self) -> int:
        return len(self.inputs)


def table(model: LevelModel, reader: Reader, traces: DeviceTraces) -> Table:
    """Collect the distinct situations of a block."""
    parts = [situations(model, reader, traces, places) for places in chunks(traces)]
    inputs, outputs, copies = (
        torch.cat([getattr(part, name) for part in parts])
        for name in ("inputs", "outputs", "copies")
    )
    kept, _ = distinct(_keys(inputs, outputs, copies))
    kept = kept[copies[kept].argsort(stable=True)]
    counts = torch.bincount(copies[kept], minlength=model.block(reader.block).copies)
    return Table(inputs[kept], outputs[kept], counts.cumsum(0) - counts, counts)
