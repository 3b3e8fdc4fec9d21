"""The record of a row of Table 1, and the task that it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from tapeformer.faults import Fault, TapeformerError, counted
from tapeformer.laboratory.experiment import Experiment
from tapeformer.laboratory.preparation import Prepared, Symbols, Trace, traced, two_way
from tapeformer.machine.record import TuringMachine


@dataclass(frozen=True)
class Task:
    """A machine as a row takes it, a word, and how many of the machine's own steps to make."""

    source: TuringMachine
    prepared: Prepared
    word: Symbols
    steps: int

    @property
    def machine(self) -> TuringMachine:
        """The machine as the row takes it."""
        return self.prepared.machine

    @property
    def prefix(self) -> int:
        """The steps that come before the machine's own."""
        return self.prepared.prefix(len(self.word))

    @cached_property
    def trace(self) -> Trace:
        """The direct simulation of the machine as the row takes it."""
        head = self.prepared.head(len(self.word))
        return traced(self.machine, self.word, self.prefix + self.steps, head)

    @property
    def reach(self) -> int:
        """No head gets farther from cell 0 than this."""
        return len(self.word) + self.steps + 2

    def check(self) -> None:
        """Refuse a preparation that changes what the machine does."""
        own = traced(self.source, self.word, self.steps)
        kept = self.trace.seen[self.prefix :]
        seen = tuple((state, self.prepared.symbols(read)) for state, read in kept)
        if seen != own.seen:
            raise AssertionError(f"the prepared machine differs from {self.source.name}")


@dataclass(frozen=True)
class Bounds:
    """A row as the paper prints it: precision, dimension, window, length of the chain of thought."""

    precision: str
    dimension: str
    window: str
    tokens: str


@dataclass(frozen=True)
class Row:
    """One construction: where it comes from, its printed bounds, and how it is run.

    `ablations` are changed models that must go wrong, by what was taken away. Where a row's context
    grows quickly, `longest` says how many steps of a task fit in so many tokens: `context` in a
    table, `long_context` where more time is given. `with_steps`, where a token can make several of
    the machine's steps, returns such a row.
    """

    name: str
    title: str
    source: str
    provenance: str
    printed: Bounds
    experiment: Callable[[Task], Experiment]
    prepare: Callable[[TuringMachine], Prepared] = two_way
    ablations: Mapping[str, Callable[[Task], Experiment]] = field(default_factory=dict)
    several_tapes: bool = False
    longest: Callable[[Task, int], int] | None = None
    context: int = 4000
    long_context: int = 4000
    check_word: Callable[[TuringMachine, Symbols], None] | None = None
    construction: str | None = None
    with_steps: Callable[[int], Row] | None = None

    def task(
        self, machine: TuringMachine, word: Symbols, steps: int, context: int | None = None
    ) -> Task:
        """Return the task of a machine and a word, or say why this row cannot take it."""
        if machine.tapes > 1 and not self.several_tapes:
            raise TapeformerError(
                Fault(f"{self.name} has one tape", got=counted(machine.tapes, "tape"))
            )
        if self.check_word is not None:
            self.check_word(machine, word)
        task = Task(machine, self.prepare(machine), word, steps)
        if self.longest is None:
            return task
        return replace(task, steps=min(steps, self.longest(task, context or self.context)))
