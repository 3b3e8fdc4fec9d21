"""The arm that starts from compiled weights with noise: how wide is the basin around them?"""

from __future__ import annotations

import torch
from torch import Tensor

from tapeformer.compile.options import CompileOptions
from tapeformer.inference.model import find_model
from tapeformer.learning.arms import Task, Trained
from tapeformer.learning.blocks import parameter_count
from tapeformer.learning.compiled_model import CompiledModel, Expanded, SharedParameters, Step
from tapeformer.learning.config import Training
from tapeformer.learning.evaluate import Score, scores_of
from tapeformer.learning.optimise import optimise
from tapeformer.learning.spare_neurons import SpareNeurons, spare_for
from tapeformer.learning.traces import DeviceTraces

BATCH, SEARCHED, REFRESH = 512, 4096, 100
"""Places in a step for each seed, places searched for hard ones, steps between two searches."""
PLACES = {"cpu": 256, "cuda": 4096}
"""Places scored at a time."""
RATE = 3e-3
"""Learning rate of the compiled parameters; spare neurons have that of other arms."""


def compiled_arm(task: Task) -> Trained:
    """Add noise, score, train, and score again."""
    shared = SharedParameters()
    step = _step(task, shared, task.config.levels)
    spare = _spare(task, shared, step)
    model = CompiledModel(shared, task.seeds, task.arm.noise, spare).to(task.device)
    torch.set_float32_matmul_precision("high")
    shortest = min(task.near)
    before = _scores(task, model, shared, shortest)
    loss = _Loss(task.train, step, model, task.seeds)
    optimiser = _optimiser(model, task.training)
    clock = optimise([optimiser], loss, task.training, task.watch, low_precision=False)
    scores = {length: _scores(task, model, shared, length) for length in task.near}
    torch.set_float32_matmul_precision("highest")
    untrained = {shortest: [score.wrong for score in before]}
    about = {"noise": task.arm.noise, "wrong_before_training": untrained, **clock.record()}
    return Trained(
        scores, parameter_count(model, len(task.seeds)), 0.0, dict(model.state_dict()), about
    )


def _optimiser(model: CompiledModel, training: Training) -> torch.optim.Optimizer:
    """Return AdamW without decay: compiled weights are not small."""
    groups = [{"params": [model.values], "rate": RATE}]
    if model.spare is not None:
        own = list(model.spare.parameters())
        groups.append({"params": own, "rate": training.learning_rate})
    return torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.0)


def _spare(task: Task, shared: SharedParameters, step: Step) -> SpareNeurons | None:
    """Return the neurons that bring the model to the number of parameters of all arms."""
    if task.training.parameters is None:
        return None
    width = step.columns.width
    hidden = spare_for(width, task.training.parameters - len(shared.number))
    return SpareNeurons(width, hidden, task.seeds, task.arm.noise)


def _step(task: Task, shared: SharedParameters, levels: int) -> Step:
    bundle = find_model(task.config.machine, CompileOptions(levels=levels)).for_words(0)
    return Step(bundle, shared, task.device)


class _Loss:
    """The loss of each step: half of the places at random, half those of the highest loss."""

    def __init__(
        self, train: DeviceTraces, step: Step, model: CompiledModel, seeds: list[int]
    ) -> None:
        self.train, self.step, self.model = train, step, model
        device = train.at.device
        self.generators = [torch.Generator(device).manual_seed(seed) for seed in seeds]
        self.calls, self.hard = 0, torch.zeros(len(seeds), 0, dtype=torch.long, device=device)

    def __call__(self, _done: float) -> Tensor:
        if self.calls % REFRESH == 0:
            self._refresh()
        self.calls += 1
        half = BATCH // 2
        chosen = self._random(half)
        among = self._random(half, self.hard.shape[1])
        rows = torch.cat([chosen, self.hard.gather(1, among)], 1)
        return self._losses(rows).mean(1).sum()

    def _random(self, count: int, below: int | None = None) -> Tensor:
        device = self.train.at.device
        most = below or len(self.train.at)
        return torch.stack(
            [torch.randint(0, most, (count,), generator=g, device=device) for g in self.generators]
        )

    def _losses(self, rows: Tensor) -> Tensor:
        at, first = self.train.at[rows], self.train.first[rows]
        return self.step.scores(self.step.expanded(self.model), self.train.tokens, at, first)[0]

    @torch.no_grad()
    def _refresh(self) -> None:
        rows = self._random(SEARCHED)
        losses = torch.cat([self._losses(part) for part in torch.split(rows, BATCH, 1)], 1)
        self.hard = rows.gather(1, losses.topk(BATCH, 1).indices)


@torch.no_grad()
def _scores(task: Task, model: CompiledModel, shared: SharedParameters, length: int) -> list[Score]:
    """Score every seed at a length; entries that only a larger model has keep their values."""
    parts = list(task.test(length))
    step = _step(task, shared, parts[0].fields.levels)
    seeds, count = model.values.shape
    expanded = step.expanded(model, shared.values[count:])
    return scores_of(torch.cat([_wrong(step, expanded, part, seeds) for part in parts], 1))


def _wrong(step: Step, model: Expanded, part: DeviceTraces, seeds: int) -> Tensor:
    size = PLACES[part.at.device.type]
    found = [
        ~step.scores(model, part.tokens, at.expand(seeds, -1), first.expand(seeds, -1))[1]
        for at, first in zip(torch.split(part.at, size), torch.split(part.first, size), strict=True)
    ]
    return torch.cat(found, 1)
