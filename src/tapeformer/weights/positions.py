"""The positional rule: what depends on n, kept beside the parameters and not among them.

pos(0) is all ones, pos(D) is 2 times the sum of e_r over the r with D = s_r - 1 (Equation (pos)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tapeformer.faults import Fault, TapeformerError, quoted
from tapeformer.weights.record import TransformerWeights

HIGHEST_POSITION = 2
"""The largest entry of the positional encoding."""


def offsets_for(weights: TransformerWeights, lengths: Mapping[str, int]) -> tuple[int, ...]:
    """Return the look-back s_r - 1 of each positional coordinate, from the length that each rule gives."""
    faults = [
        Fault(
            f"no usable length for the rule {quoted(rule)}",
            expected="1 or more",
            got=str(lengths.get(rule, "none")),
        )
        for rule in dict.fromkeys(weights.position_rules)
        if lengths.get(rule, 0) < 1
    ]
    if faults:
        raise TapeformerError(faults)
    return tuple(lengths[rule] - 1 for rule in weights.position_rules)


def window_for(offsets: Sequence[int]) -> int:
    """Return the shortest window that every head can look back in: the longest queue."""
    return max(offsets, default=0) + 1


def encoding(
    weights: TransformerWeights, offsets: Sequence[int], window: int
) -> NDArray[np.float64]:
    """Return the rows pos(0), ..., pos(window - 1)."""
    rows = np.zeros((window, weights.key_width))
    rows[0] = 1
    for r, offset in enumerate(offsets):
        if 0 < offset < window:
            rows[offset, r] = 2
    return rows


def fetches_tokens(weights: TransformerWeights) -> bool:
    """Return whether heads see nothing at a position but its token: no field that a layer has changed.

    A window of tokens then determines all that follows.
    """
    changed: set[int] = set()
    for layer in weights.layers:
        seen = [part.columns for head in layer.heads for part in (head.key, head.value)]
        if any(changed.intersection(columns.tolist()) for columns in seen):
            return False
        last = [(affine.matrix, affine.bias) for affine in layer.feed_forward[-1:]]
        for matrix, bias in [(layer.mix, layer.mix_bias), *last]:
            changed.update(matrix.rows.tolist(), np.flatnonzero(bias).tolist())
    return True
