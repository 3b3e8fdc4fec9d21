"""Whole-trace exactness: a trace whose every teacher-forced token is right is a free run that is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from tapeformer.learning.coverage import coverage
from tapeformer.learning.keys import GroupKeys
from tapeformer.learning.level_model import LevelModel
from tapeformer.learning.situations import BLOCKS
from tapeformer.learning.tables import Collector, Table, collected
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


def scores_of(wrong: Tensor) -> list[Score]:
    """Return the score of each seed, from which of its tokens are wrong (seeds, n)."""
    return [
        Score(len(row), int(row.sum()), first=int(row.int().argmax()) if row.any() else None)
        for row in wrong
    ]


Tables = Mapping[str, Table]
"""The situations of each block."""


@torch.no_grad()
def evaluate(
    model: LevelModel,
    every: Sequence[DeviceTraces],
    blocks: tuple[str, ...] = BLOCKS,
    trained: Tables | None = None,
) -> list[Score]:
    """Score every seed on traces, or parts of one; a token is wrong if any of its factors is.

    Each distinct situation is asked once. With those of training, a score says what was new.
    """
    tested = collected(every, model.copies_of, blocks)
    answers = {name: right(model, name, found.table) for name, found in tested.items()}
    errors = [_errors(GroupKeys(traces), tested, answers) for traces in every]
    per_block = torch.cat([error.by_block for error in errors], -1)
    by_level = torch.stack([error.by_level for error in errors]).sum(0)
    seeds = range(len(model.seeds))
    scores = [_score(per_block[:, seed], by_level[seed], blocks) for seed in seeds]
    if trained is None:
        return scores
    return [
        replace(scores[seed], coverage=_coverage(trained, tested, answers, seed)) for seed in seeds
    ]


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
    groups: GroupKeys, tested: Mapping[str, Collector], answers: Mapping[str, Tensor]
) -> _Errors:
    traces = groups.traces
    seeds, device = len(next(iter(answers.values()))), traces.tokens.device
    levels = torch.zeros(seeds, traces.fields.levels + 1, dtype=torch.long, device=device)
    wrong = torch.zeros(len(tested), seeds, len(traces.at), dtype=torch.bool, device=device)
    for (name, found), own in zip(tested.items(), wrong, strict=True):
        if answers[name].all():
            continue
        for number, view in enumerate(found.reader.views):
            bad = ~answers[name][:, found.row_numbers(number, groups)]
            levels[:, view.level] += bad.sum(-1)
            own |= bad
    return _Errors(wrong, levels)


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


def _coverage(
    trained: Tables, tested: Mapping[str, Collector], answers: Mapping[str, Tensor], seed: int
) -> dict[str, Any]:
    """Say for each block what was new in a test, and what errors have in common."""
    return {
        name: coverage(trained[name], found.table, answers[name][seed], found.reader.input_names)
        for name, found in tested.items()
    }


def evaluate_tables(model: LevelModel, tested: Tables, tokens: int) -> list[Score]:
    """Score every seed on a trace of which only the situations are kept.

    Zero is exact; otherwise `wrong` counts errors of blocks, at most one for each token.
    """
    totals = torch.zeros(len(model.seeds), len(tested), dtype=torch.long)
    for number, (block, every) in enumerate(tested.items()):
        rows = every.served(model.copies_of(block))
        totals[:, number] = (~right(model, block, rows) * rows.times).sum(1).cpu()
    return [
        Score(tokens, min(tokens, int(own.sum())), dict(zip(tested, own.tolist(), strict=True)))
        for own in totals
    ]
