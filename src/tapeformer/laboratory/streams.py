"""Reference streams from the direct simulation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tapeformer.laboratory.experiment import Context
from tapeformer.laboratory.row import Task
from tapeformer.laboratory.transformer import Token


def one_token_per_step(
    task: Task, prompt: tuple[Token, ...], tokens: Callable[[], Sequence[Token]], before: int = 0
) -> list[Context]:
    """Return one context: a token for every step, after `before` tokens that make none."""
    task.check()
    made = tuple(tokens())
    steps = tuple(max(0, number - before - task.prefix) for number in range(1, len(made) + 1))
    return [Context((*prompt, *made), len(prompt), steps)]
