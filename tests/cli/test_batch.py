"""`run --batch` as a user sees it."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tapeformer.compile.options import CompileOptions
from tapeformer.compile.sizes import for_words
from tapeformer.gallery import gallery_machine
from tapeformer.inference.model import Model
from tests.cli.test_commands import record, tapeformer

PALINDROME = gallery_machine("palindrome")


def test_a_batch_is_answered_in_order_and_gone_on_with(tmp_path: Path) -> None:
    inputs, answers = tmp_path / "in.txt", tmp_path / "out.jsonl"
    inputs.write_text("abba\nab\n\nbab\n")
    words = (
        "run",
        "palindrome",
        "--levels",
        "4",
        "--batch",
        str(inputs),
        "--answers",
        str(answers),
    )
    assert tapeformer(*words).returncode == 0
    lines = answers.read_text().splitlines()
    assert [json.loads(line)["outcome"] for line in lines] == [
        "accept",
        "reject",
        "accept",
        "accept",
    ]
    alone = record("run", "palindrome", "abba", "--levels", "4", "--engine", "native")
    first = json.loads(lines[0])
    assert (len(first.pop("model")), first.pop("spaced")) == (64, False)
    assert first == {k: alone[k] for k in alone if k not in ("seconds", "tokens_per_second")}
    answers.write_text("\n".join(lines[:2]) + '\n{"input": "", "mod')
    assert record(*words)["outcomes"] == {"accept": 3, "reject": 1}
    assert answers.read_text().splitlines() == lines
    assert "of another model" in tapeformer(*words, "--base", "4").stderr


def test_a_batch_from_standard_input_and_its_status(tmp_path: Path) -> None:
    answers = tmp_path / "out.jsonl"
    words = ("run", "palindrome", "--levels", "4", "--batch", "-", "--answers", str(answers))
    for text, extra, status in (
        ("abba\n", (), 0),
        ("ab\n", (), 0),
        ("abxa\nab\n", (), 2),
        ("ab\n", ("--max-steps", "1"), 3),
    ):
        answers.unlink(missing_ok=True)
        done = tapeformer(*words, *extra, stdin=text)
        error = "the first error: -:1: INPUT, character 3: error: symbol 'x'" * (status == 2)
        assert done.returncode == status
        assert done.stderr.startswith(error)
        assert done.stderr.count("\n") == bool(error)
        assert len(answers.read_text().splitlines()) == text.count("\n")


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (("abba",), "an input was given beside --batch"),
        (("--trace", "t"), "a batch shows no tokens"),
        (("--engine", "dense"), "a batch runs as machine code"),
        (("--dtype", "float32"), "a batch runs as machine code"),
        (("--engine", "foo"), "there is no engine"),
        ((), "the file cannot be read: No such file"),
    ],
)
def test_what_a_batch_cannot_heed_is_refused(
    extra: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    done = tapeformer("run", "palindrome", *extra, "--batch", str(tmp_path / "none"))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert message in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("palindrome", "abba", "--answers", "o"), "--answers was given without --batch"),
        (("palindrome", "abba", "--jobs", "2"), "--jobs was given without --batch"),
        (("palindrome", "--batch", "w", "--answers", "-"), "answers go to a file"),
        (("-", "--batch", "-", "--answers", "o"), "cannot both be standard input"),
        (("palindrome", "--base", "1", "--batch", "-", "--answers", "o"), "an even base"),
    ],
)
def test_options_that_do_not_go_together(words: tuple[str, ...], message: str) -> None:
    done = tapeformer("run", *words, stdin="ab\n")
    assert (done.returncode, done.stderr.count("\n"), done.stdout) == (2, 1, "")
    assert message in done.stderr


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (("palindrome",), "MACHINE was given beside --machines"),
        (("palindrome", "ab"), "was given beside --machines"),
        (("--batch", "-"), "--batch was given beside --machines"),
        (("--accept-on", "halt"), "--accept-on was given beside --machines"),
        (("--no-wildcard-blank",), "--wildcard-blank was given beside --machines"),
        (("--tape-kind", "two-way"), "--tape-kind"),
        (("--precision", "half"), "--precision was given beside --machines"),
        (("--show",), "--show was given beside --machines"),
        (("--spaced",), "cannot follow spaced"),
        (("--checkpoint", "c"), "cannot follow checkpoint"),
        (("--engine", "gpu"), "use --engine native"),
        (("--construction", "perez"), "perez"),
    ],
)
def test_what_a_file_of_machines_cannot_heed_is_refused(
    extra: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    machines, answers = tmp_path / "machines", tmp_path / "answers"
    machines.write_text("1RB---_------\n")
    done = tapeformer("run", "--machines", str(machines), "--answers", str(answers), *extra)
    assert done.returncode == 2
    assert message in done.stderr
    assert not answers.exists()


@pytest.mark.parametrize("option", ["--batch", "--machines"])
@pytest.mark.parametrize("path", ["", ".", "/"])
def test_inputs_that_are_no_file_get_one_message(option: str, path: str, tmp_path: Path) -> None:
    machine = () if option == "--machines" else ("palindrome",)
    for answers in ((), ("--answers", str(tmp_path / "answers"))):
        done = tapeformer("run", *machine, option, path, *answers)
        assert (done.returncode, done.stderr.count("\n"), done.stdout) == (2, 1, "")
        assert "the file cannot be read: Is a directory" in done.stderr


def test_standard_input_that_is_closed(tmp_path: Path) -> None:
    words = ("run", "palindrome", "--levels", "3", "--batch", "-", "--answers", str(tmp_path / "o"))
    command = shlex.join([sys.executable, "-m", "tapeformer", *words])
    done = subprocess.run(f"{command} <&-", shell=True, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "standard input is closed" in done.stderr


@pytest.mark.parametrize(("base", "levels"), [(None, 12), (2, 12), (4, 7), (6, 6), (8, 5)])
def test_every_base_reaches_about_as_far(base: int | None, levels: int) -> None:
    options = for_words(PALINDROME, CompileOptions(base=base), 4)
    assert (options.base, options.levels) == (base or 2, levels)


@pytest.mark.parametrize(("length", "levels"), [(2000, 12), (2050, 13), (5000, 14)])
def test_long_words_get_more_levels(length: int, levels: int) -> None:
    assert for_words(PALINDROME, CompileOptions(), length).levels == levels


def test_levels_are_enough_for_the_longest_line(tmp_path: Path) -> None:
    inputs = tmp_path / "in.txt"
    inputs.write_text("a\n" + "a" * 2050 + "\nb\n")
    words = ("palindrome", "--batch", str(inputs), "--answers", str(tmp_path / "out.jsonl"))
    assert tapeformer("run", *words, "--max-steps", "1").returncode == 3
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [answer["levels"] for answer in found] == [13] * 3


@pytest.mark.parametrize("construction", ["realtime", "paper"])
def test_a_space_is_raised_for_the_longest_line(construction: str) -> None:
    model = Model(PALINDROME, CompileOptions(construction, space=4))
    assert model.for_words(40).layout == model.for_word("ab" * 20).layout
