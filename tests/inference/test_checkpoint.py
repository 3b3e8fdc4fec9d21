"""A resumed run is the undisturbed one; a run of anything else is refused and leaves the file."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

import tapeformer as tf
from tapeformer import CompileOptions, TapeformerError, compile_machine
from tapeformer.gallery import gallery_machine
from tapeformer.inference import checkpoint
from tapeformer.inference.checkpoint import Checkpoint
from tapeformer.inference.generation import Generation

BUNDLE = compile_machine(gallery_machine("palindrome"), CompileOptions(levels=4))
RUNNER, OTHER = "1RA1RA", "0RA0RA"
"""Machines that run to the right for ever: they need one cell more in every step."""

Tokens = list[list[int]]


pytestmark = pytest.mark.usefixtures("own_cache")


def said(answer: tf.Answer) -> tuple[object, ...]:
    """All that must not depend on where a run was interrupted."""
    counts = (answer.steps, answer.boot_tokens, answer.cot_tokens, answer.prompt_tokens)
    model = (answer.grown, answer.margin, answer.bundle.digest)
    return (answer.outcome, answer.state, answer.tapes, *counts, *model)


def traced(machine: str, word: str, **options: Any) -> tuple[tf.Answer, Tokens]:
    """Return an answer and the tokens that were generated for it."""
    tokens: Tokens = []
    answer = tf.run(machine, word, see=lambda rows, _: tokens.extend(rows.tolist()), **options)
    return answer, tokens


@pytest.mark.parametrize(("every", "written"), [(60.0, False), (-1.0, True)])
def test_it_is_written_when_it_is_due(
    every: float, written: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "EVERY", every)
    word, file, told = tuple("abba"), tmp_path / "file", list[int]()
    run = Generation(BUNDLE, word, "sparse")

    def watch(tokens: int) -> bool:
        told.append(tokens)
        return tokens < 5

    watched = Checkpoint(file, word).watching(run, watch)
    assert [watched(tokens) for tokens in (3, 7)] == [True, False]
    assert told == [3, 7]
    assert file.exists() is written


UNDISTURBED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "an answer": ("palindrome", "abbabba", {}),
    "a fixed size": ("palindrome", "abbabba", {"levels": 5}),
    "another base": ("palindrome", "abbabba", {"base": 4}),
    "two tapes": ("palindrome_two_tapes", "abbabba", {}),
    "another construction": ("palindrome", "abba", {"construction": "paper"}),
    "one queue": ("palindrome", "abba", {"construction": "post"}),
    "several steps in a token": ("palindrome", "abbabba", {"steps_per_token": 2}),
    "a grown run": (RUNNER, "", {"max_steps": 90}),
    "a grown run in base 4": (RUNNER, "", {"base": 4, "max_steps": 90}),
    "a grown run of several steps": (RUNNER, "", {"steps_per_token": 2, "max_steps": 180}),
}


CUTS, LATE = (1, 2, 7, 20, 23, 24, 25), (31, 67, 68, 69)
"""Where runs are cut: the runner asks for levels at token 24, in base 4 at token 68."""


@pytest.mark.parametrize("engine", ["sparse", "native"])
@pytest.mark.parametrize("case", UNDISTURBED)
def test_a_resumed_run_has_the_tokens_and_the_answer_of_an_undisturbed_one(
    case: str, engine: str, tmp_path: Path
) -> None:
    machine, word, options = UNDISTURBED[case]
    options = {**options, "engine": engine}
    whole, expected = traced(machine, word, **options)
    file, tokens = tmp_path / "file", list[list[int]]()
    assert (whole.grown > 0) is ("grown" in case)
    for limit in (*CUTS, *(LATE if whole.grown else ())):
        cut, made = traced(machine, word, **options, checkpoint=file, max_tokens=limit)
        tokens += made
        assert len(tokens) == cut.cot_tokens == limit
        assert file.exists()
    answer, made = traced(machine, word, **options, checkpoint=file)
    assert tokens + made == expected
    assert said(answer) == said(whole)
    assert file.exists() is (whole.outcome is tf.Outcome.LIMIT)


@pytest.mark.parametrize("engine", ["sparse", "native", "auto"])
def test_a_run_that_was_killed_is_resumed_from_what_was_written_last(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "EVERY", -1.0)
    file = tmp_path / "file"

    def watch(tokens: int) -> bool:
        if tokens > 1_000:
            raise InterruptedError
        return True

    with pytest.raises(InterruptedError):
        tf.run(RUNNER, engine=engine, checkpoint=file, watch=watch)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    resumed = tf.run(RUNNER, engine=engine, checkpoint=file, max_steps=9_000)
    assert said(resumed) == said(tf.run(RUNNER, engine="sparse", max_steps=9_000))


def test_a_run_that_grew_is_resumed_by_the_large_model(tmp_path: Path) -> None:
    file = tmp_path / "file"
    before = tf.run(RUNNER, checkpoint=file, max_steps=100)
    assert (before.grown, before.bundle.layout.levels) == (10, 12)
    after = tf.run(RUNNER, checkpoint=file, max_steps=100)
    assert said(after) == said(before)


def test_another_engine_resumes_a_run_with_the_same_tokens(tmp_path: Path) -> None:
    file, tokens = tmp_path / "file", list[list[int]]()
    for engine, limit in (("sparse", 10), ("dense", 15), ("native", 40), ("auto", 60)):
        options = {"engine": engine, "checkpoint": file, "max_steps": limit}
        answer, made = traced(RUNNER, "", **options)
        tokens += made
    whole, expected = traced(RUNNER, "", engine="sparse", max_steps=60)
    assert answer.grown > 0
    assert tokens == expected
    assert said(answer) == said(whole)


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "more levels": ({}, {"levels": 12}, "2 levels, base 2, growing; got .* 12 levels.*fixed size"),
    "some levels": ({}, {"levels": 6}, "got 1RA1RA, realtime, 6 levels, base 2, of fixed size"),
    "as many levels": ({}, {"levels": 2}, "without a size if it was growing, or another file"),
    "space": ({}, {"space": 30}, "growing; got .* of fixed size"),
    "another base": ({}, {"base": 4}, "base 2, growing; got .* base 4, growing"),
    "the usual base": ({"base": 4}, {}, "base 4, growing; got .* base 2, growing"),
    "other levels": ({"levels": 3}, {"levels": 4}, "3 levels.* of fixed size; got .* 4 levels"),
    "no levels": ({"levels": 3}, {}, "of fixed size; got .* 2 levels, base 2, growing"),
    "another machine": ({}, {"machine": OTHER}, "expected 1RA1RA.*; got 0RA0RA"),
    "other heads": ({}, {"heads": "queue"}, "expected the same options.*; got others"),
    "more steps": ({}, {"steps_per_token": 2}, "the checkpoint is of another model"),
    "another construction": ({}, {"construction": "paper", "space": 30}, "realtime.*; got .*paper"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_run_of_another_model_is_refused_and_the_file_kept(case: str, tmp_path: Path) -> None:
    begun, other, message = REFUSED[case]
    file = tmp_path / "file"
    tf.run(RUNNER, **begun, checkpoint=file, max_steps=20)
    content = file.read_bytes()
    with pytest.raises(TapeformerError, match=message):
        tf.run(**{"machine": RUNNER, **other}, checkpoint=file, max_steps=25)
    assert file.read_bytes() == content
    resumed = tf.run(RUNNER, **begun, checkpoint=file, max_steps=25)
    assert said(resumed) == said(tf.run(RUNNER, **begun, max_steps=25))


def test_a_run_that_grew_is_not_resumed_at_its_size(tmp_path: Path) -> None:
    file = tmp_path / "file"
    tf.run(RUNNER, checkpoint=file, max_steps=100)
    with pytest.raises(TapeformerError, match=r"12 levels, base 2, growing; got .* 5 levels"):
        tf.run(RUNNER, levels=5, checkpoint=file)
    with pytest.raises(TapeformerError, match=r"base 2, growing; got .* base 4, growing"):
        tf.run(RUNNER, base=4, checkpoint=file)
    assert tf.run(RUNNER, checkpoint=file, max_steps=200).steps == 200


def test_a_bundle_is_resumed_by_the_same_bundle_only(tmp_path: Path) -> None:
    file, other = tmp_path / "file", compile_machine(gallery_machine("palindrome"), levels=5)
    tf.run(BUNDLE, "abba", checkpoint=file, max_steps=5)
    with pytest.raises(TapeformerError, match=r"4 levels.*; got .* 5 levels"):
        tf.run(other, "abba", checkpoint=file)
    assert said(tf.run(BUNDLE, "abba", checkpoint=file)) == said(tf.run(BUNDLE, "abba"))


def test_a_run_on_another_input_is_refused_and_the_file_kept(tmp_path: Path) -> None:
    file = tmp_path / "file"
    tf.run(BUNDLE, "abba", checkpoint=file, max_steps=5)
    content = file.read_bytes()
    for word in ("", "abb", "abbb", "abbaa"):
        with pytest.raises(TapeformerError, match=r"on another input; give the input it was begun"):
            tf.run(BUNDLE, word, checkpoint=file)
    assert file.read_bytes() == content


def test_out_of_space_nothing_is_left_to_resume(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The growing run's file is not used up by a run of a fixed size, which is refused."""
    file = tmp_path / "file"
    tf.run(RUNNER, levels=2, checkpoint=file, max_steps=20)
    with caplog.at_level(logging.INFO, "tapeformer"):
        full = tf.run(RUNNER, levels=2, checkpoint=file)
    assert full.outcome is tf.Outcome.OUT_OF_SPACE
    assert "out of space cannot be resumed; with other sizes it begins anew" in caplog.text
    assert not file.exists()
    assert tf.run(RUNNER, levels=5, checkpoint=file, max_steps=100).steps == 100


def test_a_file_that_cannot_be_removed_costs_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    file = tmp_path / "file"
    monkeypatch.setattr(Path, "unlink", refuse)
    assert tf.run(BUNDLE, "abba", checkpoint=file).outcome is tf.Outcome.ACCEPT
    assert f"{file}: not removed: Permission denied" in caplog.text
