"""Traces that are summarised: the rewriting rule, the short trace, and the contexts between rewritings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeformer.laboratory.experiment import Context
from tapeformer.laboratory.preparation import STOP, StepMade

if TYPE_CHECKING:
    from tapeformer.laboratory.row import Task

CALL, SEP, RETURN = "[CALL]", "[SEP]", "[RETURN]"


def reduced(context: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Rewrite C [CALL] T [SEP] A [RETURN] to C A; None where the context does not end with [RETURN]."""
    if context[-1] != RETURN:
        return None
    separator = max(place for place, token in enumerate(context) if token == SEP)
    call = max(place for place in range(separator) if context[place] == CALL)
    return context[:call] + context[separator + 1 : -1]


def prompt_of(task: Task) -> tuple[Any, ...]:
    """Return a trace that writes the word and comes back to its first letter."""
    start, blank, word = task.machine.start, task.machine.blank, task.word
    if not word:
        return CALL, (start, blank, 0)
    there = [(start, letter, 1) for letter in word]
    back = [(start, letter, -1) for letter in (blank, *reversed(word[1:]))]
    return CALL, *there, *back


class Replay:
    """The configuration that a trace leads to from a blank tape, step by step."""

    def __init__(self, trace: Sequence[Any], blank: str) -> None:
        self.tape: dict[int, str] = {}
        self.blank, self.cell, self.low, self.high, self.state = blank, 0, 0, 0, ""
        self.length = 0
        for token in trace:
            self.add(token)

    def add(self, token: Any) -> None:
        """Follow one token of the trace."""
        self.state, written, move = token
        self.tape[self.cell] = written
        self.cell += move
        self.low, self.high = min(self.low, self.cell), max(self.high, self.cell)
        self.length += 1

    def summary(self) -> list[Any]:
        """Return a short trace to the same configuration: to the right end, and back to the head."""
        at = {cell: self.tape.get(cell, self.blank) for cell in range(self.low, self.high + 1)}
        there = [(self.state, at[cell], 1) for cell in range(self.low, self.high)]
        if self.cell == self.high:
            return [*there, (self.state, at[self.high], 0)]
        return there + [(self.state, at[c], -1) for c in range(self.high, self.cell, -1)]


def contexts_of(task: Task, factor: int) -> list[Context]:
    """Return the contexts of a run, each from one rewriting to the next."""
    prompt, done = prompt_of(task), 0
    steps = [(state, written[0], moves[0]) for state, written, moves in task.trace.steps]
    contexts = []
    while True:
        replay, thought, numbers = Replay(prompt[1:], task.machine.blank), list(prompt), []
        while replay.state != STOP and replay.length < factor * (replay.high - replay.low + 1):
            if done == len(steps):
                break
            replay.add(steps[done])
            thought.append(steps[done])
            done += 1
            numbers.append(max(0, done - task.prefix))
        if replay.state == STOP or done == len(steps):
            contexts.append(Context(tuple(thought), len(prompt), tuple(numbers)))
            return contexts
        answer = [SEP, CALL, *replay.summary(), RETURN]
        numbers += [max(0, done - task.prefix)] * len(answer)
        context = (*thought, *answer)
        contexts.append(Context(context, len(prompt), tuple(numbers)))
        shorter = reduced(context)
        assert shorter is not None
        prompt = shorter


def steps_of(tokens: Sequence[Any]) -> list[StepMade]:
    """Read generated tokens as steps: those of traces, not those of summaries."""
    made: list[StepMade] = []
    summarising = False
    for token in tokens:
        if isinstance(token, str):
            summarising = token in (SEP, CALL)
        elif not summarising:
            made.append((token[0], (token[1],), (token[2],)))
    return made
