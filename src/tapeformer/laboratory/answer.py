"""Running a row: its model generates, its tokens are read as steps, and the steps as an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from tapeformer.laboratory.arithmetic import Arithmetic, arithmetic
from tapeformer.laboratory.experiment import Experiment, Shape, Wrong
from tapeformer.laboratory.preparation import STOP, StepMade, Symbols
from tapeformer.laboratory.row import Row, Task
from tapeformer.machine.record import TuringMachine
from tapeformer.simulator.result import Outcome, Tape, trimmed, verdict

MOST_STEPS = 1000
"""Steps of a run whose user gave no limit: a token costs time in proportion to its context."""


@dataclass(frozen=True)
class RowAnswer:
    """What a row's chain of thought came to; `wrong` is its first difference from the simulation."""

    row: Row
    machine: TuringMachine
    precision: str
    outcome: Outcome
    state: str
    steps: int
    tapes: tuple[Tape, ...]
    tokens: int
    seconds: float
    shape: Shape
    wrong: Wrong | None


def run_row(
    row: Row,
    machine: TuringMachine,
    word: Symbols,
    precision: str | int | None = None,
    max_steps: int = MOST_STEPS,
) -> RowAnswer:
    """Generate the chain of thought of a word by a row's model and decode the answer.

    The model alone decides every token. Afterwards the stream is compared with that of the direct
    simulation, so that a run that went wrong says where and why.
    """
    task = row.task(machine, word, min(max_steps, MOST_STEPS))
    experiment = row.experiment(task)
    numbers = experiment.reference() if precision is None else arithmetic(precision)
    started = perf_counter()
    steps = experiment.generate(numbers, task.prefix + task.steps + 1)
    seconds = perf_counter() - started
    wrong = experiment.first_wrong(numbers)
    return _answer(task, row, experiment, numbers, steps, seconds, wrong)


def verify_row(
    row: Row, machine: TuringMachine, word: Symbols, precision: str | None, max_steps: int
) -> tuple[int, Wrong | None]:
    """Compare every token of a row with the direct simulation: the steps, and the first difference."""
    task = row.task(machine, word, max_steps)
    experiment = row.experiment(task)
    numbers = experiment.reference() if precision is None else arithmetic(precision)
    wrong = experiment.first_wrong(numbers)
    return len(task.trace.steps) - task.prefix - task.trace.stopped, wrong


def _answer(
    task: Task,
    row: Row,
    experiment: Experiment,
    numbers: Arithmetic,
    made: Sequence[StepMade],
    seconds: float,
    wrong: Wrong | None,
) -> RowAnswer:
    stopped = bool(made) and made[-1][0] == STOP
    applied = made[:-1] if stopped else made[: task.prefix + task.steps]
    state = applied[-1][0] if applied else task.machine.start
    own = len(applied) - task.prefix
    return RowAnswer(
        row=row,
        machine=task.source,
        precision=numbers.name,
        outcome=verdict(task.source, state) if stopped else Outcome.LIMIT,
        state=state if own > 0 else task.source.start,
        steps=max(0, own),
        tapes=decoded(task, applied),
        tokens=len(made),
        seconds=seconds,
        shape=experiment.shape(),
        wrong=wrong,
    )


def decoded(task: Task, steps: Sequence[StepMade]) -> tuple[Tape, ...]:
    """Return the tapes after some steps, from what they wrote and how they moved."""
    blank = task.source.blank
    cells: list[dict[int, str]] = [{} for _ in range(task.machine.tapes)]
    cells[0] = dict(enumerate(task.word))
    heads = [0] * task.machine.tapes
    heads[0] = task.prepared.head(len(task.word))
    for _, written, moves in steps:
        for t, symbol in enumerate(task.prepared.symbols(written)):
            cells[t][heads[t]] = symbol
            heads[t] += moves[t]
    return tuple(_tape(tape, head, blank) for tape, head in zip(cells, heads, strict=True))


def _tape(cells: dict[int, str], head: int, blank: str) -> Tape:
    if not cells:
        return Tape((), 0)
    first, last = min(cells), max(cells)
    return trimmed([cells.get(at, blank) for at in range(first, last + 1)], first, head, blank)
