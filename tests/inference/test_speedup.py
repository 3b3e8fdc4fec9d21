"""Several steps in a token, through engines, limits, growing, batches, bundles and checkpoints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tapeformer as tf
from tapeformer.inference.batch.runner import BatchOptions, BatchRunner
from tapeformer.inference.generation import Generation
from tapeformer.inference.limits import Limits
from tapeformer.inference.records import model_record

BEAVER = tf.gallery_machine("busy_beaver_4")
STEPS = 107
"""How long the beaver runs: 3 tokens to boot, then one for each M steps."""


@pytest.fixture(scope="module")
def beaver() -> tf.Bundle:
    return tf.compile_machine(BEAVER, levels=3, steps_per_token=4)


@pytest.mark.parametrize("steps", [2, 3, 5])
def test_tokens_are_steps_divided_by_m(steps: int) -> None:
    answer = tf.run(BEAVER, "", steps_per_token=steps, engine="sparse")
    expected = tf.simulate(BEAVER)
    assert (answer.steps, answer.tapes) == (expected.steps, expected.tapes)
    assert answer.cot_tokens == 3 + -(-STEPS // steps)
    assert answer.boot_tokens == 3
    assert model_record(answer.bundle)["steps_per_token"] == steps


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 50, 51, 52, 53, 104, 105, 106, 107, 108])
@pytest.mark.parametrize("engine", ["sparse", "native"])
def test_a_step_limit_at_every_remainder(beaver: tf.Bundle, limit: int, engine: str) -> None:
    """The run stops with the last token that does not pass the limit; a verdict within it counts."""
    answer = tf.run(beaver, "", max_steps=limit, engine=engine)
    ends = limit >= STEPS
    assert answer.outcome.value == ("halt" if ends else "limit")
    assert answer.steps == (STEPS if ends else limit - limit % 4)
    expected = tf.simulate(BEAVER, max_steps=answer.steps)
    assert (answer.state, answer.tapes) == (expected.state, expected.tapes)


@pytest.mark.parametrize("engine", ["native", "dense"])
def test_engines_make_the_same_tokens(beaver: tf.Bundle, engine: str) -> None:
    if engine == "dense":
        pytest.importorskip("torch")
    rows = [
        np.concatenate(list(Generation(beaver, (), name).pieces(Limits())))
        for name in ("sparse", engine)
    ]
    assert np.array_equal(rows[0], rows[1])


@pytest.mark.parametrize("limit", [10**9, 9, 10, 11])
def test_a_batch_answers_as_single_runs_do(limit: int) -> None:
    machine = tf.gallery_machine("palindrome")
    bundle = tf.compile_machine(machine, levels=4, steps_per_token=3)
    words = [tuple(word) for word in ("", "a", "ab", "aba", "abba", "abab", "bbabb")]
    found = BatchRunner(bundle, BatchOptions(max_steps=limit)).answers(words)
    for word, answer in zip(words, found, strict=True):
        alone = tf.run(bundle, word, max_steps=limit, engine="sparse")
        assert not isinstance(answer, tf.TapeformerError)
        for key in ("outcome", "steps", "tapes", "state", "cot_tokens", "boot_tokens"):
            assert getattr(answer, key) == getattr(alone, key), (word, key)


def test_a_model_grows_in_flight() -> None:
    machine = tf.gallery_machine("busy_beaver_5")
    answer = tf.run(machine, "", steps_per_token=4, max_steps=3000, engine="sparse")
    expected = tf.simulate(machine, max_steps=3000)
    assert answer.grown > 0
    assert (answer.steps, answer.tapes) == (3000, expected.tapes)
    assert answer.cot_tokens == 3 + 750


def test_a_bundle_on_disk_runs_the_same(beaver: tf.Bundle, tmp_path: Path) -> None:
    beaver.save(tmp_path / "model")
    loaded = tf.load_bundle(tmp_path / "model")
    assert loaded.steps_per_token == 4
    assert tf.run(loaded, "").tapes == tf.simulate(BEAVER).tapes


def test_a_run_is_resumed_from_its_checkpoint(beaver: tf.Bundle, tmp_path: Path) -> None:
    file = tmp_path / "run"
    first = tf.run(beaver, "", max_steps=50, engine="sparse", checkpoint=file)
    assert (first.outcome.value, first.steps) == ("limit", 48)
    assert tf.run(beaver, "", engine="sparse", checkpoint=file).steps == STEPS


def test_a_stream_counts_the_steps_of_each_token(beaver: tf.Bundle) -> None:
    tokens = list(tf.stream(beaver, "", engine="sparse"))
    assert [token.steps for token in tokens] == [0, 0, 0, *range(4, STEPS, 4), STEPS]
    assert tokens[-1].tapes == tf.simulate(BEAVER).tapes


def test_out_of_space_leaves_the_configuration_before_the_token() -> None:
    machine = tf.gallery_machine("busy_beaver_5")
    answer = tf.run(machine, "", levels=2, steps_per_token=3, engine="sparse")
    assert answer.outcome.value == "out_of_space"
    assert answer.steps % 3 == 0
    assert answer.tapes == tf.simulate(machine, max_steps=answer.steps).tapes


def test_verify_compares_all_three() -> None:
    machine = tf.gallery_machine("palindrome_two_tapes")
    words = [case.word for case in machine.cases[:2]]
    for report in tf.verify(machine, *words, steps_per_token=3, engine="sparse", claims=True):
        assert report.agreed
        assert report.steps > 0


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2", True])
def test_other_numbers_of_steps_are_refused(wrong: object) -> None:
    with pytest.raises(tf.TapeformerError, match="at least one step"):
        tf.run(BEAVER, "", steps_per_token=wrong)


@pytest.mark.parametrize("construction", ["paper", "post"])
def test_other_constructions_refuse_several_steps(construction: str) -> None:
    with pytest.raises(tf.TapeformerError, match="at most one step in a token"):
        tf.run(BEAVER, "", construction=construction, steps_per_token=2)
