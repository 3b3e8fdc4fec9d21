"""How far a run may go."""

from __future__ import annotations

from tapeformer.dataclass import dataclass

MOST_STEPS = 10**9


@dataclass(frozen=True)
class Limits:
    """How far a run may go; reaching a limit is an outcome of its own, never an answer."""

    max_steps: int = MOST_STEPS
    max_tokens: int | None = None
