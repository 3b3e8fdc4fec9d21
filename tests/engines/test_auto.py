"""The engine that goes over to machine code when a run is long."""

from __future__ import annotations

import numpy as np
import pytest

from tapeformer import CompileOptions, compile_machine, gallery_machine, generate, simulate
from tapeformer.engines import auto
from tapeformer.engines.registry import make_engine
from tapeformer.generation import Reader


def test_no_token_changes_when_the_run_is_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "PAYS_AFTER", 150)
    bundle = compile_machine(gallery_machine("binary_counter"), CompileOptions(levels=4))
    prompt = Reader(bundle).prompt(tuple("000000"))
    rows = []
    for name in ("auto", "sparse"):
        stream = make_engine(name, bundle.weights, bundle.offsets)
        stream.prompt(prompt)
        rows.append(np.concatenate([stream.advance(50) for _ in range(6)]))
        assert stream.margin == 1
    assert np.array_equal(rows[0], rows[1])


def test_long_runs_end_where_they_should(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "PAYS_AFTER", 300)
    machine, word = gallery_machine("binary_counter"), tuple("00000000")
    bundle = compile_machine(machine, CompileOptions(levels=5))
    whole, direct = generate(bundle, word), simulate(machine, word)
    assert (whole.outcome, whole.steps, whole.tapes) == (direct.outcome, direct.steps, direct.tapes)
    assert whole.cot_tokens - whole.boot_tokens == whole.steps
    for limit in (1, 100, 777):
        part = generate(bundle, word, max_steps=limit)
        expected = simulate(machine, word, max_steps=limit)
        assert (part.outcome, part.steps, part.tapes) == (expected.outcome, limit, expected.tapes)
