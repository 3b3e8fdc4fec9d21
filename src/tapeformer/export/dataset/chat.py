"""A chain of thought that people and language models can read: one line for each step."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from tapeformer.machine.record import TuringMachine
from tapeformer.simulator.stepwise import Stepper


def chat_line(machine: TuringMachine, word: Sequence[str], max_steps: int) -> str:
    """Return one JSON line: the machine, the input, and the steps to the answer."""
    messages = [
        {"role": "system", "content": _task(machine)},
        {"role": "user", "content": machine.spell(word)},
        {"role": "assistant", "content": "\n".join(_steps(machine, word, max_steps))},
    ]
    return json.dumps({"messages": messages}, ensure_ascii=False)


def _task(machine: TuringMachine) -> str:
    about = f" {machine.description}" if machine.description else ""
    return (
        f"Run the Turing machine {machine.name} on the input.{about} Write one line for each step:"
        " the state, each tape with [ ] around the cell under its head, and after -> what is"
        f" written and where the head moves. The blank is {machine.blank}."
    )


def _steps(machine: TuringMachine, word: Sequence[str], max_steps: int) -> Iterator[str]:
    stepper = Stepper(machine, word)
    while stepper.steps < max_steps and (rule := stepper.rule()) is not None:
        actions = ", ".join(
            f"{symbol} {move.letter}" for symbol, move in zip(rule.write, rule.moves, strict=True)
        )
        yield f"{_configuration(stepper)} -> {actions}"
        stepper.step()
    yield _configuration(stepper)
    end = stepper.configuration().outcome
    yield f"Answer: {'limit' if end is None else end.value}"


def _configuration(stepper: Stepper) -> str:
    tapes = (
        _tape(stepper.machine, cells, head)
        for cells, head in zip(stepper.cells, stepper.heads, strict=True)
    )
    return f"{stepper.state}: {' | '.join(tapes)}"


def _tape(machine: TuringMachine, cells: dict[int, str], head: int) -> str:
    """Spell a tape from its first to its last cell that is not blank, or to its head."""
    used = [place for place, symbol in cells.items() if symbol != machine.blank]
    first, last = min(used, default=head), max(used, default=head)
    places = range(min(first, head), max(last, head) + 1)
    symbols = [cells.get(place, machine.blank) for place in places]
    at = head - places.start
    return machine.spell([*symbols[:at], f"[{symbols[at]}]", *symbols[at + 1 :]])
