"""Traces of a direct simulation: all configurations, or the first and the last screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tapeformer.machine.record import TuringMachine
from tapeformer.simulator.result import Configuration
from tapeformer.simulator.stepwise import Stepper

SCREEN = 12


def trace(
    machine: TuringMachine, word: Sequence[str], head: int, steps: int, everything: bool
) -> Iterator[Configuration]:
    """Configurations up to a number of steps; of a long run only the first and last ones."""
    stepper = Stepper(machine, word, head)
    while True:
        if everything or stepper.steps < SCREEN or stepper.steps > steps - SCREEN:
            yield stepper.configuration()
        if stepper.steps >= steps or not stepper.step():
            return


def print_trace(
    machine: TuringMachine, word: Sequence[str], head: int, steps: int, everything: bool
) -> None:
    """The trace as drawings."""
    from tapeformer.drawing.tapes import configuration_text

    expected = 0
    for configuration in trace(machine, word, head, steps, everything):
        if configuration.step > expected:
            left_out = configuration.step - expected
            print(f"... {left_out:,} configurations left out (--all shows them) ...\n")
        print(configuration_text(machine, configuration) + "\n")
        expected = configuration.step + 1


def trace_records(
    machine: TuringMachine, word: Sequence[str], head: int, steps: int, everything: bool
) -> list[dict[str, Any]]:
    """The trace as plain data."""
    return [
        {
            "step": configuration.step,
            "state": configuration.state,
            "tapes": [machine.spell(tape.content) for tape in configuration.tapes],
            "heads": [tape.head for tape in configuration.tapes],
        }
        for configuration in trace(machine, word, head, steps, everything)
    ]
