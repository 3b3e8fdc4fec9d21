"""`tapeformer run --batch`: a file of inputs, answered many at once."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from tapeformer.cli.exits import BAD_INPUT, INTERRUPTED, OF_OUTCOME
from tapeformer.cli.models import BUNDLE_LEVELS, MODIFIED_TOKENS, Given, bundle_for, grows
from tapeformer.cli.output import print_json
from tapeformer.cli.progress import Watch
from tapeformer.compile_options import CompileOptions
from tapeformer.faults import Fault, Place, TapeformerError
from tapeformer.simulator.result import Outcome

if TYPE_CHECKING:
    from tapeformer.batch import Inputs, Summary

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
            raise _refused("the answers to standard input have no name", "give them with --answers")
        return self.inputs.with_name(self.inputs.name + ".answers.jsonl")


def check_alone(
    word: str, engine: str, trace: Path | None, variant: Mapping[str, str | float]
) -> None:
    """Refuses what a batch cannot heed, rather than to leave it out silently."""
    if word:
        raise _refused("an input was given beside --batch", "put it into the file as a line")
    if trace is not None:
        raise _refused("a batch shows no tokens", "leave out --trace, or run one input alone")
    if engine not in ENGINES or variant:
        raise _refused("a batch runs as machine code", "leave out the options on the engine")


def run_batch(given: Given, options: CompileOptions, asked: Asked) -> NoReturn:
    """Answers every line of a file as JSON lines, in order; an interrupted run is gone on with."""
    from tapeformer.batch import BatchModel, BatchOptions, run_file

    out, inputs = asked.out(), read_inputs(asked.inputs)
    bundle = bundle_for(given, _fixed_levels(given, options, inputs, asked.spaced), None)
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
    from tapeformer.batch.workers import ERROR

    if ERROR in found.outcomes:
        return BAD_INPUT
    missing = (Outcome.LIMIT, Outcome.OUT_OF_SPACE)
    return next((OF_OUTCOME[kind] for kind in missing if kind.value in found.outcomes), 0)


def read_inputs(path: Path) -> Inputs:
    """The lines of a file, or of standard input for `-`, read once."""
    from tapeformer.batch import Inputs

    try:
        standard = path == STANDARD_INPUT
        return Inputs(sys.stdin.buffer.read() if standard else path.read_bytes())
    except OSError as error:
        why = f"the inputs cannot be read: {error.strerror or error}"
        raise TapeformerError(Fault(why, Place(str(path)), remedy="one input per line")) from None


def _refused(what: str, remedy: str) -> TapeformerError:
    return TapeformerError(Fault(what, remedy=remedy))


def _outcomes_text(found: Summary) -> str:
    return ", ".join(f"{count:,} {outcome}" for outcome, count in found.outcomes.items()) or "none"


def _fixed_levels(
    given: Given, options: CompileOptions, inputs: Inputs, spaced: bool
) -> CompileOptions:
    """A batch does not grow: enough levels for every prompt, and as many as a bundle has."""
    if given.bundle is not None or not grows(options):
        return options
    from tapeformer.constructions.realtime.layout import fewest_levels

    base = options.base or 2
    longest = max((len(line.split() if spaced else line) for line in inputs), default=0)
    needed = fewest_levels(longest, base)
    return replace(options, base=base, levels=max(needed, BUNDLE_LEVELS if base == 2 else 0))
