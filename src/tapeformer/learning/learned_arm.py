"""The arm that learns its look-backs: first heads and blocks together, then the blocks alone.

Heads are soft at first: a softmax over distances on each level. Then each head is taken at its
likeliest distance and blocks are trained as with given look-backs. Levels that training never uses
find nothing; if those that found theirs follow a linear law, it is continued to the others.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from tapeformer.learning.arms import Task, Trained
from tapeformer.learning.checkpoint import Checkpoint
from tapeformer.learning.config import Training
from tapeformer.learning.evaluate import Score, evaluate
from tapeformer.learning.given_arm import level_model, trained_blocks
from tapeformer.learning.optimise import Clock, RowAdam, adam, optimise, runs
from tapeformer.learning.soft_model import SoftModel, with_look_backs
from tapeformer.learning.traces import DeviceTraces

REACH = 128
"""How far heads whose look-back is learned can see."""
HEAD_RATE = 0.1
SOFT = 0.5
"""The share of the training in which heads are soft."""
RUNS, RUN, REFRESH = 32, 16, 50
"""Runs of tokens in a step, tokens in a run, steps between two searches for hard runs."""
SURE = 0.5
"""The weight from which on a distance counts as found."""


def learned_arm(task: Task) -> Trained:
    """Find distances, then train blocks with them, seeds that have found the same side by side."""
    near = task.arm.prior == "near"
    model = SoftModel(level_model(task), task.train.fields, REACH, near).to(task.device)
    model.layout.to_device(task.train.fields, task.device)
    clock = _soft(task, model)
    weights = model.heads.detach().softmax(-1).amax(-1).tolist()
    levels = max([task.config.levels, *map(task.config.levels_for, task.near)])
    found = [
        continued([d if w >= SURE else None for d, w in zip(*own, strict=True)], own[0], levels)
        for own in zip(model.distances(), weights, strict=True)
    ]
    scores: dict[int, list[Score]] = {n: [Score(0, 0)] * len(found) for n in task.near}
    for same in {tuple(distances) for distances in found}:
        members = [number for number, own in enumerate(found) if tuple(own) == same]
        for length, own in _hard(task, list(same), members, len(found)).items():
            for number, score in zip(members, own, strict=True):
                scores[length][number] = score
    about = {"distances": model.distances(), "weights": weights, "used": found}
    return Trained(scores, model.model.parameter_count, 0.0, {}, {**about, **clock.record()})


def continued(found: list[int | None], likeliest: list[int], levels: int) -> list[int]:
    """Return a distance for each level: found ones, or those of a law that the first of them follow.

    The law is d' = a d + b, taken from the first three levels and held by the fourth.
    """
    likeliest = [*likeliest, *[0] * levels][:levels]
    if len(found) < 4 or None in found[:4]:
        return likeliest
    first, second, third, fourth = likeliest[:4]
    ratio, rest = divmod(third - second, second - first) if second != first else (0, 1)
    shift = third - ratio * second
    if rest or ratio < 1 or fourth != ratio * third + shift:
        return likeliest
    distances = [first]
    while len(distances) < levels:
        distances.append(ratio * distances[-1] + shift)
    return distances


def _soft(task: Task, model: SoftModel) -> Clock:
    """Train heads and blocks together; half of the runs are those of the highest loss."""
    loss = _SoftLoss(task.train, model, task.seeds)
    optimisers = [adam(model.model, task.training), RowAdam([model.heads], HEAD_RATE)]
    return optimise(optimisers, loss, part_of(task.training, SOFT), task.tell("heads"))


def part_of(training: Training, share: float, seeds: float = 1.0) -> Training:
    """Return a share of a training, for a share of its seeds: as many steps, in less time."""
    seconds = None if training.seconds is None else training.seconds * share * seeds
    return replace(training, steps=max(1, round(training.steps * share)), seconds=seconds)


class _SoftLoss:
    """The loss of each step, on runs drawn at random and on hard ones."""

    def __init__(self, train: DeviceTraces, model: SoftModel, seeds: list[int]) -> None:
        self.train, self.model, self.calls = train, model, 0
        device = train.at.device
        self.generators = [torch.Generator(device).manual_seed(seed) for seed in seeds]
        self.hard = self._drawn(RUNS // 2)

    def __call__(self, _done: float) -> Tensor:
        self.calls += 1
        if self.calls % REFRESH == 0:
            self.hard = self._searched()
        drawn = self._drawn(RUNS - RUNS // 2)
        at, first = (torch.cat(pair, 1) for pair in zip(drawn, self.hard, strict=True))
        return self.model.losses(self.train, at, first).mean(1).sum()

    def _drawn(self, count: int) -> tuple[Tensor, Tensor]:
        return runs(self.train, count, RUN, self.generators)

    @torch.no_grad()
    def _searched(self) -> tuple[Tensor, Tensor]:
        """Return the runs of the highest loss among some."""
        every = [self._drawn(RUNS) for _ in range(8)]
        losses = torch.cat([self.model.losses(self.train, *drawn) for drawn in every], 1)
        top = losses.topk(RUNS // 2, 1).indices
        top = top[..., None].expand(-1, -1, RUN)
        at, first = (torch.cat(part, 1).gather(1, top) for part in zip(*every, strict=True))
        return at, first


def _hard(
    task: Task, distances: list[int], members: list[int], everyone: int
) -> dict[int, list[Score]]:
    """Train the blocks of some seeds with fixed distances, in their share of the time."""

    def read(traces: DeviceTraces) -> DeviceTraces:
        return replace(traces, fields=with_look_backs(traces.fields, distances))

    training = part_of(task.training, 1 - SOFT, len(members) / everyone)
    seeds = [task.seeds[number] for number in members]
    own = replace(task, seeds=seeds, given=training, checkpoint=Checkpoint())
    model = level_model(own).to(task.device)
    trained_blocks(own, model, [read(task.train)])
    return {n: evaluate(model, [read(part) for part in task.test(n)]) for n in task.near}
