"""Checking a dataset row by row against the direct simulation of its machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tapeformer.arguments import watched
from tapeformer.export.dataset.folder import Folder, folders_in
from tapeformer.export.dataset.parquet import about_shard, rows_of
from tapeformer.export.dataset.splits import SPLITS, SplitRule, word_hash
from tapeformer.export.dataset.traces import Tracer
from tapeformer.faults import Fault, SourceLocation, TapeformerError
from tapeformer.formats.registry import loads
from tapeformer.machine.word import parse_word
from tapeformer.simulator.outcome import Outcome
from tapeformer.simulator.stepwise import Stepper

GLANCES = 3
"""In how many places before its end a trace is decoded back to tapes."""
MOST_DIFFERENCES = 20
Row = dict[str, Any]


@dataclass
class Verified:
    """How many rows, tokens and steps agreed, and the first rows that did not, each with why."""

    rows: int = 0
    tokens: int = 0
    steps: int = 0
    wrong: int = 0
    differences: list[str] = field(default_factory=list)

    @property
    def agreed(self) -> bool:
        """Whether every row is right."""
        return not self.wrong


def verify_dataset(
    folder: str | os.PathLike[str], *, watch: Callable[[int], bool | None] | None = None
) -> Verified:
    """Check every row of a dataset: split, prompt, tokens, states, verdict and tapes.

    The words of all splits must differ. Each run is simulated directly, and its states are compared
    step by step, its tapes at the end and in a few places before; the tokens are compared with
    those that the dataset's model generates now.
    """
    report, goes_on = Verified(), watched(watch)
    for part in folders_in(Path(folder)):
        check = RowCheck(part)
        for split in SPLITS:
            for path in part.shards(split):
                for number, row in enumerate(check.rows(path)):
                    _count(report, row, f"{path}, row {number}", check.fault(row, split))
                    if goes_on is not None and not goes_on(report.rows):
                        return report
    return report


def _count(report: Verified, row: Row, where: str, fault: str) -> None:
    report.rows += 1
    report.tokens += len(row["tokens"])
    report.steps += row["steps"]
    if fault:
        report.wrong += 1
        if len(report.differences) < MOST_DIFFERENCES:
            report.differences.append(f"{where}, input {row['input'][:40]!r}: {fault}")


class RowCheck:
    """Checks the rows of one machine."""

    def __init__(self, folder: Folder) -> None:
        manifest = folder.manifest() or {}
        self.machine = loads(manifest["machine"], "machine.yaml")
        self.rule = SplitRule(**manifest["splits"])
        self.tracer = Tracer(folder.bundle(), int(manifest["max_steps"]))
        self.factors = [factor.name for factor in self.tracer.reader.factors]
        self.seen: set[int] = set()

    def rows(self, path: Path) -> Iterator[Row]:
        """Yield the rows of a shard whose schema names the model's factors."""
        names = [factor["name"] for factor in about_shard(path).about["factors"]]
        if names != self.factors:
            what = "the shard has the factors of another model than the dataset's"
            raise TapeformerError(Fault(what, SourceLocation(str(path)), remedy="write it again"))
        return rows_of(path)

    def fault(self, row: Row, split: str) -> str:
        """Say what is wrong with a row; nothing where all is right."""
        try:
            word = parse_word(self.machine, row["input"], not self.machine.single_characters)
        except TapeformerError as error:
            return error.faults[0].what
        number = word_hash(word)
        if number in self.seen:
            return "the word is in the dataset twice"
        self.seen.add(number)
        if self.rule.split_of(word) != split:
            return f"the word belongs to the split {self.rule.split_of(word)}"
        return self._tokens_fault(word, row) or self._run_fault(word, row)

    def _tokens_fault(self, word: tuple[str, ...], row: Row) -> str:
        """Compare the row with what the model generates now."""
        trace = self.tracer.trace(word)
        if row["prompt_length"] != trace.prompt_length:
            return "prompt_length is not that of the prompt"
        if len(row["tokens"]) != len(trace.tokens):
            return f"{len(row['tokens'])} tokens, not {len(trace.tokens)}"
        differing = np.argwhere(row["tokens"] != trace.tokens)
        if len(differing):
            token, factor = differing[0].tolist()
            return f"token {token} differs in {self.factors[factor]}"
        return ""

    def _run_fault(self, word: tuple[str, ...], row: Row) -> str:
        """Compare the row with the direct simulation, state by state."""
        generated = row["tokens"][row["prompt_length"] :]
        names = self.tracer.states
        if [names[n] for n in self.tracer.state_numbers(generated).tolist()] != row["states"]:
            return "states are not those of the tokens"
        if len(row["states"]) != row["steps"]:
            return "steps is not the number of states"
        stepper, glances = Stepper(self.machine, word), self._glances(row)
        for step, state in enumerate(row["states"], 1):
            if not stepper.step() or stepper.state != state:
                return f"step {step} leads to {stepper.state}, not {state}"
            if step in glances and self._differs(stepper, row["tokens"], glances[step]):
                return f"the tapes after step {step} are not those of the tokens"
        return self._end_fault(stepper, row)

    def _end_fault(self, stepper: Stepper, row: Row) -> str:
        end = stepper.configuration()
        unfinished = row["outcome"] in (Outcome.LIMIT.value, Outcome.OUT_OF_SPACE.value)
        if (end.outcome is None) != unfinished:
            return f"the outcome is {row['outcome']}, but the simulation says {end.outcome}"
        if end.outcome is not None and end.outcome.value != row["outcome"]:
            return f"the outcome is {row['outcome']}, not {end.outcome.value}"
        if [self.machine.spell(tape.content) for tape in end.tapes] != row["output"]:
            return "output is not what the simulation leaves on the tapes"
        if self._differs(stepper, row["tokens"], len(row["tokens"])):
            return "the tapes at the end are not those of the tokens"
        return ""

    def _glances(self, row: Row) -> dict[int, int]:
        """Return some steps, evenly spread, each with the number of tokens up to it."""
        reader, start = self.tracer.reader, row["prompt_length"]
        stepped = row["tokens"][start:, reader.stepped] == reader.step_mark
        places = np.flatnonzero(stepped)
        chosen = {row["steps"] * part // (GLANCES + 1) for part in range(1, GLANCES + 1)} - {0}
        return {step: int(places[step - 1]) + start + 1 for step in chosen}

    def _differs(self, stepper: Stepper, tokens: Any, end: int) -> bool:
        """Say whether the window that ends at a token shows other tapes than the simulation."""
        reader, expected = self.tracer.reader, stepper.configuration()
        read = reader.configuration(tokens[max(0, end - reader.bundle.window) : end])
        if not read.settled:
            return False
        return (read.state, read.tapes) != (expected.state, expected.tapes)
