"""Costs of a token: the rows, their ratios, and processes of their own."""

from __future__ import annotations

import pytest

from tapeformer.bench import engine_cost
from tapeformer.bench.engine_cost import token_costs, window_costs
from tapeformer.faults import TapeformerError


def quiet(_text: str) -> None:
    """Says nothing."""


def test_windows_are_compared_with_that_of_256(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(engine_cost.TIMED, "native", (200, 3))
    rows = window_costs("native", quiet, (2**6, 2**8, 2**10))
    assert [row["window"] for row in rows] == [62, 254, 1022]
    for row in rows:
        assert row["over that at 256"] == row["ns per token"] / rows[1]["ns per token"]
        assert row["lower quartile"] <= row["ns per token"] <= row["upper quartile"]


def test_token_counts_are_measured_in_processes_of_their_own() -> None:
    (row,) = token_costs("excursions", "native", quiet, [4000], repeats=1)
    assert row["tokens"] == 4000
    assert row["peak MB"] > 10
    assert row["time over that at 4,000"] == row["memory over that at 4,000"] == 1


@pytest.mark.parametrize(("tokens", "slices"), [(10, 1), (400, 4), (3000, 5)])
def test_slices_are_spread_over_the_whole_run(
    monkeypatch: pytest.MonkeyPatch, tokens: int, slices: int
) -> None:
    monkeypatch.setattr(engine_cost, "SLICE", 100)
    monkeypatch.setattr(engine_cost, "MOST_SLICES", 5)
    stream = engine_cost.excursions(2**6, "native")
    made: list[int] = []
    monkeypatch.setattr(stream, "run", made.append)
    assert len(engine_cost.sliced(stream, tokens)) == slices
    assert sum(made) == tokens


def test_counts_take_turns_and_long_ones_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def measured(_model: str, _engine: str, tokens: int) -> dict[str, list[float]]:
        asked.append(tokens)
        return {"ns": [float(tokens)] * 3, "MB": [200.0]}

    monkeypatch.setattr(engine_cost, "_in_a_process", measured)
    rows = token_costs("excursions", "sparse", quiet, [10**4, 10**5, 10**8], repeats=2)
    assert asked == [10**4, 10**5, 10**8, 10**4, 10**5]
    assert [row["time over that at 100,000"] for row in rows] == [0.1, 1.0, 1000.0]


def test_a_process_that_fails_gives_one_message() -> None:
    with pytest.raises(TapeformerError, match="tokens of excursions were not made"):
        engine_cost._in_a_process("excursions", "none", 100)


def test_runs_that_have_got_far_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_cost, "MOST_SLICES", 3)
    rows = engine_cost.later_costs("excursions", "native", lambda _: None, (100, 3_000))
    assert [row["after tokens"] for row in rows] == [100, 3_000]
    assert rows[1]["over that at 100"] == rows[1]["ns per token"] / rows[0]["ns per token"]
