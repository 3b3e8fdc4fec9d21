"""Tokens per second against the number of inputs: what is measured, and where lines cross."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tapeformer.bench.many_inputs import (
    STEPS,
    counter_words,
    crossings,
    engines,
    many_inputs,
)
from tapeformer.bench.report import Row
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.gallery import gallery_machine
from tapeformer.inference.answer import Answer


def row(engine: str, inputs: int, rate: float) -> Row:
    return {"engine": engine, "inputs": inputs, "tokens per second": rate}


def test_every_engine_answers_every_input(tmp_path: Path) -> None:
    rows = [row for row in many_inputs(tmp_path, lambda _: None, (1, 3)) if row["inputs"] == 3]
    assert {"sparse", "native, one by one", "native, many at once"} <= {r["engine"] for r in rows}
    for found in rows:
        tokens = found["tokens per second"] * found["seconds end to end"]
        assert tokens >= 3 * STEPS
        assert found["us per input"] == pytest.approx(found["seconds end to end"] / 3 * 1e6)
    assert len({round(r["tokens per second"] * r["seconds end to end"]) for r in rows}) == 1


def test_engines_give_the_same_answers(tmp_path: Path) -> None:
    bundle = compile_machine(gallery_machine("binary_counter"), CompileOptions(levels=5))
    words = counter_words(3)
    found = {
        name: [_plain(answer) for answer in answering(words)]
        for name, answering in engines(bundle, tmp_path).items()
    }
    assert found["native, one by one"] == found["native, many at once"] == found["sparse"]


def _plain(answer: object) -> Answer:
    assert isinstance(answer, Answer)
    return replace(answer, seconds=0.0, engine="")


def test_lines_cross_where_they_meet_on_log_axes() -> None:
    rows = [row("one", n, 100.0) for n in (1, 16, 256)]
    rows += [row("many", 1, 25.0), row("many", 16, 400.0), row("many", 256, 400.0)]
    assert crossings(rows) == [{"engine": "many", "overtakes": "one", "from inputs": 4}]


def test_words_differ() -> None:
    assert len(set(counter_words(300))) == 300
