"""tapeformer: an adapter to the construction `realtime`, with one or several steps in a token."""

from __future__ import annotations

from tapeformer.laboratory.compiled import compiled_row
from tapeformer.laboratory.row import Bounds, Row


def with_steps(count: int) -> Row:
    """Return the row with so many of the machine's steps in each token."""
    several = f", {count} steps per token" if count > 1 else ""
    return compiled_row(
        "realtime",
        Bounds("O(1)", "O(log s)", "O(s)", f"t / {count}" if count > 1 else "t"),
        steps_per_token=count,
        name="realtime",
        title=f"tapeformer{several}",
        source="docs/realtime.md: one token per step, docs/speedup.md: several steps per token",
        with_steps=with_steps,
    )


ROW = with_steps(1)
