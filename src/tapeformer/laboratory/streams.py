"""Rows that make one token per step: their stream from the direct simulation, and their experiment."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tapeformer.laboratory.experiment import Context, TokenExperiment
from tapeformer.laboratory.preparation import STOP, StepMade
from tapeformer.laboratory.row import Task
from tapeformer.laboratory.transformer import Token, Transformer


def one_token_per_step(
    task: Task,
    model: Transformer,
    prompt: tuple[Token, ...],
    tokens: Callable[[], Sequence[Token]],
    steps: Callable[[Sequence[Token]], list[StepMade]],
    before: int = 0,
) -> TokenExperiment:
    """Return the experiment of a stream with a token for every step, after `before` that make none.

    A token begins with its state, and the state STOP ends the stream.
    """

    def contexts() -> list[Context]:
        task.check()
        made = tuple(tokens())
        numbers = tuple(max(0, n - before - task.prefix) for n in range(1, len(made) + 1))
        return [Context((*prompt, *made), len(prompt), numbers)]

    return TokenExperiment(model, contexts, prompt, steps, lambda token: token[0] == STOP)
