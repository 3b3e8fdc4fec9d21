"""How far back each head attends, as a function of the number of visible tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.fixed import attended, constants_by_layer, fixed_query
from tapeformer.engines.logic.not_logic import NotLogicError
from tapeformer.weights.positions import encoding
from tapeformer.weights.record import TransformerWeights

FOR_EVER = 1 << 62
"""More tokens than any run can make."""


class AttentionOffsets:
    """The offsets of all heads, which change only at a few numbers of visible tokens."""

    def __init__(self, weights: TransformerWeights, offsets: Sequence[int], window: int) -> None:
        positions = encoding(weights, offsets, window)
        columns = [
            attended(positions @ _fixed(query), rightmost=False)
            for layer, constants in zip(weights.layers, constants_by_layer(weights), strict=True)
            for query in (fixed_query(head, constants) for head in layer.heads)
        ]
        table = np.stack([np.zeros(window, np.int32), *columns], axis=1)[:, 1:]
        changes = (table[1:] != table[:-1]).any(axis=1)
        self._starts = np.concatenate([[0], np.flatnonzero(changes) + 1]) + 1
        self._rows = np.ascontiguousarray(table[self._starts - 1], dtype=np.int64)

    @property
    def farthest(self) -> NDArray[np.int64]:
        """Return the farthest offset of each head."""
        farthest: NDArray[np.int64] = self._rows.max(axis=0)
        return farthest

    @property
    def settled(self) -> NDArray[np.bool_]:
        """Return which heads keep to their farthest offset once there is a token that far back."""
        first = np.searchsorted(self._starts, self.farthest + 1, side="right") - 1
        later = np.arange(len(self._rows))[:, None] >= first
        found: NDArray[np.bool_] = ((self._rows == self.farthest) | ~later).all(axis=0)
        return found

    def at_each(self, visible: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return `at` for several numbers of visible tokens at once, with `FOR_EVER` for None."""
        index = np.searchsorted(self._starts, visible, side="right") - 1
        following = np.append(self._starts, FOR_EVER)[index + 1]
        return self._rows[index], np.where(following == FOR_EVER, FOR_EVER, following - visible)

    def at(self, visible: int) -> tuple[NDArray[np.int64], int | None]:
        """Return the offsets at a number of visible tokens, and how many more tokens they hold for.

        None means for ever.
        """
        index = int(np.searchsorted(self._starts, visible, side="right")) - 1
        last = index + 1 == len(self._starts)
        return self._rows[index], None if last else int(self._starts[index + 1]) - visible


def _fixed(query: NDArray[np.float64] | None) -> NDArray[np.float64]:
    if query is None:
        raise NotLogicError("what a head attends to depends on the tokens")
    return query
