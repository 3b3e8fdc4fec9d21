"""A file of machines, one per line, each compiled into a model of its own and run on the empty word.

Machines with the same states and symbols run side by side (see `families`). Any other gets a model
as small as its run allows: a direct simulation finds the space it needs. Only a run that is longer
than what is simulated may outgrow its model, which then grows. All answers come from tokens alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from tapeformer.arguments import watched
from tapeformer.bundle.record import Bundle
from tapeformer.compile.family import MachineFamily
from tapeformer.compile.sizes import SpaceSearch, for_runs
from tapeformer.engines.logic.not_logic import NotLogicError
from tapeformer.faults import Fault, TapeformerError
from tapeformer.inference.answer import Answer
from tapeformer.inference.batch.answer_lines import Answered, Lines, joined
from tapeformer.inference.batch.columns import ERROR, encoded
from tapeformer.inference.batch.families import (
    FamilyRunner,
    family_of,
    member,
    shared_families,
    spaces,
)
from tapeformer.inference.batch.files import LOCAL, Summary, Work, answer_file, first_group
from tapeformer.inference.batch.inputs import Inputs, opened
from tapeformer.inference.batch.machine_files import check_unchanged, digest_record
from tapeformer.inference.batch.run import path_of
from tapeformer.inference.batch.runner import MOST_TOKENS
from tapeformer.inference.generation import generate
from tapeformer.inference.grow import Grow
from tapeformer.inference.model import Model, find_model, is_folder, most_tokens
from tapeformer.inference.options import RunOptions, run_options
from tapeformer.inference.records import Record, answer_record, model_record
from tapeformer.machine.record import TuringMachine
from tapeformer.sources import machine_named
from tapeformer.workers import Where, where
from tapeformer.workers.task import still_wanted

MACHINES = 8
"""Machines in a group, if each takes part of a second."""


@dataclass(frozen=True)
class MachineLines:
    """The task of a batch of machines: lines that name machines become lines of JSON."""

    options: RunOptions
    families: frozenset[MachineFamily] = frozenset()
    processes: int = 1

    def ready(self) -> Callable[[list[str]], Answered]:
        """Return a function that answers a group."""
        recorder = MachineRecorder(self)
        return lambda texts: joined(recorder.lines(texts))

    def start(self, text: str | None) -> Record:
        """Return the keys that every line begins with: which machine, and a hash of the options."""
        return {"given": text, "options": self._digest}

    @cached_property
    def _digest(self) -> str:
        """A hash of all options: the limits are among them, because models are sized by them."""
        return sha256(repr(self.options).encode()).hexdigest()[:16]


class MachineRecorder:
    """Answers lines: machines of one family side by side, any other alone."""

    def __init__(self, task: MachineLines) -> None:
        self.task, self.options = task, task.options
        self._runners: dict[tuple[MachineFamily, int], FamilyRunner | None] = {}

    def lines(self, texts: list[str]) -> list[Lines]:
        """Return the answers to some lines, in order."""
        found = self._side_by_side(texts)
        return [found.get(number) or self._alone(text) for number, text in enumerate(texts)]

    def _side_by_side(self, texts: Sequence[str]) -> dict[int, Lines]:
        """Return the answers of machines that share their family's machine code, by index."""
        families: dict[MachineFamily, list[tuple[int, TuringMachine]]] = {}
        for number, text in enumerate(texts):
            family = family_of(text) if self.task.families else None
            if family in self.task.families and (machine := member(text, family)) is not None:
                families.setdefault(family, []).append((number, machine))
        lines: dict[int, Lines] = {}
        for family, members in families.items():
            for cells in spaces(self.options):
                left = [(number, machine) for number, machine in members if number not in lines]
                for number, answer, model in self._answers(family, cells, left):
                    lines[number] = _line(self._start(texts[number]), answer, model)
        return lines

    def _answers(
        self, family: MachineFamily, cells: int, members: Sequence[tuple[int, TuringMachine]]
    ) -> Iterator[tuple[int, Answer, Record]]:
        """Yield the answers of members that need no more cells, with the records of their models."""
        runner = self._runner(family, cells) if members else None
        if runner is not None:
            answers = runner.answers([machine for _, machine in members])
            for (number, _), answer in zip(members, answers, strict=True):
                if answer is not None:
                    yield number, answer, runner.record(answer.bundle)

    def _runner(self, family: MachineFamily, cells: int) -> FamilyRunner | None:
        """Return the runner of a family's machines; None if it cannot be made, as without gates."""
        if (family, cells) not in self._runners:
            made = None
            with suppress(NotLogicError, TapeformerError):
                made = FamilyRunner(family, self.options, cells, self.task.processes)
            self._runners[family, cells] = made
        return self._runners[family, cells]

    def _alone(self, text: str) -> Lines:
        """Return the answer of a machine by itself; a file edited meanwhile has its old digest."""
        start = self._start(text)
        try:
            answer = run_machine(text, self.options)
        except TapeformerError as error:
            return Lines((ERROR,), encoded({**start, ERROR: str(error)}).encode())
        return _line(start, answer, model_record(answer.bundle))

    def _start(self, text: str) -> Record:
        """Return the keys that an answer begins with: the line, the options, and a file's digest."""
        return {**self.task.start(text), **digest_record(text)}


def _line(start: Record, answer: Answer, model: Record) -> Lines:
    """Return the line of an answer."""
    found = encoded({**start, **answer_record("", answer, model)})
    return Lines((answer.outcome.value,), found.encode())


def run_machine(text: str, options: RunOptions) -> Answer:
    """Compile the machine that a line names, as large as its run needs, and run it."""
    if text == "-":
        what, remedy = "a line of a file of machines is -", "give a path, or busy-beaver text"
        raise TapeformerError(Fault(what, remedy=remedy))
    source = text if is_folder(text) else machine_named(text)
    model = find_model(source, options.compile)
    bundle = model.bundle
    if bundle is not None and most_tokens(bundle) and options.max_tokens is None:
        what = "a learned model may never come to an end"
        raise TapeformerError(Fault(what, remedy="give a limit of tokens, or run it alone"))
    grow = None
    if bundle is None:
        bundle, grow = _sized(model, options.max_steps)
    return generate(
        bundle,
        (),
        engine=options.engine,
        max_steps=options.max_steps,
        max_tokens=options.max_tokens,
        watch=still_wanted,
        grow=grow,
    )


def _sized(model: Model, steps: int) -> tuple[Bundle, Grow | None]:
    """Return a model sized for a run, and how it grows if a simulation did not see all of the run."""
    search, grow = SpaceSearch(model.machine, (), steps), model.grow()
    bundle = model.compiled(for_runs(model.machine, model.options, 0, search.space))
    return bundle, None if grow is None or search.whole else grow


def run_machines(
    machines: str | os.PathLike[str],
    answers: str | os.PathLike[str],
    *,
    watch: Callable[[int], bool | None] | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    **options: Any,
) -> Summary:
    """Run every machine that a file names, one per line, and write JSON lines; the same call resumes.

    Options are those of `run`; `watch`, `jobs` and `cluster` those of `run_batch_file`.
    """
    goes_on, place = watched(watch), where(jobs, cluster)
    source, target = path_of("machines", machines), path_of("answers", answers)
    asked = run_options(options)
    with opened(source) as lines:
        return answer_machines(lines, target, asked, goes_on, place)


def answer_machines(
    lines: Inputs,
    answers: Path,
    options: RunOptions,
    watch: Callable[[int], bool] | None = None,
    place: Where = LOCAL,
) -> Summary:
    """Run the machines on these lines; `watch` is told now and then how many are answered."""
    _check_options(options)
    check_unchanged(lines, answers)
    task = MachineLines(options, shared_families(lines, options), place.processes)
    limits = options.max_steps, options.max_tokens or MOST_TOKENS
    group = first_group(len(lines), place) if task.families else MACHINES
    return answer_file(Work(task, task.start, limits, group), lines, answers, place, watch)


def _check_options(options: RunOptions) -> None:
    """Refuse options that a batch of machines cannot follow, rather than ignore them."""
    if options.engine == "gpu":
        what, remedy = "a GPU runs many inputs of one machine", "use engine='native'"
        raise TapeformerError(Fault(what, remedy=remedy))
    names = ("checkpoint", "spaced", "allow_modified")
    asked = [name for name in names if getattr(options, name)] + list(options.variant)
    if asked:
        what = f"a batch of machines cannot follow {asked[0].replace('attending', 'attention')}"
        raise TapeformerError(Fault(what, remedy="leave it out, or run one machine alone"))
