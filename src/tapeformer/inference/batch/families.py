"""Machines with the same states and symbols, 256 at a time: one machine code for all of their models.

Each machine has a model of its own. What tells it from the others, a few biases, is read from its
weights, and the machine code is given it as data: one bit of every word for each model.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import TypeGuard

import numpy as np

from tapeformer.bundle.record import Bundle
from tapeformer.compile.family import FamilyModels, MachineFamily
from tapeformer.compile.options import CompileOptions
from tapeformer.compile.sizes import for_runs
from tapeformer.engines.batch import Budget
from tapeformer.engines.native.batch import FamilyBatch
from tapeformer.engines.native.batch_memory import INPUTS
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
from tapeformer.simulator.result import Outcome
from tapeformer.sources import machine_named
from tapeformer.weights.family import first_map

MOST_SPACE = 10_000
"""Cells of the tape in a family's models; a machine that needs more gets a model for itself."""

HALTING = "Z"


def member(text: str) -> tuple[MachineFamily, TuringMachine] | None:
    """Return the machine of busy-beaver text, with its family: as many states as the text has rows."""
    if not busy_beaver.recognises(text):
        return None
    try:
        machine = checked(machine_named(text))
    except TapeformerError:
        return None
    rows = text.strip().count("_") + 1
    symbols = machine.symbols[:1] + tuple(sorted(machine.symbols[1:]))
    halting = tuple(sorted(machine.halting)) or (HALTING,)
    family = MachineFamily(tuple(string.ascii_uppercase[:rows]), symbols, halting)
    is_text = machine.origin == busy_beaver.NAME
    return (family, machine) if is_text and family.has(machine) else None


def may_share(options: RunOptions) -> bool:
    """Say whether models with these options can share machine code."""
    plain = replace(options.compile, levels=None, space=None) == CompileOptions()
    return plain and options.engine in ("auto", "native")


class FamilyRunner:
    """The machine code of a family, ready for any number of its machines."""

    def __init__(self, family: MachineFamily, options: RunOptions) -> None:
        self.options = options
        cells = min(options.max_steps + 1, MOST_SPACE)
        self.models = FamilyModels(
            family, for_runs(family.example, options.compile, 0, lambda: cells)
        )
        self.reader = Reader(self.models.shared)
        self.encoder = PromptEncoder(self.reader)
        self.batch = FamilyBatch(
            self.models.weights, self.models.shared.offsets, watched=self.reader.watched
        )
        self.budget = Budget(options.max_steps, options.max_tokens or MOST_TOKENS)
        self._records: dict[tuple[int, ...], Record] = {}

    def record(self, model: Bundle) -> Record:
        """Return the record of a member's model; all but its name depends on how its biases count."""
        bias = first_map(model.weights).bias
        key = int(np.count_nonzero(bias)), int(bias.min()), int(bias.max())
        if key not in self._records:
            self._records[key] = model_record(model)
        return {**self._records[key], "machine": model.name}

    def answers(self, machines: Sequence[TuringMachine]) -> list[Answer | None]:
        """Return what each machine comes to on the empty word; None where it must run alone."""
        found: list[Answer | None] = []
        for start in range(0, len(machines), INPUTS):
            found += self._side_by_side(machines[start : start + INPUTS])
        return found

    def _side_by_side(self, machines: Sequence[TuringMachine]) -> list[Answer | None]:
        started, reader = perf_counter(), self.reader
        models = [self.models.model(machine) for machine in machines]
        found: list[Answer | None] = [None] * len(models)
        prompts = self.encoder.prompts([()] * len(models))
        weights = [model.weights for model in models]
        asked = (prompts, reader.goes_on, reader.step_values, self.budget)
        for ended in self.batch.run_members(weights, *asked):
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
    """Say whether a larger model, or another engine, would say the same."""
    return isinstance(found, Answer) and found.outcome is not Outcome.OUT_OF_SPACE
