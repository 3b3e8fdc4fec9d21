"""`tapeformer run`: the chain of thought of a compiled machine, and its answer."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tapeformer.cli import options as shared
from tapeformer.cli.batch import (
    Asked,
    check_alone,
    reads_once,
    refuse_without_batch,
    refused,
    run_batch,
)
from tapeformer.cli.batch_machines import or_machines
from tapeformer.cli.exits import INTERRUPTED, OF_OUTCOME
from tapeformer.cli.models import EngineName, find_model
from tapeformer.cli.options import provides
from tapeformer.cli.output import opened, print_json
from tapeformer.cli.progress import HOW_TO_RESUME, HOW_TO_STOP, Watch
from tapeformer.cli.rows import or_row, run_row_command

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tapeformer.inference.answer import Answer
    from tapeformer.inference.generation import Generation
    from tapeformer.inference.model import Model
    from tapeformer.inference.options import RunOptions
    from tapeformer.inference.run import See


class TraceFormat(StrEnum):
    """How a token is written to a trace."""

    LIST = "list"
    NAMED = "named"


Dtype = Annotated[
    str | None,
    typer.Option(
        "--dtype",
        help="float64, float32, integer (sparse), float16 or bfloat16 (dense); the same tokens, or a refusal.",
    ),
]
Attention = Annotated[
    str | None,
    typer.Option(
        "--attention",
        help="leftmost, rightmost or (dense) averaging hardmax, or softmax; the same tokens in all.",
    ),
]
Temperature = Annotated[
    float | None, typer.Option("--temperature", help="Of the softmax (dense engine).")
]
Position = Annotated[
    str | None,
    typer.Option("--position", help="Positional term inside the key, or as a bias (dense engine)."),
]
MaxSteps = Annotated[
    int, typer.Option("--max-steps", min=0, help="Stop after this many steps (status 3).")
]
MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", min=1, help="Stop after this many tokens (status 3).")
]
CheckpointFile = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        help="Keep the run in this file; the same machine, input and sizes again resume it.",
    ),
]
TraceFile = Annotated[
    Path | None,
    typer.Option("--trace", help="Write every generated token to this file, one JSON line each."),
]
TraceFormatOption = Annotated[
    TraceFormat,
    typer.Option("--trace-format", help="A list of the token's factors, or an object by name."),
]
Show = Annotated[
    bool,
    typer.Option("--show", help="Print every token decoded: tapes, queues and registers."),
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
        "--answers",
        help="Where JSON lines go (--batch, --machines); FILE.answers.jsonl if left out.",
    ),
]


def run_options(
    spaced: shared.Spaced = False,
    engine: EngineName = "auto",
    dtype: Dtype = None,
    attention: Attention = None,
    temperature: Temperature = None,
    position: Position = None,
    max_steps: MaxSteps = 10**9,
    max_tokens: MaxTokens = None,
    checkpoint: CheckpointFile = None,
) -> RunOptions:
    """Make a record from the options on running."""
    from tapeformer.inference.options import RunOptions, checked

    return checked(
        RunOptions(
            engine=engine,
            dtype=dtype,
            attention=attention,
            temperature=temperature,
            position=position,
            max_steps=max_steps,
            max_tokens=max_tokens,
            spaced=spaced,
            checkpoint=checkpoint,
        )
    )


@or_machines(run_options)
@or_row(run_row_command)
@reads_once
@provides(model=find_model, options=run_options)
def run(
    model: Model,
    options: RunOptions,
    word: shared.Word = "",
    file_input: shared.FileInput = False,
    trace: TraceFile = None,
    trace_format: TraceFormatOption = TraceFormat.LIST,
    show: Show = False,
    batch: BatchFile = None,
    answers: Answers = None,
    jobs: shared.Jobs = None,
    cluster: shared.Cluster = None,
    as_json: shared.Json = False,
) -> None:
    """Run a machine as a Transformer, and decode its answer.

    Compiles if needed and generates the chain of thought. With --batch FILE it answers every line
    of a file, with --machines FILE it runs every machine that a file names; both write JSON lines,
    and the same command resumes what was stopped. The exit status tells the outcome: 0 accepted or
    halted, 1 rejected, 2 bad input, 3 limit reached, 4 out of space.
    """
    if batch is not None:
        check_alone(word, options, trace, show or file_input)
        run_batch(model, options, Asked(batch, answers, as_json, jobs, cluster))
    refuse_without_batch({"--answers": answers, "--jobs": jobs, "--cluster": cluster})
    if options.checkpoint is not None and (trace is not None or show):
        raise refused("a resumed run shows no earlier tokens", "leave out --trace and --show")
    from tapeformer.inference.run import run_model

    options = replace(options, compile=model.options)
    symbols = _symbols(model, word, options.spaced, file_input)
    with ExitStack() as stack:
        watch = stack.enter_context(Watch("tokens", hint=_hint(options)))
        see = None
        if trace is not None:
            see = _writer(stack.enter_context(opened(trace)), trace_format)
        if show and not as_json:
            answer = _shown(model, symbols, options, watch, see)
        else:
            answer = run_model(model, symbols, options, watch, see)
    text = model.machine.spell(symbols) if file_input else word
    _tell(answer, text, as_json, watch.interrupted)
    raise typer.Exit(INTERRUPTED if watch.interrupted else OF_OUTCOME[answer.outcome])


def _hint(options: RunOptions) -> str:
    """Say how a run that may never halt is stopped and, without a checkpoint, how it is resumed."""
    return HOW_TO_STOP + ("" if options.checkpoint else HOW_TO_RESUME)


def _symbols(model: Model, word: str, spaced: bool, file_input: bool) -> tuple[str, ...]:
    """Return the word on tape 1, from INPUT or from the machine's file."""
    if file_input:
        return shared.word_of_file(model.machine, word)
    from tapeformer.inference.model import symbols_of

    return symbols_of(model, word, spaced)


def _shown(
    model: Model, word: tuple[str, ...], options: RunOptions, watch: Watch, see: See | None
) -> Answer:
    """Run a model and print each of its tokens."""
    from tapeformer.cli.chain import token_text
    from tapeformer.inference.run import limits_for, started
    from tapeformer.inference.stream import tokens_of

    generation, _ = started(model, word, options)
    begun = time.perf_counter()
    for token in tokens_of(generation, limits_for(generation, options)):
        print(token_text(token) + "\n")
        if see is not None:
            see(token.piece.rows[token.index : token.index + 1], generation)
        if not watch(token.number):
            break
    return generation.answer(time.perf_counter() - begun)


def _writer(file: Any, kind: TraceFormat) -> See:
    """Write tokens as lists of their factors, so that traces compare byte by byte, or by name."""

    from tapeformer.inference.records import token_line

    def write(rows: NDArray[np.int32], run: Generation) -> None:
        read = run.reader.words if kind is TraceFormat.LIST else run.reader.named
        file.writelines(f"{token_line(read(row))}\n" for row in rows.tolist())

    return write


def _tell(answer: Answer, text: str, as_json: bool, interrupted: bool) -> None:
    from tapeformer.cli.records import answer_text, model_text
    from tapeformer.inference.records import answer_record, model_record, speed_record

    if as_json:
        record = answer_record(text, answer, model_record(answer.bundle))
        print_json({**record, **speed_record(answer)})
        return
    print(model_text(answer.bundle))
    print(answer_text(answer, interrupted))
