"""A file of machines: each answer is the direct simulation's, in line order, and a run resumes."""

from __future__ import annotations

import io
import json
import logging
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tapeformer.bench.enumeration import machines
from tapeformer.bundle.save import save_bundle
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.faults import TapeformerError
from tapeformer.gallery import gallery_machine, gallery_text
from tapeformer.inference.answer import Answer
from tapeformer.inference.batch import Inputs
from tapeformer.inference.batch.columns import ERROR
from tapeformer.inference.batch.families import FamilyRunner, family_of, shared_families
from tapeformer.inference.batch.machines import (
    MachineLines,
    MachineRecorder,
    answer_machines,
    run_machine,
    run_machines,
)
from tapeformer.inference.options import RunOptions
from tapeformer.simulator.fast import simulate
from tapeformer.simulator.outcome import Outcome
from tapeformer.sources import find_machine
from tapeformer.workers import Where

STEPS = 60
HERE = Where(processes=1)


def check(record: dict[str, object], text: str) -> None:
    machine = find_machine(text)
    result = simulate(machine, (), max_steps=STEPS)
    assert record["given"] == text
    assert (record["outcome"], record["steps"]) == (result.outcome.value, result.steps)
    assert record["state"] == result.state
    assert record["tapes"] == [machine.spell(tape.content) for tape in result.tapes]
    assert record["heads"] == [tape.head for tape in result.tapes]


def test_machines_are_answered_as_they_are_simulated(tmp_path: Path) -> None:
    texts = [*machines(5, seed=3), "1RB1LB_1LA1RZ", "nobody", "1RB---_------"]
    answers = tmp_path / "answers"
    options = RunOptions(max_steps=STEPS)
    lines = Inputs("".join(f"{text}\n" for text in texts).encode())
    found = answer_machines(lines, answers, options, place=HERE)
    records = [json.loads(line) for line in answers.read_text().splitlines()]
    assert found.answered == len(records) == len(texts)
    for text, record in zip(texts, records, strict=True):
        if text == "nobody":
            assert "no machine 'nobody'" in record[ERROR]
        else:
            check(record, text)


def records_of(texts: list[str], *groups: int) -> list[dict[str, Any]]:
    """The answers to lines that come in groups; all in one if no sizes are given."""
    options, left = RunOptions(max_steps=STEPS), iter(texts)
    recorder = MachineRecorder(MachineLines(options, shared_families(texts, options)))
    parts = [list(islice(left, size)) for size in (*groups, len(texts))]
    return [json.loads(line.content) for part in parts for line in recorder.lines(part)]


def test_families_share_machine_code_and_others_run_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    texts = [*machines(14, states=3, seed=5), "1RB1LB_1LA1RZ", "busy_beaver_2", "1RBxyz", "-"]
    texts += ["", "1RB" * 4000]
    texts[3:3] = ["1RB0RA_1LA1RH_------"]
    records = records_of(texts)
    errors = [text for text, record in zip(texts, records, strict=True) if ERROR in record]
    assert errors == ["1RBxyz", "-", "", "1RB" * 4000]
    assert not [entry for entry in caplog.records if entry.levelname == "WARNING"]
    shared = [record.get("neurons") for record in records[:3] + records[4:15]]
    assert len(set(shared)) == 1
    assert records[3]["neurons"] != shared[0]
    for text, record in zip(texts, records, strict=True):
        if text not in errors:
            check(record, text)


def test_answers_do_not_depend_on_the_groups_that_lines_come_in() -> None:
    texts = [*machines(9, states=2, seed=5), "1RB1LB_1LA1RH"]
    assert records_of(texts) == records_of(texts, 1, 6)


@pytest.mark.parametrize(("spaces", "alone"), [((30,), 1), ((30, 1000), 0), ((1000,), 0)])
def test_a_machine_that_needs_more_space_than_its_family_has_gets_a_larger_model(
    spaces: tuple[int, ...], alone: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapeformer.inference.batch.families.SPACES", spaces)
    ran: list[str] = []

    def run_alone(text: str, options: RunOptions) -> Answer:
        ran.append(text)
        return run_machine(text, options)

    monkeypatch.setattr("tapeformer.inference.batch.machines.run_machine", run_alone)
    texts = ["1RB1RB_1RA1RA", *machines(8, states=2, seed=5)]
    records = records_of(texts)
    assert records[0]["capacity"] >= STEPS
    assert (records[1]["capacity"] < STEPS) == (30 in spaces)
    assert bool(ran) == bool(alone)
    assert ran[:alone] == texts[:alone]
    for text, record in zip(texts, records, strict=True):
        check(record, text)


def test_a_machine_that_outgrows_what_was_simulated_gets_a_larger_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "1RB1RB_1RA1RA"
    monkeypatch.setattr("tapeformer.compile.sizes.SEARCHED_STEPS", 20)
    (record,) = records_of([text])
    check(record, text)
    assert record["grown"] > 0
    assert records_of([text]) == [record]
    fixed = RunOptions(CompileOptions("paper"), max_steps=1000)
    assert run_machine(text, fixed).outcome is Outcome.OUT_OF_SPACE


def test_a_model_that_would_outgrow_the_memory_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tapeformer.compile.sizes.SEARCHED_STEPS", 20)
    monkeypatch.setattr("tapeformer.engines.memory.free_memory", lambda: 10**7)
    grown, other = records_of(["1RB1RB_1RA1RA", "1RB1LB_1LA1RZ"])
    assert "needs too much memory; expected at most 0.01 GB; got 0.02 GB" in grown[ERROR]
    assert other["outcome"] == "halt"


def test_a_run_that_was_simulated_whole_never_grows() -> None:
    (record,) = records_of(["1RB1RB_1RA1RA"])
    assert (record["grown"], record["levels"]) == (0, 3)


def test_machines_that_run_alone_log_no_notes(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "tapeformer"):
        records_of(["1RB1LB_1LA1RZ", "busy_beaver_2"])
        run_machine("busy_beaver_2", RunOptions(CompileOptions("paper"), max_steps=STEPS))
    assert caplog.messages == []


def test_a_model_is_run_by_its_weights_and_not_by_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "1RB1LB_1LA1RZ"
    family = family_of(text)
    assert family is not None
    runner = FamilyRunner(family, RunOptions(max_steps=STEPS), STEPS)
    other = runner.models.model(find_machine("1RB---_------"))
    monkeypatch.setattr(runner.models, "model", lambda _: other)
    (answer,) = runner.answers([find_machine(text)])
    assert answer is not None
    assert (answer.steps, answer.state) == (1, "B")


def test_the_same_call_resumes(tmp_path: Path) -> None:
    source, answers = tmp_path / "machines", tmp_path / "answers"
    source.write_text("1RB1LB_1LA1RZ\n1RB---_------\n")
    whole = run_machines(source, answers, max_steps=STEPS)
    content = answers.read_bytes()
    first = content.index(b"\n") + 1
    answers.write_bytes(content[: first + 30])
    assert run_machines(source, answers, max_steps=STEPS) == whole
    assert answers.read_bytes() == content


def test_answers_of_other_machines_are_refused(tmp_path: Path) -> None:
    source, answers = tmp_path / "machines", tmp_path / "answers"
    source.write_text("1RB---_------\n")
    run_machines(source, answers, max_steps=STEPS)
    source.write_text("1RB1LB_1LA1RZ\n")
    with pytest.raises(Exception, match="to other machines"):
        run_machines(source, answers, max_steps=STEPS)


@pytest.mark.parametrize("limits", [{"max_steps": 5000}, {"max_steps": 50, "max_tokens": 10**6}])
def test_answers_under_other_limits_are_refused(limits: dict[str, Any], tmp_path: Path) -> None:
    source, answers = tmp_path / "machines", tmp_path / "answers"
    source.write_text("1RB1LB_1LA1RZ\n")
    run_machines(source, answers, max_steps=50)
    content = answers.read_bytes()
    source.write_text("1RB1LB_1LA1RZ\n1RB1RB_1RA1RA\n")
    with pytest.raises(TapeformerError, match="with other options"):
        run_machines(source, answers, **limits)
    assert answers.read_bytes() == content


def written(folder: Path) -> list[str]:
    """Write a file, a bundle and a file without a machine; return their paths, and one of nothing."""
    names = [str(folder / name) for name in ("file.yaml", "bundle", "empty.txt", "nothing.yaml")]
    Path(names[0]).write_text(gallery_text("busy_beaver_2"))
    options = CompileOptions(levels=3)
    save_bundle(compile_machine(gallery_machine("busy_beaver_2"), options), Path(names[1]))
    Path(names[2]).write_text("")
    return names


def test_the_bytes_are_the_same_after_a_kill(tmp_path: Path) -> None:
    paths, answers = written(tmp_path), tmp_path / "answers"
    texts = [*paths, *machines(8, states=2, seed=5), "1RB1LB_1LA1RH", paths[0]]
    lines, options = Inputs("\n".join(texts).encode()), RunOptions(max_steps=STEPS)
    whole = answer_machines(lines, answers, options, place=HERE)
    content = answers.read_bytes()
    ends = [len(part) + 1 for part in content.split(b"\n")]
    for kept in (ends[0] // 2, ends[0] + 60, sum(ends[:2]), sum(ends[:3]) + 70, sum(ends[:9]) + 5):
        answers.write_bytes(content[:kept])
        assert answer_machines(lines, answers, options, place=HERE) == whole
        assert answers.read_bytes() == content
    records = [json.loads(line) for line in content.splitlines()]
    assert ["sha256" in record for record in records] == [True] * 3 + [False] * 10 + [True]
    assert records[0]["sha256"] == sha256(Path(paths[0]).read_bytes()).hexdigest()


@pytest.mark.parametrize("number", range(4), ids=["file", "bundle", "empty", "nothing"])
def test_a_machine_that_has_changed_is_refused(number: int, tmp_path: Path) -> None:
    paths, source, answers = written(tmp_path), tmp_path / "machines", tmp_path / "answers"
    source.write_text("".join(f"{path}\n" for path in paths))
    run_machines(source, answers, max_steps=STEPS)
    content = answers.read_bytes()
    changed = Path(paths[number]) / "machine.yaml" if number == 1 else Path(paths[number])
    with changed.open("a") as file:
        file.write("# another text\n")
    message = rf"answers:{number + 1}: error: the machine of this line, .* has changed"
    with pytest.raises(TapeformerError, match=message):
        run_machines(source, answers, max_steps=STEPS)
    assert answers.read_bytes() == content


def test_the_enumeration_is_the_same_for_a_seed() -> None:
    first = list(machines(50, seed=1))
    assert first == list(machines(50, seed=1))
    assert len(set(first)) == 50
    assert all(text.startswith("1RB") and text.count("_") == 4 for text in first)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "gpu"}, "a GPU runs many inputs of one machine"),
        ({"spaced": True}, "cannot follow spaced"),
        ({"allow_modified": True}, "cannot follow allow_modified"),
        ({"checkpoint": "c"}, "cannot follow checkpoint"),
        ({"engine": "dense", "attention": "softmax"}, "cannot follow attention"),
    ],
)
def test_options_that_machines_cannot_follow_are_refused(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    source, answers = tmp_path / "machines", tmp_path / "answers"
    source.write_text("1RB---_------\n")
    with pytest.raises(TapeformerError, match=message):
        run_machines(source, answers, **options)
    assert not answers.exists()


def test_a_line_never_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"1RB---_------")))
    (found,) = records_of(["-"])
    assert "give a path, or busy-beaver text" in found[ERROR]
