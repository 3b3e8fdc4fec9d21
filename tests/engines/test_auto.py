"""The engine that goes over to machine code when a run is long."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tapeformer import CompileOptions, compile_machine, gallery_machine, simulate
from tapeformer.engines import auto
from tapeformer.engines.registry import make_engine
from tapeformer.inference.decode import Reader
from tapeformer.inference.generation import generate


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No code is there from before."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def hand_over_after(tokens: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However large the model is."""
    monkeypatch.setattr(auto, "PAYS_AFTER", tokens)
    monkeypatch.setattr(auto, "PARAMETERS_PER_TOKEN", 1 << 40)


def test_a_larger_model_waits_longer_for_its_code() -> None:
    engines = [
        auto.Engine(bundle.weights, bundle.offsets)
        for bundle in (
            compile_machine(gallery_machine("busy_beaver_2"), CompileOptions(levels=levels))
            for levels in (2, 4)
        )
    ]
    first, second = (engine._pays_after for engine in engines)
    assert auto.PAYS_AFTER < first < second < 2 * auto.PAYS_AFTER


def test_code_that_was_made_is_used_at_once() -> None:
    bundle = compile_machine(gallery_machine("busy_beaver_2"), CompileOptions("paper", 2, 4))
    sparsely = generate(bundle, (), engine="auto")
    generate(bundle, (), engine="native")
    natively = generate(bundle, (), engine="auto")
    assert (sparsely.engine, natively.engine) == ("sparse", "native")
    assert natively == replace(sparsely, seconds=natively.seconds)


WITHOUT_TORCH = """
import sys
from tapeformer import CompileOptions, compile_machine, gallery_machine
from tapeformer.inference.generation import generate
options = CompileOptions("paper", 2, 4)
answer = generate(compile_machine(gallery_machine("busy_beaver_2"), options), ())
print(answer.engine, "torch" in sys.modules)
"""


def test_pytorch_is_not_loaded_where_code_is_there() -> None:
    def said() -> str:
        words = [sys.executable, "-c", WITHOUT_TORCH]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()

    assert said() == "sparse False"
    bundle = compile_machine(gallery_machine("busy_beaver_2"), CompileOptions("paper", 2, 4))
    generate(bundle, (), engine="native")
    assert said() == "native False"


def test_no_token_changes_when_the_run_is_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    hand_over_after(150, monkeypatch)
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
    hand_over_after(300, monkeypatch)
    machine, word = gallery_machine("binary_counter"), tuple("00000000")
    bundle = compile_machine(machine, CompileOptions(levels=5))
    whole, direct = generate(bundle, word), simulate(machine, word)
    assert (whole.outcome, whole.steps, whole.tapes) == (direct.outcome, direct.steps, direct.tapes)
    assert whole.cot_tokens - whole.boot_tokens == whole.steps
    for limit in (1, 100, 777):
        part = generate(bundle, word, max_steps=limit)
        expected = simulate(machine, word, max_steps=limit)
        assert (part.outcome, part.steps, part.tapes) == (expected.outcome, limit, expected.tapes)
