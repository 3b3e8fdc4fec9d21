"""The lower bound for fixed offsets as numbers, and our layouts above it."""

from __future__ import annotations

import pytest

from tapeformer.bench.lower_bound import Entry, bound, bound_for_any, row


def test_a_gap_between_offsets_costs_in_proportion() -> None:
    assert bound((1, 3, 7, 15), bits=10) < 1
    assert bound((10, 100_000), bits=10) == pytest.approx(100_000 / (2 * (10 * 11 + 1)))
    assert bound((10, 100_000), bits=10, layers=4) < bound((10, 100_000), bits=10)


def test_only_depths_that_the_stack_may_have_count() -> None:
    assert bound((10, 100_000), bits=10, space=100) == pytest.approx(10 / (2 * 11))
    assert bound((10, 100_000), bits=10, space=111) > 400


@pytest.mark.parametrize("heads", [1, 2, 3, 6])
def test_the_bound_for_any_offsets_grows_like_a_root_of_the_space(heads: int) -> None:
    small, large = (bound_for_any(heads, 10**n, 1) for n in (9, 15))
    assert large / small == pytest.approx(10 ** (6 / heads), rel=0.35)


@pytest.mark.parametrize(("levels", "base"), [(2, 46), (3, 14), (10, 2)])
def test_no_layout_beats_the_bounds(levels: int, base: int) -> None:
    found = row(Entry(1_000, levels, base))
    assert found["pushes and pops"] >= found["bound, these offsets"]
    assert found["bound, these offsets"] >= 0.99 * found["bound, any K offsets"]
