"""`run --batch` as a user sees it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_commands import record, tapeformer


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
        done = subprocess.run(
            [sys.executable, "-m", "tapeformer", *words, *extra],
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (status, "")
        assert len(answers.read_text().splitlines()) == text.count("\n")


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (("abba",), "an input was given beside --batch"),
        (("--trace", "t"), "a batch shows no tokens"),
        (("--engine", "dense"), "a batch runs as machine code"),
        (("--dtype", "float32"), "a batch runs as machine code"),
        ((), "the inputs cannot be read: No such file"),
    ],
)
def test_what_a_batch_cannot_heed_is_refused(
    extra: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    done = tapeformer("run", "palindrome", *extra, "--batch", str(tmp_path / "none"))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert message in done.stderr
