"""A file of inputs becomes a file of answers; whatever stops it, the next run goes on rightly."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tapeformer.bundle.save import bundle_files
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.faults import TapeformerError
from tapeformer.formats.registry import OWN_FORMAT, loads
from tapeformer.gallery import gallery_machine
from tapeformer.inference.batch import BatchModel, BatchOptions, Inputs, Summary, files, run_file
from tapeformer.inference.batch.files import FEWEST_LINES, first_group
from tapeformer.inference.batch.prompts import CodedWords
from tapeformer.inference.batch.recorder import AnswerLines
from tapeformer.inference.batch.runner import BatchRunner, Block
from tapeformer.workers import Where
from tapeformer.workers.local import ThreadPool

MACHINE = gallery_machine("palindrome")
BUNDLE = compile_machine(MACHINE, CompileOptions("paper", levels=2, base=4))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> BatchModel:
    return BatchModel(MACHINE, BUNDLE, BatchOptions(cache=tmp_path_factory.mktemp("cache")))


def inputs_of(*lines: str) -> Inputs:
    return Inputs("".join(f"{line}\n" for line in lines).encode())


def words(count: int) -> list[str]:
    chance = random.Random(count)
    return ["".join(chance.choices("ab", k=chance.randrange(6))) for _ in range(count)]


def test_answers_come_in_order_and_by_two_processes(model: BatchModel, tmp_path: Path) -> None:
    given, answers, seen = words(2 * FEWEST_LINES + 5), tmp_path / "answers", [0]

    def watch(done: int) -> bool:
        seen.append(done)
        return True

    found = run_file(model, inputs_of(*given), answers, watch=watch)
    records = [json.loads(line) for line in answers.read_bytes().splitlines()]
    assert [record["input"] for record in records] == given
    assert [record["outcome"] == "accept" for record in records] == [w == w[::-1] for w in given]
    assert (found.inputs, found.answered) == (len(given), len(given))
    assert seen == sorted(seen)
    config = json.loads(bundle_files(BUNDLE)["config.json"])
    assert {record["model"] for record in records} == {config["sha256"]["config"]}
    alone = tmp_path / "alone"
    run_file(model, inputs_of(*given), alone, where=Where(processes=1))
    assert alone.read_bytes() == answers.read_bytes()


def test_an_input_that_does_not_fit_does_not_stop_the_others(
    model: BatchModel, tmp_path: Path
) -> None:
    answers = tmp_path / "answers"
    found = run_file(model, inputs_of("ab", "axb", "a" * 99, "", "aba"), answers)
    records = [json.loads(line) for line in answers.read_text().splitlines()]
    assert [record.get("outcome") for record in records] == [
        "reject",
        None,
        None,
        "accept",
        "accept",
    ]
    assert "symbol 'x'" in records[1]["error"]
    assert "too long" in records[2]["error"]
    assert found == Summary(5, {"accept": 2, "error": 2, "reject": 1})
    assert run_file(model, inputs_of("ab", "axb", "a" * 99, "", "aba"), answers) == found


def test_a_cut_anywhere_is_gone_on_with(model: BatchModel, tmp_path: Path) -> None:
    answers, inputs = tmp_path / "answers", inputs_of("ab", "", "abx", "aba")
    run_file(model, inputs, answers)
    whole = answers.read_bytes()
    ends = [place for place, letter in enumerate(whole) if letter == 10]
    for cut in {0, 1, 7, 12, 40, len(whole) - 1, len(whole), *ends, *(end + 1 for end in ends)}:
        answers.write_bytes(whole[:cut])
        run_file(model, inputs, answers)
        assert answers.read_bytes() == whole, cut


class KilledError(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("written", [0, 1, 9, 300, 10**6])
def test_killed_while_it_writes(
    written: int, model: BatchModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = words(600)
    whole, answers = tmp_path / "whole", tmp_path / "answers"
    run_file(model, inputs_of(*given), whole, where=Where(processes=1))
    write, calls = os.write, []

    def killed(handle: int, content: memoryview) -> int:
        calls.append(write(handle, content[:written]))
        if len(calls) == 2 or written < len(content):
            raise KilledError
        return calls[-1]

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", killed)
        with pytest.raises(KilledError):
            run_file(model, inputs_of(*given), answers, where=Where(processes=1))
    assert answers.read_bytes() == whole.read_bytes()[: sum(calls)]
    run_file(model, inputs_of(*given), answers, where=Where(processes=1))
    assert answers.read_bytes() == whole.read_bytes()


def test_a_run_that_is_told_to_stop_goes_on_later(model: BatchModel, tmp_path: Path) -> None:
    answers, inputs = tmp_path / "answers", inputs_of(*words(600))
    stopped = run_file(
        model, inputs, answers, where=Where(processes=1), watch=lambda done: done == 0
    )
    assert stopped.answered == first_group(600, Where(processes=1))
    assert run_file(model, inputs, answers, where=Where(processes=1)).answered == 600


def test_answers_of_something_else_are_refused_and_kept(model: BatchModel, tmp_path: Path) -> None:
    answers, inputs = tmp_path / "answers", inputs_of("ab", "aba")
    run_file(model, inputs, answers)
    whole = answers.read_bytes()
    other = compile_machine(MACHINE, CompileOptions("paper", levels=2, base=6))
    few = replace(model.options, max_steps=2)
    for text, changed, given in (
        ("to other inputs", model, inputs_of("ab", "b")),
        ("to other inputs", model, inputs_of("ab")),
        ("of another model", replace(model, bundle=other), inputs),
        ("other limits", replace(model, options=few), inputs),
    ):
        with pytest.raises(TapeformerError, match=text):
            run_file(changed, given, answers)
        assert answers.read_bytes() == whole
    limited = tmp_path / "limited"
    run_file(replace(model, options=few), inputs, limited)
    with pytest.raises(TapeformerError, match="other limits"):
        run_file(model, inputs, limited)


SPELLED = """
blank: _
start state: read
accept: [done]
input symbols: [a, b, ab]
table:
  read:
    [a, b, ab]: R
    _: {R: done}
  done: {}
"""


def test_answers_to_inputs_that_were_read_otherwise_are_refused(tmp_path: Path) -> None:
    machine, inputs = loads(SPELLED, "spelled", OWN_FORMAT), inputs_of("ab", "ab")
    bundle = compile_machine(machine, CompileOptions(levels=3))
    close = BatchModel(machine, bundle, BatchOptions(cache=tmp_path))
    spaced = replace(close, options=replace(close.options, spaced=True))
    for first, second in ((close, spaced), (spaced, close)):
        answers = tmp_path / "answers"
        run_file(first, inputs, answers)
        whole = answers.read_bytes()
        one = whole[: whole.index(b"\n") + 1]
        answers.write_bytes(one)
        with pytest.raises(TapeformerError, match="only one of both with spaced=True"):
            run_file(second, inputs, answers)
        assert answers.read_bytes() == one
        run_file(first, inputs, answers)
        assert answers.read_bytes() == whole
        answers.unlink()


def test_a_run_of_no_steps_has_no_margin(model: BatchModel, tmp_path: Path) -> None:
    answers = tmp_path / "answers"
    run_file(replace(model, options=replace(model.options, max_steps=0)), inputs_of("ab"), answers)
    assert '"margin": null' in answers.read_text()


@pytest.mark.parametrize(
    ("key", "value"),
    [("steps", None), ("steps", "3"), ("cot_tokens", True), ("outcome", "banana"), ("outcome", [])],
)
def test_a_record_that_no_run_writes_is_no_answer(
    key: str, value: object, model: BatchModel, tmp_path: Path
) -> None:
    answers, inputs = tmp_path / "answers", inputs_of("ab", "aba")
    run_file(model, inputs, answers)
    first, second = (json.loads(line) for line in answers.read_text().splitlines())
    changed = json.dumps({**first, key: value}) + "\n" + json.dumps(second) + "\n"
    answers.write_text(changed)
    with pytest.raises(TapeformerError, match="no answer of a batch"):
        run_file(model, inputs, answers)
    assert answers.read_text() == changed


@pytest.mark.parametrize(
    "content", ["[" * 10**5 + "\n", "not json\n", "ab", '{"input": "b"', "[]\n", "{}\n", "3\n"]
)
def test_a_file_that_has_no_answers_is_kept(
    content: str, model: BatchModel, tmp_path: Path
) -> None:
    answers = tmp_path / "answers"
    answers.write_text(content)
    with pytest.raises(TapeformerError, match="no answer of a batch"):
        run_file(model, inputs_of("ab"), answers)
    assert answers.read_text() == content


def test_a_worker_knows_how_many_share_the_memory(
    model: BatchModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def pool_at(_: Where, task: AnswerLines) -> ThreadPool:
        asked.append(task.model.options.processes)
        return ThreadPool(task)

    monkeypatch.setattr(files, "pool_at", pool_at)
    for count in (1, FEWEST_LINES, FEWEST_LINES + 1):
        two = Where(processes=2)
        run_file(model, inputs_of(*words(count)), tmp_path / f"answers {count}", where=two)
    assert asked == [1, 1, 2]


def test_first_groups_fill_registers_once_every_core_has_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    two = Where(processes=2)
    for bits, groups in ((256, [256, 256, 256, 256]), (512, [256, 256, 300, 512])):
        monkeypatch.setattr(files, "vector_bits", lambda bits=bits: bits)
        assert [first_group(lines, two) for lines in (1, 512, 600, 5000)] == groups
        assert first_group(600, Where(cluster="tcp://127.0.0.1:1")) == bits


def test_two_runs_do_not_write_one_file(model: BatchModel, tmp_path: Path) -> None:
    answers = tmp_path / "answers"
    with answers.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(TapeformerError, match="another run is writing"):
            run_file(model, inputs_of("ab"), answers)
    assert run_file(model, inputs_of("ab"), answers).answered == 1


def test_answers_that_cannot_be_written(
    model: BatchModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (tmp_path / "none" / "answers", tmp_path, Path(os.devnull)):
        with pytest.raises(TapeformerError, match="cannot be written"):
            run_file(model, inputs_of("ab"), path)

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(TapeformerError, match="No space left on device"):
        run_file(model, inputs_of("ab"), tmp_path / "answers")


def test_equal_inputs_are_answered_once(
    model: BatchModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    blocks_of = BatchRunner.blocks

    def counted(self: BatchRunner, words: CodedWords) -> Iterator[list[Block]]:
        asked.append(len(words))
        return blocks_of(self, words)

    monkeypatch.setattr(BatchRunner, "blocks", counted)
    given = ["ab", "", "ab", "x", "ab", "x", ""]
    run_file(model, inputs_of(*given), tmp_path / "answers")
    lines = (tmp_path / "answers").read_text().splitlines()
    assert [json.loads(line)["input"] for line in lines] == given
    assert len(set(lines)) == 3
    assert asked == [2]
