"""The lengths of the queues: all that depends on n (Theorem 2, with the repaired lengths)."""

from __future__ import annotations

from tapeformer.constructions.sizes import levels_and_base
from tapeformer.layout import Layout
from tapeformer.machine.record import TuringMachine

NAME = "paper"


def layout(
    _machine: TuringMachine,
    /,
    levels: int | None = None,
    base: int | None = None,
    space: int | None = None,
) -> Layout:
    """Half queues b^i, buffers 2b^i - b^(i-1), markers 2b - 2; b even and b^k' at least s + 2.

    A push is refused only on a stack with 2b^k' cells, the bottom among them.
    """
    levels, base = levels_and_base(levels, base, space, room=2)
    lengths = {f"half{i}": base**i for i in range(1, levels + 1)}
    lengths |= {f"buffer{i}": 2 * base**i - base ** (i - 1) for i in range(2, levels + 1)}
    lengths["marker"] = 2 * base - 2
    return Layout(NAME, levels, base, lengths, capacity=2 * base**levels - 1)


def longest_word(layout: Layout) -> int:
    """Return the longest input: with its bottom it must lie in the top level's left half."""
    longest: int = layout.base**layout.levels - 2
    return longest
