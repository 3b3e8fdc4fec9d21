"""Machines with the same states and symbols run hundreds at a time, on shared machine code.

Each machine has a model of its own. What sets it apart from the others, a few biases, is read from
its weights and passed to the machine code as data: one bit of every word per model.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from time import perf_counter
from typing import TypeGuard

import numpy as np

from tapeformer.bundle.record import Bundle
from tapeformer.compile.family import FamilyModels, MachineFamily
from tapeformer.compile.options import CompileOptions
from tapeformer.compile.sizes import for_runs
from tapeformer.engines.batch import Budget
from tapeformer.engines.native.batch import FamilyBatch
from tapeformer.faults import TapeformerError
from tapeformer.formats import busy_beaver
from tapeformer.inference.answer import Answer
from tapeformer.inference.batch.prompts import PromptEncoder
from tapeformer.inference.batch.runner import MOST_TOKENS, Found, answers_of
from tapeformer.inference.decode import Reader
from tapeformer.inference.options import RunOptions
from tapeformer.inference.records import Record, model_record
from tapeformer.machine.record import TuringMachine
from tapeformer.machine.verify import checked
from tapeformer.simulator.outcome import Outcome
from tapeformer.sources import machine_named
from tapeformer.weights.family import first_map
from tapeformer.workers.task import still_wanted

SPACES = 10_000, 1_000_000
"""Tape cells of a family's models: machines that need more run again by larger ones; those that
need more than the most get models of their own size."""

FEWEST = 8
"""From this many machines on, it pays off to make machine code for their family."""

HALTING = "Z"
"""The halting state of families whose machines name none."""


def family_of(text: str) -> MachineFamily | None:
    """Return the family of busy-beaver text: one state per row, one symbol per column."""
    if not busy_beaver.recognises(text):
        return None
    rows = text.strip().split("_")
    states = tuple(string.ascii_uppercase[: len(rows)])
    symbols = tuple(string.digits[: len(rows[0]) // 3])
    following = {row[place] for row in rows for place in range(2, len(row), 3)}
    halting = tuple(sorted(following.difference(states, "-"))) or (HALTING,)
    return MachineFamily(states, symbols, halting)


def shared_families(texts: Iterable[str], options: RunOptions) -> frozenset[MachineFamily]:
    """Return the families with enough members among all lines, however lines are grouped later."""
    if not may_share(options):
        return frozenset()
    counts = Counter(family for text in texts if (family := family_of(text)) is not None)
    return frozenset(family for family, count in counts.items() if count >= FEWEST)


def member(text: str, family: MachineFamily) -> TuringMachine | None:
    """Return the machine that a line names, if it belongs to a family."""
    try:
        machine = checked(machine_named(text))
    except TapeformerError:
        return None
    return machine if machine.origin == busy_beaver.NAME and family.has(machine) else None


def spaces(options: RunOptions) -> list[int]:
    """Return the cells of a family's models, fewest first, up to what the limit of steps can fill."""
    most = options.max_steps + 1
    if options.compile.levels is not None or options.compile.space is not None:
        return [most]
    return sorted({min(most, cells) for cells in SPACES})


def may_share(options: RunOptions) -> bool:
    """Say whether models with these options can share machine code."""
    plain = replace(options.compile, levels=None, space=None) == CompileOptions()
    return plain and options.engine in ("auto", "native")


class FamilyRunner:
    """The machine code of a family whose tapes have so many cells, ready for any of its machines.

    With several `processes` side by side, each gets its share of memory.
    """

    def __init__(
        self, family: MachineFamily, options: RunOptions, cells: int, processes: int = 1
    ) -> None:
        self.options = options
        self.models = FamilyModels(
            family, for_runs(family.example, options.compile, 0, lambda: cells)
        )
        self.reader = Reader(self.models.shared)
        self.encoder = PromptEncoder(self.reader)
        self.batch = FamilyBatch(
            self.models.weights,
            self.models.shared.offsets,
            processes=processes,
            watched=self.reader.watched,
        )
        self.budget = Budget(options.max_steps, options.max_tokens or MOST_TOKENS)
        self._records: dict[tuple[int, ...], Record] = {}

    def record(self, model: Bundle) -> Record:
        """Return a member's model record, cached by the number and the range of its biases."""
        bias = first_map(model.weights).bias
        key = int(np.count_nonzero(bias)), int(bias.min()), int(bias.max())
        if key not in self._records:
            self._records[key] = model_record(model)
        return {**self._records[key], "machine": model.name}

    def answers(self, machines: Sequence[TuringMachine]) -> list[Answer | None]:
        """Return each machine's answer on the empty word; None if it must run alone."""
        found: list[Answer | None] = []
        for start in range(0, len(machines), self.batch.inputs):
            found += self._side_by_side(machines[start : start + self.batch.inputs])
        return found

    def _side_by_side(self, machines: Sequence[TuringMachine]) -> list[Answer | None]:
        started, reader = perf_counter(), self.reader
        models = [self.models.model(machine) for machine in machines]
        found: list[Answer | None] = [None] * len(models)
        prompts = self.encoder.prompts([()] * len(models))
        weights = [model.weights for model in models]
        asked = (prompts, reader.goes_on, reader.step_values, self.budget)
        for ended in chain.from_iterable(
            parts for parts in self.batch.run_members(weights, *asked) if still_wanted()
        ):
            if ended.doubted.any():
                continue
            lengths = prompts.lengths[ended.inputs]
            seconds = (perf_counter() - started) / len(models)
            answers = answers_of(reader, self.batch.name, ended, lengths, seconds)
            for number, answer in zip(ended.inputs.tolist(), answers, strict=True):
                if _is_final(answer):
                    found[number] = replace(answer, bundle=models[number])
        return found


def _is_final(found: Found) -> TypeGuard[Answer]:
    """Say whether a larger model or another engine would give the same answer."""
    return isinstance(found, Answer) and found.outcome is not Outcome.OUT_OF_SPACE
