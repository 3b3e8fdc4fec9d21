"""`tapeformer simulate`: run a machine directly."""

from __future__ import annotations

import sys
import time
from typing import Annotated, Any

import typer

from tapeformer.cli import options
from tapeformer.cli.exits import INTERRUPTED, OF_OUTCOME
from tapeformer.cli.options import takes_machine
from tapeformer.cli.output import print_json
from tapeformer.cli.progress import Watch
from tapeformer.cli.trace import print_trace, trace_records
from tapeformer.faults import counted
from tapeformer.formats import morphett
from tapeformer.machine.record import TuringMachine
from tapeformer.machine.word import parse_word
from tapeformer.simulator.fast import MOST_CELLS, MOST_STEPS
from tapeformer.simulator.outcome import Outcome
from tapeformer.simulator.result import Result

MaxSteps = Annotated[
    int, typer.Option("--max-steps", min=0, help="Stop after this many steps (status 3).")
]
MaxCells = Annotated[
    int,
    typer.Option("--max-cells", min=1, help="Stop when this many cells were visited (status 4)."),
]
Trace = Annotated[
    bool,
    typer.Option("--trace", help="Draw the tapes step by step: the first and the last screen."),
]


@takes_machine
def simulate(
    machine: TuringMachine,
    word: options.Word = "",
    spaced: options.Spaced = False,
    file_input: options.FileInput = False,
    max_steps: MaxSteps = MOST_STEPS,
    max_cells: MaxCells = MOST_CELLS,
    trace: Trace = False,
    everything: options.Everything = False,
    as_json: options.Json = False,
) -> None:
    """Run a machine directly.

    The exit status tells the outcome: 0 accepted or halted, 1 rejected, 3 step limit, 4 out of space.
    """
    from tapeformer.simulator.fast import simulate as run

    word_in, head = _word(machine, word, spaced, file_input)
    started = time.perf_counter()
    with Watch("steps", max_steps) as watch:
        result = run(
            machine, word_in, head=head, max_steps=max_steps, max_cells=max_cells, watch=watch
        )
    seconds = time.perf_counter() - started
    record = result_record(machine, result, seconds)
    if watch.interrupted:
        record["interrupted"] = True
    trace = trace and not watch.interrupted
    if as_json:
        if trace:
            record["trace"] = trace_records(machine, word_in, head, result.steps, everything)
        print_json(record)
    else:
        if trace:
            print_trace(machine, word_in, head, result.steps, everything)
        _print_result(machine, result, seconds, watch.interrupted)
    raise typer.Exit(INTERRUPTED if watch.interrupted else OF_OUTCOME[result.outcome])


def _word(
    machine: TuringMachine, text: str, spaced: bool, file_input: bool
) -> tuple[tuple[str, ...], int]:
    """Return the word on tape 1 and the head's first place, from INPUT or from the machine's file."""
    if file_input:
        return options.word_of_file(machine, text), 0
    head = 0
    if machine.origin == morphett.NAME and not spaced:
        text, head = morphett.typed_tape(text)
    return parse_word(machine, text, spaced), head


def result_record(machine: TuringMachine, result: Result, seconds: float) -> dict[str, Any]:
    """Return what `simulate --json` prints."""
    return {
        "machine": machine.name,
        "outcome": result.outcome.value,
        "state": result.state,
        "steps": result.steps,
        "tapes": [machine.spell(tape.content) for tape in result.tapes],
        "heads": [tape.head for tape in result.tapes],
        "space": result.space,
        "cells": list(result.cells),
        "non_blank": [sum(s != machine.blank for s in tape.content) for tape in result.tapes],
        "seconds": round(seconds, 6),
    }


def _print_result(
    machine: TuringMachine, result: Result, seconds: float, interrupted: bool
) -> None:
    from tapeformer.drawing.tapes import outcome_word, tape_lines

    print(
        f"{machine.name}: {outcome_word(result.outcome, interrupted)} in state {result.state} after "
        f"{counted(result.steps, 'step')} on {counted(result.space, 'cell')} ({seconds:.2f} s)"
    )
    print("\n".join(tape_lines(machine.blank, result.tapes)))
    if result.outcome is Outcome.LIMIT and not interrupted:
        print("not an answer: raise --max-steps to go on", file=sys.stderr)
