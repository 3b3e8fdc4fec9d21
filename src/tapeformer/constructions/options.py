"""From levels, base and space, any two of which are given, to all three; with clear refusals."""

from __future__ import annotations

from tapeformer.faults import Fault, TapeformerError


def refuse(what: str, expected: str = "", got: str = "", remedy: str = "") -> TapeformerError:
    """An option that cannot be met, as an error to raise."""
    return TapeformerError(Fault(what, expected=expected, got=got, remedy=remedy))


def levels_and_base(
    levels: int | None, base: int | None, space: int | None, room: int
) -> tuple[int, int]:
    """Levels and an even base with base^levels >= space + room; what is not given is the least."""
    check_given(levels, base, space)
    if levels is None or base is None:
        if space is None:
            raise refuse(
                "the size of the queues is not fixed",
                expected="two of levels, base and space",
                remedy="give --space, the cells that a single tape may need",
            )
        levels, base = _least(levels, base, space + room)
    if space is not None and base**levels < space + room:
        raise refuse(
            f"base {base} with {levels} level{'s' * (levels > 1)} is too small for {space} cells",
            expected=f"base^levels at least {space + room}",
            got=str(base**levels),
            remedy="give a larger base, more levels or less space",
        )
    return levels, base


def _least(levels: int | None, base: int | None, needed: int) -> tuple[int, int]:
    if levels is None:
        levels, base = 1, base or 2
        while base**levels < needed:
            levels += 1
        return levels, base
    base = 2
    while base**levels < needed:
        base += 2
    return levels, base


def check_given(levels: int | None, base: int | None, space: int | None) -> None:
    """Refuses a number that no layout can have."""
    if levels is not None and levels < 1:
        raise refuse("a stack needs a level", "levels at least 1", str(levels), "give --levels 1")
    if base is not None and (base < 2 or base % 2):
        raise refuse(
            f"base {base} makes queues of odd length",
            expected="an even base, at least 2, so that parity tells what was never written",
            got=str(base),
            remedy=f"give --base {max(2, base + base % 2)}",
        )
    if space is not None and space < 0:
        raise refuse("space is negative", "at least 0", str(space), "give --space 0 or more")
