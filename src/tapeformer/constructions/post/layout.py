"""The length of the one queue."""

from __future__ import annotations

from tapeformer.constructions.sizes import levels_and_base, refuse
from tapeformer.layout import Layout
from tapeformer.machine.record import TapeKind, TuringMachine

NAME = "post"


def layout(
    machine: TuringMachine,
    /,
    levels: int | None = None,
    base: int | None = None,
    space: int | None = None,
) -> Layout:
    """Return one queue of even length, at least s + 2; `base` is that length. Two more cells are held.

    Several tapes that are infinite both ways may use different sides of their first cells: 2s + 2.
    """
    check(levels)
    sides = 2 if machine.tapes > 1 and machine.tape_kind is TapeKind.TWO_WAY else 1
    levels, base = levels_and_base(1, base, None if space is None else sides * space, room=2)
    return Layout(NAME, levels, base, {"ring": base}, capacity=base + 2)


def longest_word(layout: Layout) -> int:
    """Return the longest input: with its bottom it must lie in the queue."""
    return layout.base - 1


def check(levels: int | None) -> None:
    """Refuse what one queue cannot do."""
    if levels not in (None, 1):
        raise refuse("one queue has one level", "1", str(levels), "leave out levels")
