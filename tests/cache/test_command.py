"""A command whose cache is refused says so in one line and goes on with its own status."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cache.users import STRANGER, needs_root

RUN = ("run", "palindrome", "abb", "--engine", "native")


def run(base: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder with a cache folder."""
    return subprocess.run(
        [sys.executable, "-m", "tapeformer", *arguments],
        cwd=folder,
        env={**os.environ, "XDG_CACHE_HOME": base},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def told(found: subprocess.CompletedProcess[str]) -> str:
    """Check that the run rejected the word and return the one line on standard error."""
    assert found.returncode == 1
    assert found.stdout.splitlines()[-2].startswith("rejected in state")
    (line,) = found.stderr.splitlines()
    return line


def test_without_a_reason_nothing_is_said(tmp_path: Path) -> None:
    found = run(str(tmp_path / "new"), tmp_path, *RUN)
    assert (found.returncode, found.stderr) == (1, "")
    assert any((tmp_path / "new" / "tapeformer").glob("*.code"))


@pytest.mark.parametrize("base", ["relative", "open", pytest.param("theirs", marks=needs_root)])
def test_a_refused_cache_is_said_in_one_line(base: str, tmp_path: Path) -> None:
    folder = tmp_path / "tapeformer"
    folder.mkdir()
    folder.chmod(0o777 if base == "open" else 0o700)
    if base == "theirs":
        os.chown(folder, STRANGER, STRANGER)
    line = told(run("relative" if base == "relative" else str(tmp_path), tmp_path, *RUN))
    assert line.startswith("warning: the cache is not used: ")
    reasons = {
        "relative": "not an absolute path",
        "open": "can be written by others (mode 777)",
        "theirs": f"is owned by user {STRANGER}",
    }
    assert reasons[base] in line
    assert list(tmp_path.iterdir()) == [folder]


def test_workers_of_a_batch_do_not_repeat_it(tmp_path: Path) -> None:
    (tmp_path / "tapeformer").mkdir()
    (tmp_path / "tapeformer").chmod(0o777)
    (tmp_path / "words").write_text("abba\n" * 300)
    found = run(str(tmp_path), tmp_path, "run", "palindrome", "--levels", "4", "--batch", "words")
    assert found.returncode == 0
    assert len(found.stderr.splitlines()) == 1
