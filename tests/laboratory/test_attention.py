"""Scores that cannot be the largest are left out: what heads take stays the same."""

from __future__ import annotations

import numpy as np
import pytest

from tapeformer.laboratory import attention
from tapeformer.laboratory.arithmetic import Rounded
from tapeformer.laboratory.attention import Head, Mask, Score, masked_scores


@pytest.mark.parametrize("score", ["dot", "negative distance", "at most two"])
@pytest.mark.parametrize("mask", ["causal", "strict", "memory"])
@pytest.mark.parametrize("bits", [25, 40, 62])
def test_the_largest_scores_are_those_of_all(
    score: Score, mask: Mask, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys are drawn with repetitions and tiny changes, so that many scores tie or nearly do."""
    rng, numbers = np.random.default_rng(bits), Rounded(bits)
    head = Head("head", (), score=score, mask=mask)
    few = rng.standard_normal((3, 9)).astype(np.longdouble)
    keys = numbers.rounded(few[:, rng.integers(0, 9, 200)])
    near = 1 + np.ldexp(rng.integers(-1, 2, (3, 200)), 2 - bits).astype(np.longdouble)
    keys, query = numbers.rounded(keys * near), numbers.rounded(few[:, :5] * 2)
    places = np.array([0, 1, 60, 150, 199])
    some = masked_scores(head, query, keys, places, numbers)
    monkeypatch.setattr(attention, "MANY", 10**9)
    every = masked_scores(head, query, keys, places, numbers)
    best = every.max(axis=1)[:, None]
    assert (some.max(axis=1)[:, None] == best).all()
    assert ((some == best) == (every == best)).all()
    assert np.isfinite(some).sum() < np.isfinite(every).sum()
