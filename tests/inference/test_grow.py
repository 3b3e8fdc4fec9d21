"""Runs that add levels in flight: same answer and tokens for every engine, none shown or all."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tapeformer import CompileOptions, compile_machine, loads, simulate
from tapeformer.bundle.record import Bundle
from tapeformer.constructions.realtime.sizes import more_levels
from tapeformer.engines import auto
from tapeformer.inference import grow
from tapeformer.inference.answer import Answer
from tapeformer.inference.generation import Generation, generate
from tapeformer.inference.grow import Grow
from tapeformer.inference.limits import Limits

Rows = NDArray[np.int32]
RUNNER = loads("1RA1RA")
"""Runs to the right for ever: it needs one cell more in every step."""


pytestmark = pytest.mark.usefixtures("own_cache")


@functools.cache
def start(levels: int = 2) -> Bundle:
    return compile_machine(RUNNER, CompileOptions(levels=levels))


def growing_by(levels: int) -> Grow:
    return lambda bundle: start(bundle.layout.levels + levels)


def said(answer: Answer) -> tuple[object, ...]:
    """All that must not depend on when levels came."""
    counts = (answer.steps, answer.boot_tokens, answer.cot_tokens, answer.prompt_tokens)
    return (answer.outcome, answer.state, answer.tapes, answer.margin, *counts)


def test_how_many_levels() -> None:
    assert [more_levels(levels, 2) for levels in (2, 3, 4, 11, 12, 15, 16, 20)] == [
        *(12, 12, 12, 12, 16, 16, 17, 21)
    ]
    assert [more_levels(levels, 4) for levels in (2, 3, 7, 9)] == [7, 7, 9, 10]


@pytest.mark.parametrize("engine", ["native", "auto", "sparse", "dense"])
@pytest.mark.parametrize("added", [1, 3])
def test_the_answer_is_that_of_all_levels_from_the_start(engine: str, added: int) -> None:
    for limit in (5, 17, 40, 90):
        fixed = generate(start(5), (), engine="sparse", max_steps=limit)
        grown = generate(start(), (), engine=engine, max_steps=limit, grow=growing_by(added))
        assert said(grown) == said(fixed)
        assert grown.tapes == simulate(RUNNER, max_steps=limit).tapes
        assert grown.bundle.layout.levels == 2 + grown.grown


@pytest.mark.parametrize("total", [1, 3, 4, 100])
def test_a_grown_window_has_the_tokens_that_were_seen_and_no_others(total: int) -> None:
    old, new = start(), start(5)
    run = Generation(old, (), "sparse")
    rows = np.tile(run.window()[-1:], (min(total, 4), 1))
    assert len(grow.grown_window(old, new, rows, total)) == min(total, new.window)


def test_levels_are_added_in_the_step_that_needs_them_and_not_before() -> None:
    wanted: dict[str, list[int]] = {}
    for engine in ("native", "sparse"):
        for limit in (1, *range(20, 32), *range(40, 64, 4)):
            answer = generate(start(), (), engine=engine, max_steps=limit, grow=growing_by(1))
            assert (answer.steps, answer.cot_tokens - answer.boot_tokens) == (limit, limit)
            wanted.setdefault(engine, []).append(answer.grown)
    assert wanted["native"] == wanted["sparse"]
    assert wanted["native"] == sorted(wanted["native"])
    assert {0, 1, 2} <= set(wanted["native"])


@pytest.mark.parametrize("engine", ["native", "sparse"])
def test_hidden_tokens_are_those_that_are_shown(engine: str) -> None:
    shown = Generation(start(), (), engine, grow=growing_by(1))
    pieces = list(shown.pieces(Limits(90, None)))
    hidden = Generation(start(), (), engine, grow=growing_by(1))
    hidden.finish(Limits(90))
    assert hidden.counts.tokens == shown.counts.tokens == sum(len(rows) for rows in pieces)
    assert (hidden.counts.steps, hidden.counts.grown) == (90, shown.counts.grown)
    assert hidden.counts.grown >= 2
    assert hidden.window().tolist() == shown.window().tolist()


def test_a_trace_does_not_depend_on_the_engine() -> None:
    traces = []
    for engine in ("native", "sparse", "auto"):
        trace: list[list[list[int]]] = []
        answer = generate(
            start(),
            (),
            engine=engine,
            max_steps=50,
            see=lambda rows, _, trace=trace: trace.extend(rows.tolist()),  # type: ignore[misc]
            grow=lambda bundle: start(more_levels(bundle.layout.levels, 2)),
        )
        assert (answer.grown, len(trace)) == (10, answer.cot_tokens)
        traces.append(trace)
    assert traces[0] == traces[1] == traces[2]
    assert len({len(token) for token in traces[0]}) == 2


def test_a_token_limit_holds_while_growing() -> None:
    for limit in range(1, 60, 7):
        answer = generate(start(), (), engine="native", max_tokens=limit, grow=growing_by(1))
        assert answer.cot_tokens == limit


def test_machine_code_is_not_put_off_at_every_level(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(auto, "PAYS_AFTER", 60)
    monkeypatch.setattr(auto, "PARAMETERS_PER_TOKEN", 1 << 40)
    run = Generation(start(), (), "auto", grow=growing_by(1))
    names: dict[int, list[str]] = {}
    for _ in run.pieces(Limits(200, None), most=10):
        names.setdefault(run.counts.grown, []).append(run.engine.name)
    assert names[0][0] == "sparse"
    assert set(names[max(names)]) == {"native"}
    assert run.answer(0).margin == 1


def test_a_window_is_whole_where_the_token_that_ends_the_patience_asks_for_a_level(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(auto, "is_made", lambda *_: False)
    monkeypatch.setattr(auto, "PARAMETERS_PER_TOKEN", 1 << 40)
    for pays_after in (21, 22, 23, 24):
        monkeypatch.setattr(auto, "PAYS_AFTER", pays_after)
        run = Generation(start(), (), "auto", grow=growing_by(1))
        for _ in run.pieces(Limits(40, None), most=10):
            seen = run.prompt_tokens + run.counts.tokens
            assert len(run.engine.last_token()) == len(run.reader.factors)
            assert len(run.window()) == min(seen, run.reader.bundle.window)


def test_code_that_is_there_is_used_at_every_level() -> None:
    for levels in (2, 3, 4):
        Generation(start(levels), (), "native")
    run = Generation(start(), (), "auto", grow=growing_by(1))
    for _ in run.pieces(Limits(20, None)):
        assert run.engine.name == "native"


@pytest.mark.parametrize("levels", [3, 5])
def test_the_parity_of_tokens_older_than_the_old_window_is_not_read(
    levels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are blank: whether parity says so too changes no token, so it may be anything."""

    def tokens() -> list[list[int]]:
        run = Generation(start(2), (), "sparse", grow=growing_by(levels - 2))
        return [row for rows in run.pieces(Limits(60)) for row in rows.tolist()]

    def flipped(model: Bundle, rows: Rows, count: int) -> Rows:
        names = [factor.name for factor in model.weights.factors]
        window = lengthened(model, rows, count)
        window[: len(window) - len(rows), names.index(model.prompt.parity)] ^= 1
        changed.append(len(window) - len(rows))
        return window

    lengthened, changed = grow._lengthened, list[int]()
    expected = tokens()
    monkeypatch.setattr(grow, "_lengthened", flipped)
    assert tokens() == expected
    assert max(changed) > 0
