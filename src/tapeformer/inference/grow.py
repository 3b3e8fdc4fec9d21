"""Adding levels in flight: the kept tokens become those of a larger model.

A larger model costs time before its first token: it is compiled, and turned into machine code
where the engine is native. How many levels are added at a time is the construction's choice, the
same for every engine, so that traces do not depend on the engine.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tapeformer.bundle.record import Bundle
from tapeformer.compile.options import CompileOptions
from tapeformer.engines.memory import check_room
from tapeformer.machine.record import TuringMachine
from tapeformer.weights.tokens import token_of

GROWING_BYTES = 28
"""Bytes for each number of a window while a model grows: there are several copies of it then."""

Grow = Callable[[Bundle], Bundle]
"""From a model to one that has more levels."""


def growth(machine: TuringMachine, options: CompileOptions) -> Grow | None:
    """Return how a model of these options gets more levels; None where it keeps its size."""
    if not options.grows:
        return None

    def grow(bundle: Bundle) -> Bundle:
        from tapeformer.compile.model import compile_machine
        from tapeformer.compile.sizes import larger

        return _fitting(compile_machine(machine, larger(options, bundle)))

    return grow


def _fitting(bundle: Bundle) -> Bundle:
    """Return a larger model if there is memory to grow into it; the system might end us otherwise."""
    what = "the machine outgrows its model, and a larger one needs too much memory"
    remedy = "give a smaller limit of steps, or free some memory"
    check_room(bundle.window * len(bundle.weights.factors) * GROWING_BYTES, what, remedy)
    return bundle


def grown_window(
    old: Bundle, new: Bundle, rows: NDArray[np.int32], total: int
) -> NDArray[np.int32]:
    """Return the window of a model as that of a larger one; `total` tokens were seen in all.

    What the smaller model had no fields for is as in a prompt: nothing has started there yet.
    """
    return _lengthened(new, _extended(old, new, rows), min(total, new.window))


def _extended(old: Bundle, new: Bundle, rows: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return tokens of a model as tokens of one with more factors."""
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
    """Return a longer window: older tokens matter only to fields that were not there."""
    missing = max(0, count - len(rows))
    prompt, factors = model.prompt, model.weights.factors
    parity = [factor.name for factor in factors].index(prompt.parity)
    blank = token_of(factors, {**prompt.fill, prompt.parity: "0"})
    older = np.tile(np.asarray(blank, np.int32), (missing, 1))
    older[:, parity] = (rows[0, parity] + np.arange(missing, 0, -1)) % 2
    return np.concatenate([older, rows])
