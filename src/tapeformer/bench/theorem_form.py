"""Theorem 1 in its own form: total CoT over t s^(1/k') against k', and what single steps cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tapeformer.bench.report import Row
from tapeformer.bench.theorem import Point, measure
from tapeformer.bench.workloads import WORKLOADS
from tapeformer.bundle.record import Bundle
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.faults import Fault, TapeformerError
from tapeformer.gallery import gallery_machine
from tapeformer.inference.generation import Generation
from tapeformer.inference.limits import Limits
from tapeformer.simulator.fast import simulate
from tapeformer.weights.count import count

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
    """Return the columns of the theorem, and what rounding the base up to an even number costs."""
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
SPEEDUPS = (1, 2, 3, 4, 6, 8)
SPEEDUP_STEPS = 2_400
"""A multiple of every M, so that the last token is as full as the others."""


def single_steps(model: Model, engine: str, workload: str = "zigzag", space: int = 64) -> Row:
    """Return the tokens that each single step took: how many steps took how many."""
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


def steps_per_token(speedups: Sequence[int] = SPEEDUPS) -> list[Row]:
    """Measure BB(5)'s first steps with M of them in each token, and what that costs in width."""
    return [_with_steps(steps) for steps in speedups]


def _with_steps(steps: int) -> Row:
    machine = gallery_machine("busy_beaver_5")
    options = CompileOptions("realtime", levels=6, base=2, steps_per_token=steps)
    bundle = compile_machine(machine, options)
    run, limits = Generation(bundle, (), "sparse"), Limits(max_steps=SPEEDUP_STEPS)
    for _ in run.pieces(limits):
        pass
    answer, counts = run.answer(0.0), count(bundle.weights)
    expected = simulate(machine, (), max_steps=answer.steps)
    if answer.tapes != expected.tapes:
        raise TapeformerError(Fault(f"{steps} steps per token: not the direct simulation's tape"))
    return {
        "M": steps,
        "steps": answer.steps,
        "tokens": answer.cot_tokens - answer.boot_tokens,
        "tokens per step": (answer.cot_tokens - answer.boot_tokens) / answer.steps,
        "neurons": counts.neurons,
        "ff depth": counts.ff_depth,
        "bits per token": token_bits(bundle),
        "d_model": counts.d_model,
    }


def token_bits(bundle: Bundle) -> int:
    """Return the bits of a token: of each factor, enough for its values."""
    return sum(max(1, (len(f.values) - 1).bit_length()) for f in bundle.weights.factors)
