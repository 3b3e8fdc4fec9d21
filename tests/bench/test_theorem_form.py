"""Theorem 1 in its own form, single steps, and figures that come from real runs."""

from __future__ import annotations

from collections import Counter

import pytest

from tapeformer.bench import figures, theorem_form
from tapeformer.bench.theorem_form import FORM, Model, against_levels, single_steps
from tapeformer.bench.workloads import WORKLOADS
from tapeformer.compile.options import CompileOptions


def test_the_least_total_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theorem_form, "LEVELS", range(1, 4))
    rows = against_levels("sparse", 16, lambda _: None)
    (best,) = (row for row in rows if row["best"])
    assert best["CoT over t"] == min(row["CoT over t"] for row in rows)
    for row in rows:
        assert row[FORM] == pytest.approx(row["CoT over t"] / row["s"] ** (1 / row["k'"]))
        assert row["base^k' over s"] > 1


def test_single_steps_add_up_and_base_2_takes_one_each() -> None:
    slow = single_steps(Model("paper", 2, 6), "sparse", "fill_and_drain", 16)
    assert slow["most"] > slow["mean"] > 1
    assert sum(slow["costs"].values()) == slow["steps"]
    fast = single_steps(Model("realtime", 6, 2), "sparse", "fill_and_drain", 16)
    assert list(fast["costs"]) == [1]


def test_heads_attend_at_their_offset_or_to_themselves() -> None:
    options = CompileOptions("realtime", levels=4, base=2)
    run = figures.attended(WORKLOADS["fill_and_drain"].machine, options, "aaa", 40)
    offsets = [offset for offset in run.bundle.offsets if offset]
    for distances, offset in zip(run.distances.values(), offsets, strict=True):
        assert set(Counter(distances)) <= {0, offset}
        assert distances[-1] == offset


def test_a_queue_is_drawn_as_a_tape_that_turns() -> None:
    run = figures.recorded(base=2, levels=2, cells=2, tokens=30)
    cells, head = run.tape("tape1.left/L2", 20)
    following, further = run.tape("tape1.left/L2", 21)
    assert further == (head + 1) % 4
    assert [a == b for a, b in zip(cells, following, strict=True)].count(False) <= 1
