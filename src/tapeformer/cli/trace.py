"""Traces of a direct simulation: all configurations, or the first and the last screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tapeformer.cli.progress import Watch
from tapeformer.machine.record import TuringMachine
from tapeformer.simulator.fast import simulate
from tapeformer.simulator.result import Configuration
from tapeformer.simulator.stepwise import Stepper

SCREEN = 12


def trace(
    machine: TuringMachine, word: Sequence[str], head: int, steps: int, everything: bool
) -> Iterator[Configuration]:
    """Yield configurations up to a number of steps; of a long run only the first and last ones."""
    stepper = Stepper(machine, word, head)
    whole = everything or steps < 2 * SCREEN
    yield from _up_to(stepper, steps if whole else SCREEN - 1)
    if not whole:
        middle = simulate(machine, word, head=head, max_steps=steps - SCREEN + 1)
        yield from _up_to(Stepper.after(machine, middle), steps)


def _up_to(stepper: Stepper, steps: int) -> Iterator[Configuration]:
    yield stepper.configuration()
    while stepper.steps < steps and stepper.step():
        yield stepper.configuration()


def print_trace(
    machine: TuringMachine, word: Sequence[str], head: int, steps: int, everything: bool
) -> None:
    """Print the trace as drawings; Ctrl-C ends it after a configuration."""
    from tapeformer.drawing.tapes import configuration_text

    expected = 0
    with Watch("configurations") as watch:
        for configuration in trace(machine, word, head, steps, everything):
            if configuration.step > expected:
                left_out = configuration.step - expected
                print(f"... {left_out:,} configurations left out (--all shows them) ...\n")
            print(configuration_text(machine.blank, configuration) + "\n")
            expected = configuration.step + 1
            if watch.interrupted:
                return


def trace_records(
    machine: TuringMachine, word: Sequence[str], head: int, steps: int, everything: bool
) -> list[dict[str, Any]]:
    """Return the trace as plain data."""
    return [
        {
            "step": configuration.step,
            "state": configuration.state,
            "tapes": [machine.spell(tape.content) for tape in configuration.tapes],
            "heads": [tape.head for tape in configuration.tapes],
        }
        for configuration in trace(machine, word, head, steps, everything)
    ]
