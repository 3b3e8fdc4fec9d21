"""The arm with given look-backs: each block is trained on the distinct situations of the traces."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

import torch
from torch import Tensor

from tapeformer.learning.arms import Task, Trained
from tapeformer.learning.config import Arm
from tapeformer.learning.evaluate import Score, evaluate, evaluate_tables
from tapeformer.learning.far import load_far
from tapeformer.learning.level_model import LevelModel, hidden_for
from tapeformer.learning.situations import BLOCKS
from tapeformer.learning.tables import Table, collected
from tapeformer.learning.traces import DeviceTraces
from tapeformer.learning.train import BlockTrainer, Progress

SHARES = {"stack": 0.4, "clock": 0.25, "control": 0.35}
"""How the time of a training is shared out over the blocks."""


def given_arm(task: Task) -> Trained:
    """Train block after block, then score every seed at every length."""
    model = level_model(task).to(task.device)
    blocks = supervised(task.arm)
    tables, made = trained_blocks(task, model, task.level_traces, blocks)
    about = {
        "situations": {name: len(rows) for name, rows in tables.items()},
        "steps": {name: progress.step for name, progress in made.items()},
        "training_seconds": round(sum(progress.seconds for progress in made.values()), 1),
        "train": [asdict(score) for score in evaluate(model, [task.train], blocks)],
    }
    near = {n: evaluate(model, list(task.test(n)), blocks, tables) for n in task.near}
    scores = near | _far_scores(task, model)
    return Trained(scores, model.parameter_count, 0.0, dict(model.state_dict()), about)


def scored_again(task: Task, weights: list[dict[str, Tensor]]) -> dict[int, list[Score]]:
    """Score models that were trained before at further lengths."""
    model = level_model(task)
    model.load_state_dict({name: torch.cat([w[name] for w in weights]) for name in weights[0]})
    model.to(task.device)
    near = {n: evaluate(model, list(task.test(n)), supervised(task.arm)) for n in task.near}
    return near | _far_scores(task, model)


def supervised(arm: Arm) -> tuple[str, ...]:
    """Return the blocks that an arm trains and is scored on."""
    return ("control",) if arm.supervision == "control" else BLOCKS


def _far_scores(task: Task, model: LevelModel) -> dict[int, list[Score]]:
    """Score every seed at lengths of which only the situations are kept."""
    scores = {}
    for length in task.far:
        kept, tokens = load_far(task.data, length, task.device)
        own = {name: kept[name] for name in supervised(task.arm)}
        scores[length] = evaluate_tables(model, own, tokens)
    return scores


def level_model(task: Task) -> LevelModel:
    """Return a model that has not been trained, as wide as the arm asks for."""
    arm, training, fields = task.arm, task.training, task.train.fields
    hidden = arm.hidden or training.hidden
    if training.parameters is not None and arm.hidden is None:
        hidden = hidden_for(fields, arm.tied, training.layers, training.parameters)
    return LevelModel(fields, arm.tied, task.seeds, hidden, training.layers)


def trained_blocks(
    task: Task,
    model: LevelModel,
    traces: list[DeviceTraces],
    blocks: tuple[str, ...] = BLOCKS,
) -> tuple[dict[str, Table], dict[str, Progress]]:
    """Train every block on its situations; return these, and how far the training came.

    The first of the traces are those of the machine: the control sees no others. Weights are
    rounded to 16 bits at the end, so what is scored is what is saved.
    """
    found = collected(traces[:1], model.copies_of, {*blocks} & {"control"})
    found |= collected(traces, model.copies_of, {*blocks} - {"control"})
    tables = {name: found[name].table for name in blocks}
    made = {name: _trained_block(task, model, name, rows) for name, rows in tables.items()}
    model.half().float()
    task.checkpoint.remove()
    return tables, made


def _trained_block(task: Task, model: LevelModel, name: str, rows: Table) -> Progress:
    """Train a block, from where a training that was stopped has left it."""
    training, checkpoint = task.training, task.checkpoint
    seconds = None if training.seconds is None else training.seconds * SHARES[name]
    trainer = BlockTrainer(model.block(name), rows, training, task.seeds)
    kept = checkpoint.load(name)
    if kept is not None:
        trainer.resume(kept)
    if kept is None or not kept.get("done"):
        trainer.run(training.steps, seconds, task.tell(name), partial(checkpoint.save, name))
        checkpoint.save(name, {**trainer.state(), "done": True})
    return trainer.progress
