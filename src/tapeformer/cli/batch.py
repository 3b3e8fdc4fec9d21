"""`tapeformer run --batch`: a file of inputs, answered many at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import typer

from tapeformer.cli.exits import INTERRUPTED
from tapeformer.cli.models import BUNDLE_LEVELS, Given, bundle_for, grows
from tapeformer.cli.progress import Watch
from tapeformer.compile_options import CompileOptions
from tapeformer.faults import Fault, Place, TapeformerError
from tapeformer.machine.word import parse_word

MOST_TOKENS = 1 << 62


def run_batch(
    given: Given,
    options: CompileOptions,
    inputs: Path,
    answers: Path | None,
    spaced: bool,
    max_steps: int,
    max_tokens: int | None,
) -> None:
    """Answers every line of a file as JSON lines, in order; an interrupted run is gone on with."""
    from tapeformer.batch import BatchOptions, run_file

    words = [parse_word(given.machine, line, spaced) for line in _lines(inputs)]
    bundle = bundle_for(given, _fixed_levels(given, options, words), None)
    out = answers or inputs.with_name(inputs.name + ".answers.jsonl")
    limits = BatchOptions(max_steps, max_tokens or MOST_TOKENS)
    with Watch("inputs", len(words)) as watch:

        def told(done: int) -> None:
            if not watch(done):
                raise KeyboardInterrupt

        def read(line: str) -> tuple[str, ...]:
            return parse_word(given.machine, line, spaced)

        try:
            done = run_file(bundle, inputs, out, limits, read=read, watch=told)
        except KeyboardInterrupt:
            print(f"interrupted: what is answered is in {out}; the same command goes on with it")
            raise typer.Exit(INTERRUPTED) from None
    print(f"{done:,} inputs answered in {out}")


def _lines(inputs: Path) -> list[str]:
    try:
        return inputs.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = f"the inputs cannot be read: {error}"
        raise TapeformerError(Fault(why, Place(str(inputs)), remedy="one input per line")) from None


def _fixed_levels(
    given: Given, options: CompileOptions, words: Sequence[Sequence[str]]
) -> CompileOptions:
    """A batch does not grow: enough levels for every prompt, and as many as a bundle has."""
    if given.bundle is not None or not grows(options):
        return options
    from tapeformer.constructions.realtime.layout import fewest_levels

    base = options.base or 2
    needed = fewest_levels(max(map(len, words), default=0), base)
    return replace(options, base=base, levels=max(needed, BUNDLE_LEVELS if base == 2 else 0))
