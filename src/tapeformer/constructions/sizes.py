"""How levels, base and space are chosen: any two fix the third, and what cannot be is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tapeformer.dataclass import dataclass
from tapeformer.faults import Fault, TapeformerError

MOST_WINDOW = 1 << 40
"""Tokens that a window may have at most: larger layouts are refused before anything is built."""
MOST_LEVELS = 64
SHOWN_DIGITS = 20


@dataclass(frozen=True)
class Sizes:
    """The sizes that a user asked for; None leaves a size to the construction."""

    levels: int | None = None
    base: int | None = None
    space: int | None = None

    @property
    def open(self) -> bool:
        """Whether the space is left open, so that a model may grow while it runs."""
        return self.levels is None and self.space is None


@dataclass(frozen=True)
class Need:
    """What a model must hold: inputs of some length and, where it can be found out, cells.

    `space` finds the cells of a single tape, by a direct simulation; it is asked only if needed.
    `growing` says that the model can be exchanged for a larger one while it runs.
    """

    length: int = 0
    space: Callable[[], int] | None = None
    growing: bool = False


def refuse(what: str, expected: str = "", got: str = "", remedy: str = "") -> TapeformerError:
    """Return the error for an option that cannot be met."""
    return TapeformerError(Fault(what, expected=expected, got=got, remedy=remedy))


def check_given(levels: int | None, base: int | None, space: int | None) -> None:
    """Refuse a number that no layout can have."""
    for name, number in (("levels", levels), ("base", base), ("space", space)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int)):
            got, remedy = repr(number), f"give {name} as an int"
            raise refuse(f"{name} is not a whole number", "a whole number", got, remedy)
    if levels is not None and not 1 <= levels <= MOST_LEVELS:
        expected = f"2 to {MOST_LEVELS} levels (paper: from 1)"
        what = "a stack needs a level" if levels < 1 else "a stack cannot have so many levels"
        raise refuse(what, expected, _short(levels), f"give levels={2 if levels < 1 else 12}")
    if base is not None and (base < 2 or base % 2):
        raise refuse(
            f"base {_short(base)} makes queues of odd length",
            expected="an even base, at least 2, so that parity tells what was never written",
            got=_short(base),
            remedy=f"give base={_short(max(2, base + base % 2))}",
        )
    if space is not None and space < 0:
        raise refuse("space is negative", "at least 0", _short(space), "give 0 or more")
    check_window(max(base or 0, space or 0))


def check_window(tokens: int) -> None:
    """Refuse a layout whose longest queue no machine could hold."""
    if tokens > MOST_WINDOW:
        raise refuse(
            "the window would be too long",
            expected=f"at most {MOST_WINDOW} tokens",
            got=_short(tokens),
            remedy="give fewer levels, a smaller base or less space",
        )


def check_power(base: int, levels: int) -> None:
    """Refuse base^levels beyond the longest window, without computing it."""
    check_window(1 << ((base.bit_length() - 1) * levels))


def levels_and_base(
    levels: int | None, base: int | None, space: int | None, room: int
) -> tuple[int, int]:
    """Return levels and an even base with base^levels >= space + room, each the least if open."""
    check_given(levels, base, space)
    if levels is None or base is None:
        if space is None:
            raise refuse(
                "the size of the queues is not fixed",
                expected="two of levels, base and space",
                remedy="give space=CELLS, what a single tape may need",
            )
        levels, base = _least(levels, base, space + room)
    check_power(base, levels)
    if space is not None and base**levels < space + room:
        wider = least_even_base(lambda wide: wide**levels >= space + room)
        raise refuse(
            f"base {base} with {levels} level{'s' * (levels > 1)} is too small for {space} cells",
            got=f"room for {base**levels - room}",
            remedy=f"give base={wider}{', more levels' * (levels > 1)} or less space",
        )
    return levels, base


def _least(levels: int | None, base: int | None, needed: int) -> tuple[int, int]:
    if levels is None:
        levels, base = 1, base or 2
        while base**levels < needed:
            levels += 1
        return levels, base
    return levels, least_even_base(lambda base: base**levels >= needed)


def least_even_base(is_enough: Callable[[int], bool]) -> int:
    """Return the least even base that is enough, by doubling and then bisecting."""
    high = 2
    while not is_enough(high):
        high *= 2
    low = high // 2
    while high - low > 2:
        middle = (low + high) // 4 * 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return low if low >= 2 and low % 2 == 0 and is_enough(low) else high


def sizes_for_space(asked: Sizes, need: Need, default_levels: int) -> Sizes:
    """Complete the sizes of a construction that must know its space in advance."""
    check_given(asked.levels, asked.base, asked.space)
    if asked.levels is None and not (asked.base is not None and asked.space is not None):
        asked = replace(asked, levels=default_levels)
    if asked.base is not None:
        return asked
    if asked.space is not None:
        return replace(asked, space=max(asked.space, need.length))
    return asked if need.space is None else replace(asked, space=max(need.space(), need.length, 1))


def never_grows(_asked: Sizes) -> bool:
    """Say that a model of this construction keeps its size while it runs."""
    return False


def _short(number: int) -> str:
    """Show a number in full, or only how many digits it has."""
    text = str(number)
    return text if len(text) <= SHOWN_DIGITS else f"a number of {len(text)} digits"
