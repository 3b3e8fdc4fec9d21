"""A batch of `auto`: its first inputs decide where it goes on, and no answer depends on that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tapeformer as tf
from tapeformer.engines.gpu import driver
from tapeformer.engines.gpu.driver import opened_ahead
from tapeformer.faults import TapeformerError
from tapeformer.inference.batch import BatchModel, Inputs, engine_choice, files
from tapeformer.inference.batch.engine_choice import SAMPLE
from tests.engines.gpu.test_driver import built

WORDS = [f"{number:b}" for number in range(SAMPLE + 44)]


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "words"
    path.write_text("".join(f"{word}\n" for word in WORDS))
    return path


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The engine of each run, and how many inputs it was given; a GPU is said to be there."""
    asked = []

    def run_file(model: BatchModel, inputs: Inputs, *rest: Any, **options: Any) -> Any:
        asked.append((model.options.engine, len(inputs)))
        return files.run_file(model, inputs, *rest, **options)

    monkeypatch.setattr(engine_choice, "run_file", run_file)
    monkeypatch.setattr(engine_choice, "has_gpu", lambda: True)
    monkeypatch.setattr(engine_choice, "LEAST_INPUTS", len(WORDS))
    monkeypatch.setattr(engine_choice, "LEAST_IN_ALL", 0)
    return asked


def answered(written: Path, name: str, **options: Any) -> bytes:
    answers = written.with_name(name)
    found = tf.run_batch_file("binary_increment", written, answers, levels=4, **options)
    assert found.answered == len(WORDS)
    return answers.read_bytes()


def test_long_runs_go_to_the_gpu_and_where_it_fails_to_machine_code(
    written: Path, engines: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_choice, "LEAST_TOKENS", 5)
    found = answered(written, "auto")
    assert engines == [("native", SAMPLE), ("gpu", len(WORDS)), ("native", len(WORDS))]
    assert found == answered(written, "native", engine="native")


def test_a_model_without_gates_stays_with_the_native_engine(
    written: Path,
    engines: list[tuple[str, int]],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    library = built(written.parent)
    monkeypatch.setattr(driver, "opened_ahead", lambda: opened_ahead(library))
    monkeypatch.setattr(engine_choice, "LEAST_TOKENS", 5)
    caplog.set_level("INFO", "tapeformer")
    native = answered(written, "native", engine="native", layer_norm=True)
    with pytest.raises(TapeformerError, match=r"a GPU cannot run this model.*engine='native'"):
        answered(written, "gpu", engine="gpu", layer_norm=True)
    assert not written.with_name("gpu").exists()
    assert answered(written, "auto", layer_norm=True) == native
    assert engines == [("native", SAMPLE), ("gpu", len(WORDS)), ("native", len(WORDS))]
    assert "the GPU is not used: a GPU cannot run this model" in caplog.messages


def test_a_gpu_pays_for_many_tokens_in_all() -> None:
    assert engine_choice.pays(10**5, 10**4)
    assert not engine_choice.pays(10**4, 1 << 12)
    assert not engine_choice.pays(10**3, 10**6)


def test_short_runs_stay(written: Path, engines: list[tuple[str, int]]) -> None:
    found = answered(written, "auto")
    assert engines == [("native", SAMPLE), ("native", len(WORDS))]
    assert found == answered(written, "native", engine="native")


def test_a_run_that_resumes_judges_the_answers_that_are_there(
    written: Path, engines: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_choice, "LEAST_TOKENS", 5)
    whole = answered(written, "native", engine="native")
    lines = whole.splitlines(keepends=True)
    written.with_name("auto").write_bytes(b"".join(lines[: SAMPLE + 1]))
    assert answered(written, "auto") == whole
    assert engines == [("gpu", len(WORDS)), ("native", len(WORDS))]


def test_without_a_gpu_or_with_few_inputs_nothing_is_tried(
    written: Path, engines: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_choice, "LEAST_INPUTS", len(WORDS) + 1)
    answered(written, "few")
    monkeypatch.setattr(engine_choice, "LEAST_INPUTS", 0)
    monkeypatch.setattr(engine_choice, "has_gpu", lambda: False)
    answered(written, "none")
    assert engines == [("native", len(WORDS))] * 2
