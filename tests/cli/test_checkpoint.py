"""`run --checkpoint`: what is refused is one message with status 2, and the run is not lost."""

from __future__ import annotations

from pathlib import Path

from tests.cli.test_commands import record, tapeformer


def test_other_sizes_are_refused_and_the_run_goes_on_without_them(tmp_path: Path) -> None:
    file = str(tmp_path / "file")
    command = ("run", "busy_beaver_5", "--checkpoint", file, "--max-steps")
    assert record(*command, "20", status=3)["steps"] == 20
    for sizes in (("--levels", "12"), ("--levels", "6"), ("--base", "4")):
        done = tapeformer(*command, "1000", *sizes)
        assert (done.returncode, done.stderr.count("\n"), done.stdout) == (2, 1, "")
        assert "the checkpoint is of another model" in done.stderr
        assert "without a size if it was growing, or another file" in done.stderr
    resumed, undisturbed = (
        record(*command, "1000", status=3),
        record(*command[:2], "--max-steps", "1000", status=3),
    )
    for key in ("outcome", "state", "steps", "tapes"):
        assert resumed[key] == undisturbed[key]


def test_out_of_space_says_that_nothing_is_left_to_resume(tmp_path: Path) -> None:
    file = tmp_path / "file"
    done = tapeformer("run", "busy_beaver_5", "--levels", "2", "--checkpoint", str(file))
    assert done.returncode == 4
    assert "note: a run out of space cannot be resumed" in done.stderr
    assert not file.exists()


def test_the_help_says_what_resumes_a_run() -> None:
    assert "machine, input and sizes" in " ".join(tapeformer("run", "--help").stdout.split())
