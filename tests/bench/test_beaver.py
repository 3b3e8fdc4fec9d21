"""BB(5): its first steps through the weights, its pace, and its tokens beside another engine's."""

from __future__ import annotations

import numpy as np
import pytest

from tapeformer.bench import beaver
from tapeformer.bench.beaver import Pace, beaver_model, beaver_to_its_end, compared
from tapeformer.engines.stream import Stream
from tapeformer.faults import TapeformerError


def test_the_first_steps_equal_the_direct_simulation() -> None:
    pace = Pace()
    row = beaver_to_its_end(pace, max_steps=20_000)
    assert (row["outcome"], row["steps"], row["tokens"]) == ("limit", 20_000, 20_003)
    assert row["equals the direct simulation"] is True
    assert row["margin"] == 1
    assert 0 < row["of these computing"] < row["seconds"] + 0.1
    assert pace.rows()[-1]["tokens"] == 20_003


def test_pace_is_told_in_a_few_pieces() -> None:
    pace = Pace(noted=[(10 * n, float(n)) for n in range(101)])
    rows = pace.rows(pieces=10)
    assert [row["tokens"] for row in rows] == list(range(100, 1001, 100))
    assert {row["tokens per second"] for row in rows} == {10.0}


def test_a_watch_can_end_the_run() -> None:
    pace = Pace(lambda tokens: tokens == 0)
    assert pace(0)
    assert not pace(1)


def test_tokens_are_compared_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = beaver_model(levels=4)
    row = compared(bundle, 1_500, None)
    assert row == {"engines": "native, sparse", "tokens compared": 1_500, "identical": True}

    def spoilt(engine: str, _bundle: object) -> Stream:
        stream = prompted(engine, bundle)
        if engine == "sparse":
            advance = stream.advance
            monkeypatch.setattr(stream, "advance", lambda n: _changed(advance(n)))
        return stream

    prompted = beaver._prompted
    monkeypatch.setattr(beaver, "_prompted", spoilt)
    with pytest.raises(TapeformerError, match="token 43 differs between native and sparse"):
        compared(bundle, 50, None)


def _changed(rows: np.ndarray[tuple[int, ...], np.dtype[np.int32]]) -> object:
    rows = rows.copy()
    rows[42, 0] += 1
    return rows
