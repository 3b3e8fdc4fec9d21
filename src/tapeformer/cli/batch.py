"""`tapeformer run --batch`: a file of inputs, answered many at once."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from tapeformer.cli.exits import BAD_INPUT, INTERRUPTED, OF_OUTCOME
from tapeformer.cli.models import MODIFIED_TOKENS, Given, bundle_for, grows, sized
from tapeformer.cli.output import print_json
from tapeformer.cli.progress import Watch
from tapeformer.cli.sources import standard_input
from tapeformer.compile.options import CompileOptions
from tapeformer.faults import Fault, Place, TapeformerError
from tapeformer.simulator.result import Outcome

if TYPE_CHECKING:
    from tapeformer.inference.batch import Inputs, Summary

STANDARD_INPUT = Path("-")
ENGINES = ("auto", "native")
MOST_TOKENS = 1 << 62


@dataclass(frozen=True)
class Asked:
    """Where the inputs are, where the answers go if that was said, and the other options."""

    inputs: Path
    answers: Path | None
    spaced: bool
    max_steps: int
    max_tokens: int | None
    as_json: bool

    def out(self) -> Path:
        """The file of answers: beside the inputs where no other was named."""
        if self.answers is not None:
            return self.answers
        if self.inputs == STANDARD_INPUT:
            raise refused("the answers to standard input have no name", "give them with --answers")
        return self.inputs.with_name(self.inputs.name + ".answers.jsonl")


def reads_once(command: Callable[..., Any]) -> Callable[..., Any]:
    """Refuses, before anything is read, a machine and inputs that both are standard input."""

    @functools.wraps(command)
    def checked(**given: Any) -> Any:
        if (given["model"], given["batch"]) == ("-", STANDARD_INPUT):
            what = "the machine and the inputs cannot both be standard input"
            raise refused(what, "put one of them into a file")
        return command(**given)

    return checked


def check_alone(
    word: str, engine: str, trace: Path | None, variant: Mapping[str, str | float]
) -> None:
    """Refuses what a batch cannot heed, rather than to leave it out silently."""
    from tapeformer.engines.registry import engine_name

    if word:
        raise refused("an input was given beside --batch", "put it into the file as a line")
    if trace is not None:
        raise refused("a batch shows no tokens", "leave out --trace, or run one input alone")
    if engine_name(engine) not in ENGINES or variant:
        raise refused("a batch runs as machine code", "leave out the options on the engine")


def run_batch(given: Given, options: CompileOptions, asked: Asked) -> NoReturn:
    """Answers every line of a file as JSON lines, in order; an interrupted run is gone on with."""
    from tapeformer.inference.batch import BatchModel, BatchOptions, run_file

    out, inputs = asked.out(), read_inputs(asked.inputs)
    bundle = bundle_for(given, fixed_sizes(given, options, inputs, asked.spaced), None)
    most = asked.max_tokens or (MODIFIED_TOKENS if bundle.modified else MOST_TOKENS)
    model = BatchModel(given.machine, bundle, BatchOptions(asked.max_steps, most, asked.spaced))
    with Watch("inputs", len(inputs)) as watch:
        found = run_file(model, inputs, out, watch=watch)
    interrupted = watch.interrupted and found.answered < found.inputs
    if asked.as_json:
        print_json({"answers": str(out), "inputs": found.inputs, "outcomes": found.outcomes})
    elif not interrupted:
        print(f"{found.answered:,} inputs answered in {out}: {_outcomes_text(found)}")
    if interrupted:
        told = f"interrupted: {found.answered:,} of {found.inputs:,} inputs are answered in {out}"
        print(f"{told}; the same command goes on from there", file=sys.stderr)
    raise typer.Exit(INTERRUPTED if interrupted else exit_status(found))


def exit_status(found: Summary) -> int:
    """2 where an input was refused, then 3 or 4 where one has no answer, else 0."""
    from tapeformer.inference.batch.workers import ERROR

    if ERROR in found.outcomes:
        return BAD_INPUT
    missing = (Outcome.LIMIT, Outcome.OUT_OF_SPACE)
    return next((OF_OUTCOME[kind] for kind in missing if kind.value in found.outcomes), 0)


def read_inputs(path: Path) -> Inputs:
    """The lines of a file, or of standard input for `-`, read once."""
    from tapeformer.inference.batch import Inputs

    try:
        return Inputs(standard_input() if path == STANDARD_INPUT else path.read_bytes())
    except OSError as error:
        why = f"the inputs cannot be read: {error.strerror or error}"
        raise TapeformerError(Fault(why, Place(str(path)), remedy="one input per line")) from None


def refused(what: str, remedy: str) -> TapeformerError:
    """The error for options that do not go together."""
    return TapeformerError(Fault(what, remedy=remedy))


def _outcomes_text(found: Summary) -> str:
    return ", ".join(f"{count:,} {outcome}" for outcome, count in found.outcomes.items()) or "none"


def fixed_sizes(
    given: Given, options: CompileOptions, inputs: Inputs, spaced: bool
) -> CompileOptions:
    """A batch does not grow: room for the longest line, and the reach that runs first grow to."""
    from tapeformer.constructions.options import check_given

    if given.bundle is not None:
        return options
    check_given(options.levels, options.base, options.space)
    longest = max((line.split() if spaced else line for line in inputs), key=len, default="")
    if grows(options):
        return _with_levels(options, len(longest))
    return options if options.space is None else sized(given.machine, options, longest)


def _with_levels(options: CompileOptions, longest: int) -> CompileOptions:
    """As many levels as the longest line needs, and no fewer than a run has after growing once."""
    from tapeformer.constructions.realtime.layout import fewest_levels
    from tapeformer.inference.grow import more_levels

    base = options.base or 2
    levels = max(fewest_levels(longest, base), more_levels(1, base))
    return replace(options, base=base, levels=levels)
