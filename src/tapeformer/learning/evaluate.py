"""Whole-trace exactness: a trace whose every teacher-forced token is right is a free run that is right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from tapeformer.learning.coverage import coverage
from tapeformer.learning.level_model import LevelModel
from tapeformer.learning.situations import BLOCKS, Reader
from tapeformer.learning.tables import Table, chunks, situations, table
from tapeformer.learning.traces import DeviceTraces

ROWS = {"cpu": 1 << 12, "cuda": 1 << 16}


@dataclass(frozen=True)
class Score:
    """One model on one set of traces: tokens, how many are wrong, and which blocks and levels err.

    `first` is the first wrong token, counted from 0; None where all are right. `coverage` has for
    each block how many situations training has shown, and which of them err.
    """

    tokens: int
    wrong: int
    by_block: dict[str, int] = field(default_factory=dict)
    by_level: tuple[int, ...] = ()
    first: int | None = None
    coverage: dict[str, Any] = field(default_factory=dict)


Tables = Mapping[str, Table]
"""The situations of each block."""


@torch.no_grad()
def evaluate(
    model: LevelModel, every: Iterable[DeviceTraces], blocks: tuple[str, ...] = BLOCKS
) -> list[Score]:
    """Score every seed on traces, or parts of one; a token is wrong if any of its factors is."""
    errors = [error for traces in every for error in _all_errors(model, traces, blocks)]
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


def _all_errors(model: LevelModel, traces: DeviceTraces, blocks: tuple[str, ...]) -> list[_Errors]:
    readers = [Reader(traces.fields, name, traces.tokens.device) for name in blocks]
    return [_errors(model, readers, traces, places) for places in chunks(traces)]


def _errors(
    model: LevelModel, readers: list[Reader], traces: DeviceTraces, places: slice
) -> _Errors:
    levels = torch.zeros(len(model.seeds), traces.fields.levels + 1, device=traces.tokens.device)
    wrong = []
    for reader in readers:
        found = situations(reader, model.copies_of(reader.block), traces, places)
        rows = Table(found.inputs, found.outputs, found.copies, found.times)
        bad = ~right(model, reader.block, rows)[:, found.inverse]
        levels.index_add_(1, reader.levels, bad.sum(-1).float())
        wrong.append(bad.any(1))
    return _Errors(torch.stack(wrong), levels.long())


@torch.no_grad()
def right(model: LevelModel, block: str, found: Table) -> Tensor:
    """Return whether each seed says each situation's outputs exactly (seeds, rows)."""
    answers = torch.zeros(len(model.seeds), len(found.inputs), dtype=torch.bool)
    answers = answers.to(found.inputs.device)
    for copy in range(model.block(block).copies):
        rows = (found.copies == copy).nonzero()[:, 0]
        for part in torch.split(rows, ROWS[rows.device.type]):
            scored = model.block(block).scores(found.inputs[part], found.outputs[part], copy)
            answers[:, part] = scored[1]
    return answers


def tables_of(
    model: LevelModel, every: list[DeviceTraces], blocks: tuple[str, ...]
) -> dict[str, Table]:
    """Collect the situations of test traces, for each block."""
    fields, device = every[0].fields, every[0].tokens.device
    return {
        name: table(Reader(fields, name, device), model.copies_of(name), every) for name in blocks
    }


def coverages(
    model: LevelModel, trained: Tables, tested: Tables, names: Mapping[str, list[str]]
) -> list[dict[str, Any]]:
    """Say for each seed and block what was new in a test, and what errors have in common."""
    found: list[dict[str, Any]] = [{} for _ in model.seeds]
    for block, rows in tested.items():
        answers = right(model, block, rows)
        for seed, own in enumerate(found):
            own[block] = coverage(trained[block], rows, answers[seed], names[block])
    return found


def evaluate_tables(model: LevelModel, tested: Tables, tokens: int) -> list[Score]:
    """Score every seed on a trace of which only the situations are kept.

    Zero is exact; otherwise `wrong` counts errors of blocks, at most one for each token.
    """
    totals = torch.zeros(len(model.seeds), len(tested), dtype=torch.long)
    for number, (block, rows) in enumerate(tested.items()):
        served = rows.served(model.copies_of(block))
        totals[:, number] = (~right(model, block, served) * rows.times).sum(1).cpu()
    return [
        Score(tokens, min(tokens, int(own.sum())), dict(zip(tested, own.tolist(), strict=True)))
        for own in totals
    ]
