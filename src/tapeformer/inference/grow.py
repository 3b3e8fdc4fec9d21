"""Adding levels in flight: how many at a time, and the kept tokens as those of a larger model.

A larger model costs time before its first token: it is compiled, and turned into machine code
where the engine is native. Its tokens cost a little more with every level. So a run
grows by many levels at once, in the same way for every engine: traces do not depend on the engine.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tapeformer.bundle.record import Bundle
from tapeformer.weights.tokens import token_of

Grow = Callable[[Bundle], Bundle]
"""From a model to one that has more levels."""

REACHES = (2**11, 2**15)
"""The longest look-backs to grow to; beyond these, one level at a time, as memory doubles."""


def more_levels(levels: int, base: int) -> int:
    """The levels to go on with where so many are too few: in base 2, then 12, 16, 17, 18."""
    reach = base ** (levels - 1)
    goal = next((goal for goal in REACHES if goal > reach), reach + 1)
    while reach < goal:
        levels, reach = levels + 1, reach * base
    return levels


def grown_window(
    old: Bundle, new: Bundle, rows: NDArray[np.int32], total: int
) -> NDArray[np.int32]:
    """The window of a model as that of a larger one; `total` tokens were seen in all.

    What the smaller model had no fields for is as in a prompt: nothing has started there yet.
    """
    return _lengthened(new, _extended(old, new, rows), min(total, new.window))


def _extended(old: Bundle, new: Bundle, rows: NDArray[np.int32]) -> NDArray[np.int32]:
    """Tokens of a model as tokens of one with more factors."""
    place = {factor.name: index for index, factor in enumerate(old.weights.factors)}
    columns = []
    for factor in new.weights.factors:
        if factor.name in place:
            values = old.weights.factors[place[factor.name]].values
            number = np.array([factor.values.index(value) for value in values], np.int32)
            columns.append(number[rows[:, place[factor.name]]])
        else:
            blank = factor.values.index(new.prompt.fill[factor.name])
            columns.append(np.full(len(rows), blank, np.int32))
    return np.stack(columns, axis=1)


def _lengthened(model: Bundle, rows: NDArray[np.int32], count: int) -> NDArray[np.int32]:
    """A longer window: older tokens matter only to fields that were not there."""
    missing = max(0, count - len(rows))
    prompt, factors = model.prompt, model.weights.factors
    parity = [factor.name for factor in factors].index(prompt.parity)
    blank = token_of(factors, {**prompt.fill, prompt.parity: "0"})
    older = np.tile(np.asarray(blank, np.int32), (missing, 1))
    older[:, parity] = (rows[0, parity] + np.arange(missing, 0, -1)) % 2
    return np.concatenate([older, rows])
