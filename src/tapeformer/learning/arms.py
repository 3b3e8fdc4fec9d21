"""The arms of an experiment: each trains its models on a device and scores them on test traces."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tapeformer.learning.attention_model import AttentionModel
from tapeformer.learning.config import Arm, Training
from tapeformer.learning.evaluate import Score, evaluate
from tapeformer.learning.level_model import LevelModel
from tapeformer.learning.situations import BLOCKS, Reader
from tapeformer.learning.soft_model import SoftModel
from tapeformer.learning.tables import table
from tapeformer.learning.traces import DeviceTraces, TraceSet, on_device
from tapeformer.learning.train import BlockTrainer, cosine

Watch = Callable[[str], None]
SHARES = {"stack": 0.4, "clock": 0.1, "control": 0.5}
"""How the time of a training is shared out over the blocks."""
REACH = 512
"""How far heads whose look-back is learned can see."""
CONTEXT = 2048
"""Tokens before those that full attention is scored on."""


@dataclass(frozen=True, eq=False)
class Task:
    """What an arm is given: training traces, test traces by length, seeds, and how to train."""

    arm: Arm
    training: Training
    seeds: list[int]
    train: TraceSet
    tests: Mapping[int, TraceSet]
    device: torch.device
    watch: Watch


@dataclass
class Trained:
    """What an arm came to: for each length the score of each seed, and what else there is to say."""

    scores: dict[int, list[Score]]
    parameters: int
    seconds: float
    models: dict[str, Tensor] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)


def run_arm(task: Task) -> Trained:
    """Train and score an arm."""
    started = time.perf_counter()
    kinds = {"given": _given, "learned": _learned}
    found = kinds.get(task.arm.look_backs, _attention)(task)
    found.seconds = round(time.perf_counter() - started, 1)
    return found


def shortened(traces: TraceSet, longest: int | None) -> TraceSet:
    """Return the traces of words up to a length only."""
    if longest is None:
        return traces
    ends = np.append(traces.starts[1:], len(traces.tokens))
    kept = [i for i, letters in enumerate(traces.letters.tolist()) if letters <= longest]
    parts = [traces.tokens[traces.starts[i] : ends[i]] for i in kept]
    starts = np.cumsum([0, *(len(part) for part in parts[:-1])])
    return replace(
        traces,
        tokens=np.concatenate(parts),
        starts=starts,
        prompts=traces.prompts[kept],
        letters=traces.letters[kept],
    )


def _given(task: Task) -> Trained:
    """Train each block on the distinct situations of the traces."""
    arm, training = task.arm, task.training
    train = on_device(shortened(task.train, arm.train_up_to), task.device)
    hidden = arm.hidden or training.hidden
    model = LevelModel(train.fields, arm.tied, task.seeds, hidden, training.layers).to(task.device)
    blocks = ("control",) if arm.supervision == "control" else BLOCKS
    rows = {}
    for name in blocks:
        found = table(model, Reader(train.fields, name, task.device), train)
        rows[name] = len(found)
        trainer = BlockTrainer(model.block(name), found, training, task.seeds)
        seconds = None if training.seconds is None else training.seconds * SHARES[name]
        trainer.run(training.steps, seconds, _prefixed(task.watch, name))
    scores = {n: evaluate(model, on_device(t, task.device), blocks) for n, t in task.tests.items()}
    about = {"situations": rows, "train": [vars(score) for score in evaluate(model, train, blocks)]}
    return Trained(scores, model.parameter_count, 0.0, dict(model.state_dict()), about)


def _prefixed(watch: Watch, name: str) -> Watch:
    return lambda text: watch(f"{name}: {text}")


def _learned(task: Task) -> Trained:
    """Train blocks and heads together on runs of tokens; score heads at their likeliest distance."""
    train = on_device(shortened(task.train, task.arm.train_up_to), task.device)
    training, fields = task.training, train.fields
    blocks = LevelModel(fields, True, task.seeds, training.hidden, training.layers)
    model = SoftModel(blocks, fields, REACH).to(task.device)
    model.layout.to_device(fields, task.device)
    groups = [
        {"params": list(blocks.parameters()), "rate": training.learning_rate},
        {"params": [model.heads], "rate": 0.03, "weight_decay": 0.0},
    ]
    size = training.crop // 2
    generator = torch.Generator(task.device).manual_seed(task.seeds[0])

    def loss() -> Tensor:
        at, first = _runs(train, len(task.seeds), size, generator)
        return model.losses(train, at, first).sum()

    _optimise(model, groups, loss, task)
    scores: dict[int, list[Score]] = {}
    for length, traces in task.tests.items():
        there = on_device(traces, task.device)
        scores[length] = [
            evaluate(blocks, replace(there, fields=model.hardened(there.fields, number)))[number]
            for number in range(len(task.seeds))
        ]
    weights = model.heads.softmax(-1).amax(-1)
    about = {"distances": model.distances(), "weights": weights.tolist()}
    return Trained(scores, blocks.parameter_count, 0.0, dict(model.state_dict()), about)


def _runs(
    traces: DeviceTraces, count: int, size: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Draw runs of consecutive places, each within one context."""
    starts = torch.randint(
        0, len(traces.at) - size, (4 * count,), generator=generator, device=traces.at.device
    )
    whole = traces.first[starts] == traces.first[starts + size - 1]
    order = torch.argsort(whole.int(), descending=True, stable=True)[:count]
    rows = starts[order][:, None] + torch.arange(size, device=traces.at.device)
    return traces.at[rows], traces.first[rows]


def _attention(task: Task) -> Trained:
    """Train standard decoders on runs of tokens, one seed after the other."""
    scores: dict[int, list[Score]] = {length: [] for length in task.tests}
    train = on_device(shortened(task.train, task.arm.train_up_to), task.device)
    parameters = 0
    for seed in task.seeds:
        torch.manual_seed(seed)
        model = AttentionModel(train.fields, task.arm.look_backs, 256, 3).to(task.device)
        parameters = sum(p.numel() for p in model.parameters())
        generator = torch.Generator(task.device).manual_seed(seed)

        def loss(model: AttentionModel = model, generator: torch.Generator = generator) -> Tensor:
            at, _ = _runs(train, 16, task.training.crop, generator)
            return model.scores(train.tokens[at])[0].mean()

        groups = [{"params": list(model.parameters()), "rate": task.training.learning_rate}]
        _optimise(model, groups, loss, replace_seconds(task, len(task.seeds)))
        for length, traces in task.tests.items():
            scores[length].append(_attention_score(model, train, traces, task.device))
    return Trained(scores, parameters, 0.0)


def replace_seconds(task: Task, parts: int) -> Task:
    """Return the task with its share of the time, where the time is limited."""
    seconds = task.training.seconds
    if seconds is None:
        return task
    return replace(task, training=replace(task.training, seconds=seconds / parts))


def _optimise(
    model: nn.Module, groups: list[dict[str, Any]], loss: Callable[[], Tensor], task: Task
) -> None:
    """Run AdamW with a cosine schedule for the steps or seconds of a task."""
    training, started, step, done = task.training, time.perf_counter(), 0, 0.0
    optimiser = torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=training.weight_decay)
    cuda = task.device.type == "cuda"
    while done < 1:
        spent = time.perf_counter() - started
        done = max(step / training.steps, spent / training.seconds if training.seconds else 0.0)
        for group in optimiser.param_groups:
            group["lr"] = group["rate"] * cosine(step, min(done, 1.0))
        with torch.autocast(task.device.type, torch.bfloat16, enabled=cuda):
            found = loss()
        optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(found)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        if step % 500 == 0:
            task.watch(f"step {step:,}, loss {float(found.detach()):.2e}")
        step += 1


@torch.no_grad()
def _attention_score(
    model: AttentionModel, train: DeviceTraces, traces: TraceSet, device: torch.device
) -> Score:
    """Score every generated token, given up to `CONTEXT` tokens before it and those beside it."""
    there = on_device(traces, device)
    if len(there.fields.factors) != len(train.fields.factors):
        return Score(traces.predicted, traces.predicted, {}, (), 0)
    wrong = torch.zeros(len(there.tokens), dtype=torch.bool, device=device)
    ends = [*traces.starts[1:].tolist(), len(traces.tokens)]
    for start, end in zip(traces.starts.tolist(), ends, strict=True):
        for place in range(start + 1, end, CONTEXT):
            before = max(start, place - CONTEXT)
            stop = min(place + CONTEXT, end)
            right = model.scores(there.tokens[before:stop][None])[1][0]
            wrong[place:stop] = ~right[place - before - 1 :]
    every = wrong[there.at + 1]
    first = int(every.int().argmax()) if every.any() else None
    return Score(len(every), int(every.sum()), {}, (), first)
