"""Theorem 1 in its own form: total CoT over t s^(1/k') against k', and what single steps cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tapeformer.bench.report import Row
from tapeformer.bench.theorem import Point, measure
from tapeformer.bench.workloads import WORKLOADS
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.inference.generation import Generation, Limits

LEVELS = range(1, 11)
SPACE = 256
FORM = "CoT over t s^(1/k')"

Tell = Callable[[Point], None]


def against_levels(engine: str, space: int, tell: Tell) -> list[Row]:
    """Measure one workload at every number of levels; the least total is marked as the best."""
    rows = []
    for levels in LEVELS:
        point = Point("fill_and_drain", "paper", levels, space)
        tell(point)
        rows.append(_in_form(measure(point, engine)))
    best = min(rows, key=lambda row: row["CoT over t"])
    return [{**row, "best": row is best} for row in rows]


def _in_form(row: Row) -> Row:
    """The columns of the theorem, and what rounding the base up to an even number costs."""
    root = row["s"] ** (1 / row["levels"])
    return {
        "k'": row["levels"],
        "s": row["s"],
        "s^(1/k')": root,
        "base": row["base"],
        "steps": row["steps"],
        "tokens per step": row["tokens per step"],
        "CoT over t": row["CoT over t"],
        FORM: row["CoT over t"] / root,
        "boot tokens": row["boot tokens"],
        "window over s": row["window over s"],
        "base over s^(1/k')": row["base"] / root,
        "base^k' over s": row["base"] ** row["levels"] / row["s"],
    }


@dataclass(frozen=True)
class Model:
    """A model whose single steps are counted."""

    construction: str
    levels: int
    base: int

    def __str__(self) -> str:
        return f"{self.construction}, base {self.base}, k' = {self.levels}"


MODELS = (
    Model("paper", 1, 68),
    Model("paper", 2, 10),
    Model("paper", 3, 6),
    Model("realtime", 5, 4),
    Model("realtime", 3, 10),
    Model("realtime", 8, 2),
)
STEPS = 1_500


def single_steps(model: Model, engine: str, workload: str = "zigzag", space: int = 64) -> Row:
    """The tokens that each single step took: how many steps took how many."""
    work = WORKLOADS[workload]
    options = CompileOptions(model.construction, levels=model.levels, base=model.base)
    run = Generation(compile_machine(work.machine, options), work.word(space), engine)
    limits, stepped = Limits(max_steps=STEPS), []
    for rows in run.pieces(limits):
        stepped.append(rows[:, run.reader.stepped] == run.reader.step_mark)
    places = np.flatnonzero(np.concatenate(stepped))
    costs = Counter(np.diff(places).tolist())
    total, steps = sum(cost * n for cost, n in costs.items()), sum(costs.values())
    return {
        "model": str(model),
        "steps": steps,
        "mean": total / steps,
        "median": float(np.median(list(costs.elements()))),
        "most": max(costs),
        "costs": dict(sorted(costs.items())),
    }


def histograms(engine: str, models: Sequence[Model] = MODELS) -> list[Row]:
    """What single steps cost in each model, on one machine and input."""
    return [single_steps(model, engine) for model in models]
