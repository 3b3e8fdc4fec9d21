"""The lemmas for larger bases, that other constants break them, and exact worst cases."""

from __future__ import annotations

from random import Random

import pytest

from tapeformer.constructions.realtime.proofs.certificates import certified
from tapeformer.constructions.realtime.proofs.larger_base import (
    LEVELS,
    Rule,
    check_level,
    check_margins,
    check_windows,
    checks,
    windows,
)
from tapeformer.constructions.realtime.proofs.lock_step import Run, followed
from tapeformer.constructions.realtime.proofs.search import Workload, measured


@pytest.mark.parametrize("base", [3, 4, 6, 8, 10])
def test_the_lemmas_hold(base: int) -> None:
    for found in checks(Rule(base)).values():
        assert found.violations == ()
        assert found.states > 50


@pytest.mark.parametrize(("tracks", "high"), [(4, 2), (4, 3), (5, 2), (5, 4)])
def test_the_lemmas_fail_for_other_constants(tracks: int, high: int) -> None:
    assert check_margins(Rule(4, tracks, high)).violations


def test_a_slower_level_above_would_break_the_first_lemma(monkeypatch: pytest.MonkeyPatch) -> None:
    """With five times as long between two pulls, a level runs empty below content."""
    module = "tapeformer.constructions.realtime.proofs.larger_base"
    original = check_level(Rule(4))
    monkeypatch.setattr(f"{module}._at_its_end", _slowly)
    assert original.violations == ()
    assert any("below content" in text for text in check_level(Rule(4)).violations)


def _slowly(rule, state, high):  # type: ignore[no-untyped-def]
    from dataclasses import replace

    if state.above == "unstarted":
        yield (1, replace(state, above="some", last="push")) if high else (0, state)
    elif high:
        yield 1, replace(state, above="some", last="push")
    else:
        yield -1, replace(state, above="some", late=5 * rule.base, last="pull")


def test_there_are_windows_for_every_level() -> None:
    found = [window.why for window in windows(Rule(4))]
    for level in range(1, LEVELS + 1):
        assert any(why.startswith(f"a pop waits for level {level}, ") for why in found)
        assert any(f"held up by level {level}, " in why for why in found)
    assert len(found) == sum(2 + 2 * level for level in range(1, LEVELS + 1))


def test_the_windows_are_tight_to_within_a_token_per_step() -> None:
    """The rate b of the theorem is needed by a window: b - 1 would not do."""
    assert check_windows(Rule(4)).violations == ()
    assert any(window.tokens > 3 * window.steps for window in windows(Rule(4)))


@pytest.mark.parametrize(
    ("base", "levels", "stacks"), [(4, 3, 1), (4, 3, 3), (6, 2, 2), (10, 2, 4)]
)
def test_every_wait_of_a_run_is_explained_by_its_window(
    base: int, levels: int, stacks: int
) -> None:
    found = followed(base, levels, stacks, 4000, seed=base)
    assert found.waits > 100
    assert found.wrong == 0
    assert found.tokens <= base * found.steps


def test_a_window_has_no_more_steps_than_tokens() -> None:
    chance, run, waits, want = Random(1), Run(4, 3, 1), 0, 1
    for _ in range(1500):
        want = -want if chance.random() < 0.05 else want
        levels = set(run.stacks[0].blocks[1:])
        want = 1 if levels == {0} else -1 if len(levels) == 1 else want
        if not run.ready((want,)):
            tokens, steps = run.window(run.stacks[0], want > 0)
            assert 0 <= steps <= tokens
            waits += 1
        run.advance((want,))
    assert waits > 20


def test_a_wait_without_steps_is_not_explained() -> None:
    run = Run(4, 2, 1)
    for _ in range(40):
        run.advance((1,))
    assert run.explained((1,))
    run.stacks[0].top = 5
    run.steps_before = [0] * len(run.steps_before)
    assert not run.explained((1,))


@pytest.mark.parametrize(
    ("base", "levels", "stacks"), [(4, 1, 1), (10, 1, 1), (4, 2, 1), (6, 2, 1), (4, 1, 2)]
)
def test_the_exact_worst_case_of_small_stacks(base: int, levels: int, stacks: int) -> None:
    found = certified(base, levels, stacks)
    assert found.excess == found.claimed == found.longest_wait


def test_a_smaller_rate_has_a_larger_excess() -> None:
    found = certified(4, 2, rate=2)
    assert found.excess > found.claimed


def test_draining_takes_nearly_b_less_1_tokens_each() -> None:
    assert measured(6, 3, Workload(600, (-600,))).average > 4.9
