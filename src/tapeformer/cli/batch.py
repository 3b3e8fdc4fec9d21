"""`tapeformer run --batch`: a file of inputs, answered many at once."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from tapeformer.cli.exits import BAD_INPUT, INTERRUPTED, OF_OUTCOME
from tapeformer.cli.output import print_json
from tapeformer.cli.progress import HOW_TO_STOP_A_BATCH, Watch
from tapeformer.cli.wording import in_options
from tapeformer.dataclass import dataclass
from tapeformer.faults import Fault, TapeformerError, counted
from tapeformer.simulator.outcome import Outcome
from tapeformer.sources import standard_stream

if TYPE_CHECKING:
    from tapeformer.inference.batch import Inputs, Summary
    from tapeformer.inference.model import Model
    from tapeformer.inference.options import RunOptions

STANDARD_INPUT = Path("-")


@dataclass(frozen=True)
class Asked:
    """Where the inputs are, where the answers go (if given), and how to report the end."""

    inputs: Path
    answers: Path | None
    as_json: bool
    jobs: int | None = None
    cluster: str | None = None

    def out(self) -> Path:
        """Return the file of answers: by default, beside the inputs."""
        if self.answers == STANDARD_INPUT:
            what = "answers go to a file, so that a run that was stopped can be resumed"
            raise refused(what, "name one with --answers")
        if self.answers is not None:
            return self.answers
        if self.inputs == STANDARD_INPUT:
            raise refused("the answers to standard input have no name", "give them with --answers")
        return Path(f"{self.inputs}.answers.jsonl")


def reads_once(command: Callable[..., Any]) -> Callable[..., Any]:
    """Refuse, before anything is read, a machine and inputs that are both standard input."""

    @functools.wraps(command)
    def checked(**given: Any) -> Any:
        if (given["model"], given["batch"]) == ("-", STANDARD_INPUT):
            what = "the machine and the inputs cannot both be standard input"
            raise refused(what, "put one of them into a file")
        return command(**given)

    return checked


def check_alone(word: str, options: RunOptions, trace: Path | None, alone: bool) -> None:
    """Refuse what a batch cannot follow, rather than ignore it silently."""
    if word:
        raise refused("an input was given beside --batch", "put it into the file as a line")
    if trace is not None or alone:
        what = "a batch shows no tokens and has its own inputs"
        raise refused(what, "leave out --trace, --show and --file-input, or run one input alone")
    from tapeformer.inference.batch.run import check_batch

    check_batch(options)


def refuse_without_batch(options: Mapping[str, object]) -> None:
    """Refuse options of batches where there is none, rather than ignore them silently."""
    for name, given in options.items():
        if given is not None:
            what = f"{name} was given without --batch or --machines"
            raise refused(what, "leave it out, or give both")


def run_batch(model: Model, options: RunOptions, asked: Asked) -> NoReturn:
    """Answer every line of a file with a JSON line, in order; resume earlier answers."""
    from tapeformer.inference.batch.run import answer_lines
    from tapeformer.workers import where

    out, place = asked.out(), where(asked.jobs, asked.cluster)
    with (
        read_inputs(asked.inputs) as inputs,
        Watch("inputs", len(inputs), HOW_TO_STOP_A_BATCH) as watch,
    ):
        found = answer_lines(model, inputs, out, options, watch, place)
    tell(found, asked, watch.interrupted)


def tell(found: Summary, asked: Asked, stopped: bool, unit: str = "input") -> NoReturn:
    """Print how many were answered and with which outcomes, and exit with the matching status."""
    out = asked.out()
    interrupted = stopped and found.answered < found.inputs
    if asked.as_json:
        print_json({"answers": str(out), f"{unit}s": found.inputs, "outcomes": found.outcomes})
    elif not interrupted:
        print(f"{counted(found.answered, unit)} answered in {out}: {_outcomes_text(found)}")
    if interrupted:
        told = f"interrupted: {found.answered:,} of {counted(found.inputs, unit)} answered in {out}"
        print(f"{told}; run the same command again to resume", file=sys.stderr)
    status = exit_status(found)
    if status == BAD_INPUT:
        print(f"the first error: {_first_error(out, str(asked.inputs))}", file=sys.stderr)
    raise typer.Exit(INTERRUPTED if interrupted else status)


def _first_error(answers: Path, inputs: str) -> str:
    """Return the place and the message of the first line with an error instead of an answer."""
    from tapeformer.inference.batch.columns import ERROR

    with answers.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            if f'"{ERROR}": ' in line and (message := json.loads(line).get(ERROR)):
                return f"{inputs}:{number}: {in_options(message)}"
    return inputs


def exit_status(found: Summary) -> int:
    """Return 2 if an input was refused, else 3 or 4 if one has no answer, else 0."""
    from tapeformer.inference.batch.columns import ERROR

    if ERROR in found.outcomes:
        return BAD_INPUT
    missing = (Outcome.LIMIT, Outcome.OUT_OF_SPACE)
    return next((OF_OUTCOME[kind] for kind in missing if kind.value in found.outcomes), 0)


def read_inputs(path: Path) -> Inputs:
    """Return the lines of a file, or of standard input for `-`."""
    from tapeformer.inference.batch.inputs import opened, spooled, unreadable

    if path != STANDARD_INPUT:
        return opened(path)
    try:
        return spooled(standard_stream(), str(path))
    except OSError as error:
        raise unreadable(str(path), error) from None


def refused(what: str, remedy: str) -> TapeformerError:
    """Return the error for options that cannot be combined."""
    return TapeformerError(Fault(what, remedy=remedy))


def _outcomes_text(found: Summary) -> str:
    return ", ".join(f"{count:,} {outcome}" for outcome, count in found.outcomes.items()) or "none"
