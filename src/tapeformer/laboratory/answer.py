"""Running a row: its model generates, its tokens are read as steps, and the steps as an answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

from tapeformer.faults import counted
from tapeformer.laboratory.arithmetic import arithmetic
from tapeformer.laboratory.experiment import Experiment, Generated, Shape, Wrong
from tapeformer.laboratory.measure import own_steps
from tapeformer.laboratory.preparation import STOP, StepMade, Symbols
from tapeformer.laboratory.row import Row, Task
from tapeformer.laboratory.transformer import Token
from tapeformer.machine.record import TuringMachine
from tapeformer.simulator.outcome import Outcome, Tape
from tapeformer.simulator.result import trimmed, verdict

DEFAULT_STEPS = 1000
"""Steps of a run whose user gave no limit: a token costs time in proportion to its context."""

See = Callable[["RowRun", Sequence[Token]], bool]
"""Told all tokens so far after each of them; returns False to end the run."""


@dataclass(frozen=True)
class RowAnswer:
    """What a row's chain of thought came to; `wrong` is its first difference from the simulation.

    `note` says why a run ended before the machine did, where its user did not ask for that.
    """

    row: Row
    machine: TuringMachine
    precision: str
    outcome: Outcome
    state: str
    steps: int
    tapes: tuple[Tape, ...]
    made: Generated
    boot: int
    seconds: float
    shape: Shape
    wrong: Wrong | None
    note: str = ""


class RowRun:
    """A row on a machine and a word, in one arithmetic."""

    def __init__(
        self,
        row: Row,
        machine: TuringMachine,
        word: Symbols,
        precision: str | int | None = None,
        max_steps: int | None = None,
    ) -> None:
        self.row, self.max_steps = row, max_steps
        asked = DEFAULT_STEPS if max_steps is None else max_steps
        context = None if max_steps is None else row.long_context
        self.task: Task = row.task(machine, word, asked, context)
        self.experiment: Experiment = row.experiment(self.task)
        self.numbers = self.experiment.reference() if precision is None else arithmetic(precision)

    @property
    def steps(self) -> int:
        """The machine's own steps that are compared."""
        return own_steps(self.task)

    def compared(self) -> Wrong | None:
        """Return the first token that differs from those of the direct simulation."""
        return self.experiment.first_wrong(self.numbers)

    def answer(self, see: See | None = None) -> RowAnswer:
        """Generate the chain of thought and decode it.

        The model alone decides every token; it makes as many as the direct simulation's stream has.
        Afterwards both are compared, so that a run that went wrong says where and why.
        """
        started = perf_counter()
        made = self.experiment.generate(
            self.numbers, lambda tokens: see is None or see(self, tokens)
        )
        seconds = perf_counter() - started
        steps = self.experiment.read(made.tokens)
        stopped = bool(steps) and steps[-1][0] == STOP
        applied = steps[:-1] if stopped else steps[: self.task.prefix + self.task.steps]
        state = applied[-1][0] if applied else self.task.machine.start
        own = len(applied) - self.task.prefix
        return RowAnswer(
            row=self.row,
            machine=self.task.source,
            precision=self.numbers.name,
            outcome=verdict(self.task.source, state) if stopped else Outcome.LIMIT,
            state=state if own > 0 else self.task.source.start,
            steps=max(0, own),
            tapes=self.tapes(applied),
            made=made,
            boot=self.experiment.boot(),
            seconds=seconds,
            shape=self.experiment.shape(),
            wrong=self.compared(),
            note="" if stopped else self._note(),
        )

    def _note(self) -> str:
        """Say which limit of its own a run came to."""
        task = self.task
        if self.max_steps is not None and task.steps >= self.max_steps:
            return ""
        if self.max_steps is None and task.steps == DEFAULT_STEPS:
            return f"a row stops after {DEFAULT_STEPS:,} steps; --max-steps sets another limit"
        made = counted(task.steps, "step")
        if self.max_steps is None:
            return f"{made} fill the context of {self.row.context:,} tokens; --max-steps allows {self.row.long_context:,}"
        return f"{made} fill the longest context of this row, {self.row.long_context:,} tokens"

    def tapes(self, steps: Sequence[StepMade]) -> tuple[Tape, ...]:
        """Return the tapes after some steps, from what they wrote and how they moved."""
        task = self.task
        cells: list[dict[int, str]] = [{} for _ in range(task.machine.tapes)]
        cells[0] = dict(enumerate(task.word))
        heads = [0] * task.machine.tapes
        heads[0] = task.prepared.head(len(task.word))
        for _, written, moves in steps:
            for t, symbol in enumerate(task.prepared.symbols(written)):
                cells[t][heads[t]] = symbol
                heads[t] += moves[t]
        blank = task.source.blank
        return tuple(_tape(tape, head, blank) for tape, head in zip(cells, heads, strict=True))


def _tape(cells: dict[int, str], head: int, blank: str) -> Tape:
    if not cells:
        return Tape((), 0)
    first, last = min(cells), max(cells)
    return trimmed([cells.get(at, blank) for at in range(first, last + 1)], first, head, blank)
