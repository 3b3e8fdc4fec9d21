"""`run` and `verify` with a row of the laboratory instead of a compiled construction."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tapeformer.cli.exits import OF_OUTCOME
from tapeformer.cli.options import reading
from tapeformer.cli.output import print_json
from tapeformer.faults import Fault, TapeformerError, counted
from tapeformer.machine.word import parse_word
from tapeformer.sources import find_machine

if TYPE_CHECKING:
    from tapeformer.laboratory.answer import RowAnswer
    from tapeformer.laboratory.row import Row
    from tapeformer.machine.record import TuringMachine

DIFFERENCE = 1
NO_LIMIT = 10**9
Precision = Annotated[
    str | None,
    typer.Option(
        "--precision",
        help="For a row of the laboratory: bits of the mantissa, half, single, double or exact.",
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
                return row_command(found.row, precision, given)
            if precision is not None:
                what = f"{found.name} has no --precision: its sums are exact integers"
                raise TapeformerError(Fault(what, remedy="use --dtype, or a row of the laboratory"))
            return command(**{**given, "construction": found.construction})

        parameters = list(inspect.signature(command).parameters.values())
        own = inspect.Parameter(
            "precision", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Precision
        )
        wrapper.__signature__ = inspect.Signature([*parameters, own])  # type: ignore[attr-defined]
        wrapper.__annotations__ = {p.name: p.annotation for p in (*parameters, own)}
        return wrapper

    return decorate


def _machine(name: str, given: dict[str, Any]) -> TuringMachine:
    asked = reading(**{key: given[key] for key in inspect.signature(reading).parameters})
    return find_machine(name, asked.format_name, asked.conventions)


def run_row_command(row: Row, precision: str | None, given: dict[str, Any]) -> None:
    """Run a row on a word, tell the answer, and where it went wrong."""
    from tapeformer.laboratory.answer import MOST_STEPS, run_row

    machine = _machine(given["model"], given)
    word = parse_word(machine, given["word"], given["spaced"])
    most = MOST_STEPS if given["max_steps"] == NO_LIMIT else given["max_steps"]
    answer = run_row(row, machine, word, precision, most)
    if given["as_json"]:
        print_json(_record(given["word"], answer))
    else:
        print(_text(answer))
    raise typer.Exit(DIFFERENCE if answer.wrong else OF_OUTCOME[answer.outcome])


def _record(text: str, answer: RowAnswer) -> dict[str, Any]:
    shape, wrong = answer.shape, answer.wrong
    return {
        "input": text,
        "machine": answer.machine.name,
        "construction": answer.row.name,
        "precision": answer.precision,
        "outcome": answer.outcome.value,
        "state": answer.state,
        "steps": answer.steps,
        "tapes": [answer.machine.spell(tape.content) for tape in answer.tapes],
        "heads": [tape.head for tape in answer.tapes],
        "d_model": shape.dimension,
        "attention_heads": shape.attention_heads,
        "layers": len(shape.heads),
        "nonzero_parameters": shape.parameters,
        "parameter_bits": shape.parameter_bits,
        "first_wrong": None if wrong is None else wrong.step,
        "reason": "" if wrong is None else wrong.reason,
        "seconds": round(answer.seconds, 6),
    }


def _text(answer: RowAnswer) -> str:
    from tapeformer.drawing.tapes import outcome_word, tape_lines

    row, shape = answer.row, answer.shape
    lines = [
        f"{answer.machine.name}: {row.title} ({row.provenance}), {answer.precision}",
        f"  {counted(shape.attention_heads, 'attention head')} in {counted(len(shape.heads), 'layer')},"
        f" d_model {shape.dimension:,}, {shape.parameters:,} parameters not zero",
        f"{outcome_word(answer.outcome, False)} in state {answer.state} after"
        f" {counted(answer.steps, 'step')} ({answer.seconds:.2f} s)",
        *tape_lines(answer.machine.blank, answer.tapes),
    ]
    if answer.wrong is not None:
        lines.append(f"WRONG from step {answer.wrong.step} on: {answer.wrong.reason}")
    return "\n".join(lines)


def verify_row_command(row: Row, precision: str | None, given: dict[str, Any]) -> None:
    """Compare every token of a row on words with the direct simulation."""
    from tapeformer.laboratory.answer import verify_row

    machine = _machine(given["machine"], given)
    words = [parse_word(machine, text, given["spaced"]) for text in given["words"] or []]
    records = []
    for word in words or [case.word for case in machine.cases] or [()]:
        steps, wrong = verify_row(row, machine, word, precision, given["max_steps"])
        reason = None if wrong is None else f"step {wrong.step}: {wrong.reason}"
        records.append({"input": machine.spell(word), "agreed": wrong is None, "steps": steps, "difference": reason})  # fmt: skip
    if given["as_json"]:
        print_json({"machine": machine.name, "construction": row.name, "words": records})
    else:
        for one in records:
            told = (
                f"{one['steps']} steps agree" if one["agreed"] else f"DIFFERENT {one['difference']}"
            )
            print(f"{one['input']!r}: {told}")
    raise typer.Exit(0 if all(one["agreed"] for one in records) else DIFFERENCE)
