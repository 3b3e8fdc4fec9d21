"""The lengths of the queues: all that depends on n."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tapeformer.constructions.realtime.names import CURRENT_TOKEN, TRACKS, length_rule
from tapeformer.constructions.sizes import check_given, check_power, least_even_base, refuse
from tapeformer.layout import Layout

if TYPE_CHECKING:
    from tapeformer.machine.record import TuringMachine
    from tapeformer.queues.record import QueueMachine

NAME = "realtime"


def layout(
    _machine: TuringMachine,
    /,
    levels: int | None = None,
    base: int | None = None,
    space: int | None = None,
    steps: int = 1,
) -> Layout:
    """main_i is b^i - b^(i-1) columns long and delay_i b^(i-1); b is 2 unless space asks for more.

    What is not given is the least that holds `space` cells on either side of a head. With several
    `steps` in a token, a column holds blocks of as many cells.
    """
    check_given(levels, base, space)
    blocks = None if space is None else -(-space // steps)
    levels, base = _levels_and_base(levels, base, blocks or 0)
    check_levels(levels)
    check_power(base, levels - 1)
    cells = steps * capacity(levels, base)
    if space is not None and cells < space:
        raise refuse(
            f"base {base} with {levels} levels is too small for {space} cells",
            got=f"room for {cells}",
            remedy=f"give levels={_levels(-(-space // steps), base)}, a larger base or less space",
        )
    return Layout(NAME, levels, base, _lengths(levels, base), cells)


def check_levels(levels: int) -> None:
    """Refuse a single level: the prompt is read by the levels above it."""
    if levels < 2:
        remedy = "give levels=2 or more"
        raise refuse("the prompt is read by level 2 or above", "2 levels", str(levels), remedy)


def capacity(levels: int, base: int) -> int:
    """Return the cells, or blocks of cells, that a stack holds beside its bottom."""
    columns: int = sum(base**level for level in range(levels + 1))
    return TRACKS * columns - 1


def longest_word(layout: Layout) -> int:
    """Return the longest input: the highest level's delay must reach back over it and its bottom."""
    longest: int = layout.base ** (layout.levels - 1) - 2
    return longest


def fewest_levels(length: int, base: int = 2) -> int:
    """Return the fewest levels with which an input of some length can be read."""
    levels = 2
    while base ** (levels - 1) < length + 2:
        levels += 1
    return levels


def with_shared_rules(machine: QueueMachine, layout: Layout) -> QueueMachine:
    """Return the same machine with one rule for each length, so that one head serves all of that length.

    In base 2, main_i and delay_i are equally long; in any other base nothing changes.
    """
    first = {layout.lengths[CURRENT_TOKEN]: CURRENT_TOKEN}
    for rule, length in layout.lengths.items():
        first.setdefault(length, rule)
    shared = {rule: first[length] for rule, length in layout.lengths.items()}
    queues = tuple(replace(q, length_rule=shared[q.length_rule]) for q in machine.queues)
    return replace(machine, queues=queues)


def _lengths(levels: int, base: int) -> dict[str, int]:
    lengths = {}
    for level in range(1, levels + 1):
        block = base ** (level - 1)
        lengths[length_rule("main", level)] = base * block - block
        lengths[length_rule("delay", level)] = block
    return lengths


def _levels(space: int, base: int) -> int:
    """Return the fewest levels that hold some cells, or blocks of cells."""
    levels = 2
    while capacity(levels, base) < space:
        levels += 1
    return levels


def _levels_and_base(levels: int | None, base: int | None, space: int) -> tuple[int, int]:
    if levels is None:
        base = base or 2
        levels = _levels(space, base)
    if base is None:
        base = least_even_base(lambda base: capacity(levels, base) >= space)
    return levels, base
