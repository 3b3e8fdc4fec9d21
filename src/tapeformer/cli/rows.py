"""`run` and `verify` with a row of the laboratory instead of a compiled construction."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tapeformer.cli.exits import INTERRUPTED, OF_OUTCOME
from tapeformer.cli.options import reading, word_of_file
from tapeformer.cli.output import opened, print_json
from tapeformer.cli.progress import HOW_TO_STOP, Watch
from tapeformer.faults import Fault, TapeformerError, counted
from tapeformer.machine.word import parse_word
from tapeformer.sources import find_machine

if TYPE_CHECKING:
    from tapeformer.laboratory.answer import RowAnswer, RowRun, See
    from tapeformer.laboratory.row import Row
    from tapeformer.machine.record import TuringMachine

DIFFERENCE = 1
Precision = Annotated[
    str | None,
    typer.Option(
        "--precision",
        help="For a row of table1 (--construction perez, ...): bits of the mantissa, half, single,"
        " double or exact.",
    ),
]
Command = Callable[..., Any]


def or_row(
    row_command: Callable[[Row, str | None, dict[str, Any]], None],
) -> Callable[[Command], Command]:
    """Let a command take rows of the laboratory too: they run without being compiled."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def wrapper(precision: str | None = None, **given: Any) -> Any:
            from tapeformer.laboratory.runnable import find_runnable

            found = find_runnable(given.get("construction"))
            if found.row is not None:
                limit = given["max_steps"]
                asked = {**given, "max_steps": None if limit == defaults["max_steps"] else limit}
                refuse_others(found.row, given, defaults)
                return row_command(found.row, precision, asked)
            if precision is not None:
                what = f"{found.name} has no --precision: its sums are exact integers"
                raise TapeformerError(Fault(what, remedy="use --dtype, or a row of the laboratory"))
            return command(**{**given, "construction": found.construction})

        parameters = list(inspect.signature(command).parameters.values())
        defaults = {p.name: p.default for p in parameters}
        own = inspect.Parameter(
            "precision", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Precision
        )
        wrapper.__signature__ = inspect.Signature([*parameters, own])  # type: ignore[attr-defined]
        wrapper.__annotations__ = {p.name: p.annotation for p in (*parameters, own)}
        return wrapper

    return decorate


def _machine(name: str, given: dict[str, Any]) -> TuringMachine:
    asked = reading(**{key: given[key] for key in READING})
    return find_machine(name, asked.format_name, asked.conventions)


READING = tuple(inspect.signature(reading).parameters)
TAKEN = {
    *("model", "machine", "construction", "word", "words", "spaced", "file_input"),
    *("max_steps", "max_tokens", "trace", "show", "as_json", *READING),
}
"""What a row takes of a command's arguments and options."""


def refuse_others(row: Row, given: dict[str, Any], defaults: dict[str, Any]) -> None:
    """Refuse options of compiled models, rather than leave them out silently."""
    for name, value in given.items():
        if name not in TAKEN and value != defaults[name]:
            option = f"--{name.replace('_', '-')}"
            raise TapeformerError(
                Fault(
                    f"{row.name} has no {option}: a row of the laboratory is not compiled",
                    expected="--precision, --max-steps, --trace, --show or --json",
                    remedy=f"leave out {option}, or use --construction realtime, paper or post",
                )
            )


def run_row_command(row: Row, precision: str | None, given: dict[str, Any]) -> None:
    """Run a row on a word, tell the answer, and where it went wrong."""
    from tapeformer.laboratory.answer import RowRun

    machine = _machine(given["model"], given)
    text, spaced = given["word"], given["spaced"]
    word = word_of_file(machine, text) if given["file_input"] else parse_word(machine, text, spaced)
    run = RowRun(row, machine, word, precision, given["max_steps"])
    with ExitStack() as stack:
        watch = stack.enter_context(Watch("tokens", hint=HOW_TO_STOP))
        seen: list[See] = []
        if given["show"] and not given["as_json"]:
            seen.append(_show)
        if given["trace"] is not None:
            seen.append(_writer(stack.enter_context(opened(given["trace"]))))
        seen.append(_limit(watch, given["max_tokens"]))
        answer = run.answer(lambda one, tokens: all(see(one, tokens) for see in seen))
    if given["as_json"]:
        print_json(_record(machine.spell(word), answer))
    else:
        print(_text(answer, watch.interrupted))
    failed = DIFFERENCE if answer.wrong else OF_OUTCOME[answer.outcome]
    raise typer.Exit(INTERRUPTED if watch.interrupted else failed)


def _limit(watch: Watch, most: int | None) -> See:
    return lambda _, tokens: watch(len(tokens)) and (most is None or len(tokens) < most)


def _writer(file: Any) -> See:
    """Write tokens as lists of their factors, so that traces compare byte by byte."""
    from tapeformer.inference.records import token_line
    from tapeformer.laboratory.diagnosis import factors_of

    def write(_: RowRun, tokens: Sequence[Any]) -> bool:
        file.write(f"{token_line(factors_of(tokens[-1]))}\n")
        return True

    return write


def _show(run: RowRun, tokens: Sequence[Any]) -> bool:
    """Print a token, and the configuration where it completes a step."""
    from tapeformer.drawing.tapes import tape_lines
    from tapeformer.laboratory.diagnosis import spelled

    steps, before = run.experiment.read(tokens), len(run.experiment.read(tokens[:-1]))
    print(f"token {len(tokens)}: {spelled(tokens[-1])}")
    if len(steps) > before:
        own = len(steps) - run.task.prefix
        print(f"  step {own}, state {steps[-1][0]}" if own > 0 else "  before the first step")
        print("\n".join(tape_lines(run.task.source.blank, run.tapes(steps))))
    return True


def _record(text: str, answer: RowAnswer) -> dict[str, Any]:
    """Describe an answer with the keys of a compiled model's; None where a row has no such thing."""
    shape, wrong, made = answer.shape, answer.wrong, answer.made
    return {
        "input": text,
        "machine": answer.machine.name,
        "construction": answer.row.name,
        **dict.fromkeys(("levels", "base", "capacity")),
        "window": made.window,
        "offsets": [],
        "attention_heads": shape.attention_heads,
        "layers": len(shape.heads),
        "ff_depth": shape.ff_depth,
        "d_model": shape.dimension,
        "parameters": shape.parameters,
        "nonzero_parameters": shape.nonzero_parameters,
        "parameter_bits": shape.parameter_bits,
        "engine": "laboratory",
        "precision": answer.precision,
        "outcome": answer.outcome.value,
        "state": answer.state,
        "steps": answer.steps,
        "tapes": [answer.machine.spell(tape.content) for tape in answer.tapes],
        "heads": [tape.head for tape in answer.tapes],
        "prompt_tokens": made.prompt,
        "boot_tokens": answer.boot,
        "cot_tokens": len(made.tokens),
        "margin": made.margin if isfinite(made.margin) else None,
        "first_wrong": None if wrong is None else wrong.step,
        "reason": answer.note if wrong is None else wrong.reason,
        "seconds": round(answer.seconds, 6),
        "tokens_per_second": round(len(made.tokens) / max(answer.seconds, 1e-9), 1),
    }


def _text(answer: RowAnswer, interrupted: bool) -> str:
    from tapeformer.drawing.tapes import outcome_word, tape_lines

    row, shape = answer.row, answer.shape
    lines = [
        f"{answer.machine.name}: {row.title} ({row.provenance}), {answer.precision}",
        f"  {counted(shape.attention_heads, 'attention head')} in {counted(len(shape.heads), 'layer')},"
        f" d_model {shape.dimension:,}, {shape.nonzero_parameters:,} parameters not zero",
        f"{outcome_word(answer.outcome, interrupted)} in state {answer.state} after"
        f" {counted(answer.steps, 'step')}, {counted(len(answer.made.tokens), 'token')}"
        f" ({answer.seconds:.2f} s)",
        *tape_lines(answer.machine.blank, answer.tapes),
    ]
    if answer.wrong is not None:
        lines.append(f"WRONG from step {answer.wrong.step} on: {answer.wrong.reason}")
    return "\n".join([*lines, answer.note] if answer.note else lines)


def verify_row_command(row: Row, precision: str | None, given: dict[str, Any]) -> None:
    """Compare every token of a row on words with the direct simulation."""
    from tapeformer.laboratory.answer import RowRun

    machine = _machine(given["model"], given)
    words = [parse_word(machine, text, given["spaced"]) for text in given["words"] or []]
    records = []
    for word in words or [case.word for case in machine.cases] or [()]:
        run = RowRun(row, machine, word, precision, given["max_steps"])
        wrong = run.compared()
        reason = None if wrong is None else f"step {wrong.step}: {wrong.reason}"
        records.append(
            {
                "input": machine.spell(word),
                "agreed": wrong is None,
                "tokens": run.experiment.lengths().tokens,
                "steps": run.steps,
                "difference": reason,
            }
        )
    if given["as_json"]:
        print_json({"machine": machine.name, "construction": row.name, "words": records})
    else:
        print("\n".join(map(_line, records)))
    raise typer.Exit(0 if all(one["agreed"] for one in records) else DIFFERENCE)


def _line(one: dict[str, Any]) -> str:
    if not one["agreed"]:
        return f"{one['input']!r}: DIFFERENT {one['difference']}"
    tokens, steps = counted(one["tokens"], "token"), counted(one["steps"], "step")
    return f"{one['input']!r}: {tokens} and {steps} agree"
