"""What a batch keeps is bounded, whatever its lines and limits are."""

from __future__ import annotations

from pathlib import Path

import pytest

import tapeformer as tf
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.faults import TapeformerError
from tapeformer.gallery import gallery_machine
from tapeformer.inference.batch import BatchModel, BatchOptions, files, recorder, runner
from tapeformer.inference.batch.files import Groups, run_file
from tapeformer.inference.batch.inputs import opened
from tapeformer.inference.batch.recorder import Recorder
from tapeformer.windows import Integers

MACHINE = gallery_machine("palindrome")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> BatchModel:
    bundle = compile_machine(MACHINE, CompileOptions(levels=5))
    return BatchModel(MACHINE, bundle, BatchOptions(cache=tmp_path_factory.mktemp("cache")))


@pytest.mark.parametrize("limits", [{"max_steps": 2**63}, {"max_tokens": 2**64}])
def test_a_limit_that_nobody_reaches_may_be_any_number(limits: dict[str, int]) -> None:
    (answer,) = tf.run_batch("palindrome", ["abba"], **limits)
    assert isinstance(answer, tf.Answer)
    assert answer.outcome is tf.Outcome.ACCEPT


def test_prompts_that_take_much_room_run_one_after_another(
    model: BatchModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["ab" * 6, "", "a", *["abba"] * 3, "bab"]
    expected = Recorder(model).answered(lines)
    asked: list[int] = []
    prompts_at_once = runner.prompts_at_once

    def counted(sizes: Integers) -> int:
        asked.append(prompts_at_once(sizes))
        return asked[-1]

    monkeypatch.setattr(runner, "MOST_PROMPT_TOKENS", 12)
    monkeypatch.setattr(runner, "prompts_at_once", counted)
    assert Recorder(model).answered(lines) == expected
    assert asked == [3, 1, 1]  # the empty word, `a` and `bab`; `abba` once; twelve letters


def test_a_line_that_is_no_word_does_not_size_the_model(tmp_path: Path) -> None:
    sizes = []
    for name, odd in (("short", "x"), ("long", "x" * 10**6)):
        (tmp_path / name).write_text(f"ab\n{odd}\naba\n")
        found = tf.run_batch_file("palindrome", tmp_path / name, tmp_path / f"{name}.answers")
        assert found.outcomes == {"accept": 1, "error": 1, "reject": 1}
        first = (tmp_path / f"{name}.answers").read_bytes().split(b"\n")[0]
        sizes.append(first)
    assert sizes[0] == sizes[1]


def test_answers_that_take_much_room_are_not_kept(
    model: BatchModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = Recorder(model)
    answers.answered(["ab", "ba"])
    assert set(answers.kept) == {"ab", "ba"}
    monkeypatch.setattr(recorder, "MOST_BYTES", 10)
    answers.answered(["abba"])
    assert not answers.kept


def test_a_group_of_long_lines_has_no_more_than_the_first_ones_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(files, "MOST_CHARACTERS", 100)
    groups = Groups(iter(["abcdefghij"] * 60), 4)
    groups._size = 32
    assert [len(group) for group in groups] == [10, 10, 10, 10, 10, 10]
    groups = Groups(iter(["a" * 1000] * 10), 4)
    groups._size = 32
    assert [len(group) for group in groups] == [4, 4, 2]


def test_answers_do_not_go_into_the_file_of_inputs(model: BatchModel, tmp_path: Path) -> None:
    given, link = tmp_path / "words", tmp_path / "link"
    given.write_text("ab\n")
    link.symlink_to(given)
    for answers in (given, link):
        with (
            opened(given) as inputs,
            pytest.raises(TapeformerError, match="into the file of inputs"),
        ):
            run_file(model, inputs, answers)
    assert given.read_text() == "ab\n"
