"""`tapeformer run`: the chain of thought of a compiled machine, and its answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tapeformer.cli import options as shared
from tapeformer.cli.batch import Asked, check_alone, reads_once, refused, run_batch
from tapeformer.cli.exits import INTERRUPTED, OF_OUTCOME
from tapeformer.cli.models import (
    MODIFIED_TOKENS,
    EngineName,
    Given,
    bundle_for,
    compile_options,
    engine_variant,
    grows,
    read_given,
)
from tapeformer.cli.options import provides
from tapeformer.cli.output import opened, print_json
from tapeformer.cli.progress import Watch
from tapeformer.compile.options import CompileOptions
from tapeformer.machine.word import parse_word

if TYPE_CHECKING:
    from tapeformer.bundle.record import Bundle

MaxSteps = Annotated[
    int, typer.Option("--max-steps", min=0, help="Stop after this many steps (status 3).")
]
MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", min=1, help="Stop after this many tokens (status 3).")
]
TraceFile = Annotated[
    Path | None,
    typer.Option("--trace", help="Write every generated token to this file, one JSON list a line."),
]
BatchFile = Annotated[
    Path | None,
    typer.Option(
        "--batch", help="Answer every line of this file (- is standard input), many at once."
    ),
]
Answers = Annotated[
    Path | None,
    typer.Option(
        "--answers", help="Where a batch's JSON lines go; FILE.answers.jsonl if left out."
    ),
]


@reads_once
@provides(given=read_given, options=compile_options, variant=engine_variant)
def run(
    given: Given,
    options: CompileOptions,
    variant: dict[str, str | float],
    word: shared.Word = "",
    spaced: shared.Spaced = False,
    engine: EngineName = "auto",
    max_steps: MaxSteps = 10**9,
    max_tokens: MaxTokens = None,
    trace: TraceFile = None,
    batch: BatchFile = None,
    answers: Answers = None,
    as_json: shared.Json = False,
) -> None:
    """Compile if needed, generate the chain of thought, decode the answer."""
    if batch is not None:
        check_alone(word, engine, trace, variant)
        asked = Asked(batch, answers, spaced, max_steps, max_tokens, as_json)
        run_batch(given, options, asked)
    if answers is not None:
        raise refused("--answers was given without --batch", "leave it out, or give both")
    from tapeformer.cli.records import model_text
    from tapeformer.engines.registry import engine_name
    from tapeformer.inference.records import answer_record, model_record, speed_record
    from tapeformer.inference.run import generate

    symbols = parse_word(given.machine, word, spaced)
    name = engine_name(engine)
    bundle = bundle_for(given, options, symbols)
    if bundle.modified and max_tokens is None:
        max_tokens = MODIFIED_TOKENS
    with ExitStack() as stack:
        watch = stack.enter_context(Watch("tokens"))
        see = None if trace is None else _writer(stack.enter_context(opened(trace)))
        answer = generate(
            bundle,
            symbols,
            engine=name,
            variant=variant,
            max_steps=max_steps,
            max_tokens=max_tokens,
            watch=watch,
            see=see,
            grow=_grow(given, options),
        )
    if as_json:
        record = answer_record(given.machine, word, answer, model_record(answer.bundle))
        print_json({**record, **speed_record(answer)})
    else:
        print(model_text(answer.bundle))
        _print_answer(given, answer, watch.interrupted)
    raise typer.Exit(INTERRUPTED if watch.interrupted else OF_OUTCOME[answer.outcome])


def _grow(given: Given, options: CompileOptions) -> Callable[[Bundle], Bundle] | None:
    """How a model gets more levels, where it may."""
    if given.bundle is not None or not grows(options):
        return None
    from tapeformer.compile.passes import compile_machine
    from tapeformer.inference.grow import more_levels

    def larger(bundle: Bundle) -> Bundle:
        base = bundle.layout.base
        levels = more_levels(bundle.layout.levels, base)
        return compile_machine(given.machine, replace(options, levels=levels, base=base))

    return larger


def _writer(file: Any) -> Any:
    """Writes tokens as lists of their factors, nothing else, so that traces compare byte by byte."""

    def write(rows: Any, reader: Any) -> None:
        for row in rows.tolist():
            file.write(json.dumps(reader.words(row), ensure_ascii=False, separators=(",", ":")))
            file.write("\n")

    return write


def _print_answer(given: Given, answer: Any, interrupted: bool) -> None:
    from tapeformer.drawing.tapes import outcome_word, tape_lines

    per_step = answer.cot_tokens / max(answer.steps, 1)
    print(
        f"{outcome_word(answer.outcome, interrupted)} in state {answer.state} after {answer.steps:,}"
        f" steps: {answer.cot_tokens:,} tokens ({answer.boot_tokens:,} to boot,"
        f" {per_step:.2f} a step in all), {answer.cot_tokens / max(answer.seconds, 1e-9):,.0f}"
        f" tokens a second, smallest logit margin {answer.margin:g}"
    )
    print("\n".join(tape_lines(given.machine, answer.tapes)))
