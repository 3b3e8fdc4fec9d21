"""The arms with full attention: standard decoders trained on runs of tokens."""

from __future__ import annotations

import torch
from torch import Tensor

from tapeformer.learning.arms import Task, Trained
from tapeformer.learning.attention_model import AttentionModel, width_for
from tapeformer.learning.blocks import parameter_count
from tapeformer.learning.evaluate import Score, scores_of
from tapeformer.learning.optimise import adam, arithmetic, optimise, runs
from tapeformer.learning.traces import DeviceTraces

CONTEXT = 2048
"""Tokens before those that full attention is scored on."""
BATCH = 16
"""Runs of tokens in a step, for each seed."""


def attention_arm(task: Task) -> Trained:
    """Train all seeds side by side; score them at every length whose traces are kept."""
    train, training = task.train, task.training
    width = task.arm.hidden or 256
    if training.parameters is not None and task.arm.hidden is None:
        width = width_for(train.fields, training.layers, training.parameters)
    model = AttentionModel(
        train.fields, task.arm.look_backs, width, training.layers, task.seeds
    ).to(task.device)
    generators = [torch.Generator(task.device).manual_seed(seed) for seed in task.seeds]

    def loss(_done: float) -> Tensor:
        at, _ = runs(train, BATCH, training.crop, generators)
        return model.scores(train.tokens[at])[0].mean((1, 2)).sum()

    clock = optimise([adam(model, training)], loss, training, task.watch)
    scores = {length: _scores(task, model, length) for length in task.near}
    parameters = parameter_count(model, len(task.seeds))
    return Trained(scores, parameters, 0.0, {}, {**clock.record(), "width": width})


def _scores(task: Task, model: AttentionModel, length: int) -> list[Score]:
    """Score every seed; tokens with other factors than those of training cannot be said."""
    parts = list(task.test(length))
    if len(parts[0].fields.factors) != len(task.train.fields.factors):
        tokens = sum(len(part.at) for part in parts)
        return [Score(tokens, tokens, first=0) for _ in task.seeds]
    return scores_of(torch.cat([_wrong(model, part, len(task.seeds)) for part in parts], 1))


@torch.no_grad()
def _wrong(model: AttentionModel, part: DeviceTraces, seeds: int) -> Tensor:
    """Return whether each seed errs at each generated token, given up to `CONTEXT` tokens before."""
    wrong = torch.zeros(seeds, len(part.tokens), dtype=torch.bool, device=part.tokens.device)
    for start in torch.unique(part.first).tolist():
        end = int(part.at[part.first == start].max()) + 2
        for place in range(start + 1, end, CONTEXT):
            before, stop = max(start, place - CONTEXT), min(place + CONTEXT, end)
            tokens = part.tokens[before:stop].expand(seeds, 1, -1, -1)
            with arithmetic(tokens.device):
                right = model.scores(tokens)[1][:, 0]
            wrong[:, place:stop] = ~right[:, place - before - 1 :]
    return wrong[:, part.at + 1]
