"""How many levels a model has: those that its input needs, or enough for most runs."""

from __future__ import annotations

from dataclasses import replace

from tapeformer.constructions.realtime.layout import fewest_levels, layout
from tapeformer.constructions.sizes import Need, Sizes, check_given
from tapeformer.machine.record import TuringMachine

REACHES = (2**11, 2**15)
"""The longest look-backs to grow to; beyond these, one level at a time, as memory doubles."""


def more_levels(levels: int, base: int) -> int:
    """Return the levels to continue with where so many are too few: in base 2, 12, 16, 17, 18.

    A larger model costs time before its first token, and little in each token; so a run grows by
    many levels at once.
    """
    reach = base ** (levels - 1)
    goal = next((goal for goal in REACHES if goal > reach), reach + 1)
    while reach < goal:
        levels, reach = levels + 1, reach * base
    return levels


def choose(machine: TuringMachine, asked: Sizes, need: Need, steps: int = 1) -> Sizes:
    """Choose the fewest levels that hold the input and the space asked for.

    A model that cannot grow, and whose space is not known, gets the levels that a run grows to first.
    """
    check_given(asked.levels, asked.base, asked.space)
    if asked.levels is not None:
        return asked
    base = 2 if asked.base is None else asked.base
    levels = fewest_levels(need.length, base)
    if asked.space is not None:
        levels = max(levels, layout(machine, base=base, space=asked.space, steps=steps).levels)
    elif not need.growing:
        levels = max(levels, more_levels(1, base))
    return replace(asked, base=base, levels=levels)
