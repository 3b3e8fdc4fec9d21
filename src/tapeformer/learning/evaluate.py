"""Whole-trace exactness: a trace whose every teacher-forced token is right is a free run that is right."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tapeformer.learning.level_model import LevelModel
from tapeformer.learning.situations import BLOCKS, Reader
from tapeformer.learning.tables import Situations, chunks, situations
from tapeformer.learning.traces import DeviceTraces

ROWS = {"cpu": 1 << 12, "cuda": 1 << 16}


@dataclass(frozen=True)
class Score:
    """One model on one set of traces: tokens, how many are wrong, and which blocks and levels err.

    `first` is the first wrong token, counted from 0; None where all are right.
    """

    tokens: int
    wrong: int
    by_block: dict[str, int]
    by_level: tuple[int, ...]
    first: int | None


@torch.no_grad()
def evaluate(
    model: LevelModel, traces: DeviceTraces, blocks: tuple[str, ...] = BLOCKS
) -> list[Score]:
    """Score every seed on traces; a token is wrong if any of its factors is."""
    readers = [Reader(traces.fields, name, traces.tokens.device) for name in blocks]
    errors = [_errors(model, readers, traces, places) for places in chunks(traces)]
    per_block = torch.cat([error.by_block for error in errors], -1)
    by_level = torch.stack([error.by_level for error in errors]).sum(0)
    return [_score(per_block[:, seed], by_level[seed], blocks) for seed in range(len(model.seeds))]


def _score(wrong: Tensor, by_level: Tensor, blocks: tuple[str, ...]) -> Score:
    every = wrong.any(0)
    return Score(
        tokens=len(every),
        wrong=int(every.sum()),
        by_block={name: int(row.sum()) for name, row in zip(blocks, wrong, strict=True)},
        by_level=tuple(by_level.tolist()),
        first=int(every.int().argmax()) if every.any() else None,
    )


@dataclass(frozen=True, eq=False)
class _Errors:
    """Which tokens each block gets wrong (blocks, seeds, n), and how often each level errs."""

    by_block: Tensor
    by_level: Tensor


def _errors(
    model: LevelModel, readers: list[Reader], traces: DeviceTraces, places: slice
) -> _Errors:
    levels = torch.zeros(len(model.seeds), traces.fields.levels + 1, device=traces.tokens.device)
    wrong = []
    for reader in readers:
        found = situations(model, reader, traces, places)
        bad = ~_right(model, reader.block, found)[:, found.inverse]
        levels.index_add_(1, reader.levels, bad.sum(-1).float())
        wrong.append(bad.any(1))
    return _Errors(torch.stack(wrong), levels.long())


def _right(model: LevelModel, block: str, found: Situations) -> Tensor:
    """Return whether each seed says each distinct situation's outputs exactly (seeds, rows)."""
    right = torch.zeros(len(model.seeds), len(found.inputs), dtype=torch.bool)
    right = right.to(found.inputs.device)
    for copy in range(model.block(block).copies):
        rows = (found.copies == copy).nonzero()[:, 0]
        for part in torch.split(rows, ROWS[rows.device.type]):
            scored = model.block(block).scores(found.inputs[part], found.outputs[part], copy)
            right[:, part] = scored[1]
    return right
