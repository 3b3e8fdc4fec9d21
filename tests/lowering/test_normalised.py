"""Matrices are added by their places, also where there is only one column."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tapeformer.lowering.weights_to_normalised import _sum
from tapeformer.weights.matrices import dense, matrix


@pytest.mark.parametrize("shape", [(1, 1), (4, 1), (1, 4), (3, 2), (5, 7)])
def test_a_sum_has_the_sums_of_entries_and_no_zeros(shape: tuple[int, int]) -> None:
    chance = Random(str(shape))
    for _ in range(20):
        parts = [
            matrix(
                shape,
                {
                    (row, column): chance.choice((-1, 1, 2))
                    for row in range(shape[0])
                    for column in range(shape[1])
                    if chance.random() < 0.6
                },
            )
            for _ in range(2)
        ]
        found = _sum(*parts)
        assert (dense(found) == dense(parts[0]) + dense(parts[1])).all()
        assert np.count_nonzero(found.values) == len(found.values)
