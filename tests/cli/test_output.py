"""Files that commands write: whole or not at all, and only in place of regular files."""

from __future__ import annotations

import errno
import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from tapeformer import TapeformerError
from tapeformer.cli import app, progress
from tapeformer.cli.output import write_file
from tapeformer.cli.progress import Watch
from tests.cli.test_commands import tapeformer


def device(path: Path) -> None:
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes device files")


SPECIAL: dict[str, Callable[[Path], None]] = {
    "a pipe": os.mkfifo,
    "a directory": Path.mkdir,
    "a device": device,
}


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize(
    "command",
    [
        ("convert", "palindrome", "--to", "tapeformer", "-o"),
        ("show", "palindrome", "--svg"),
    ],
)
def test_only_regular_files_are_replaced(
    command: tuple[str, ...], linked: bool, kind: str, tmp_path: Path
) -> None:
    target = tmp_path / "target"
    SPECIAL[kind](target)
    before = target.stat()
    if linked:
        (tmp_path / "link").symlink_to(target)
    path = tmp_path / "link" if linked else target
    done = tapeformer(*command, str(path))
    assert done.returncode == 2
    assert f"cannot be replaced: {kind}, not a regular file" in done.stderr
    assert (target.stat().st_mode, target.stat().st_ino) == (before.st_mode, before.st_ino)
    assert sorted(os.listdir(tmp_path)) == sorted(["target", "link"][: 1 + linked])


def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    file, link = tmp_path / "folder" / "file", tmp_path / "link"
    file.parent.mkdir()
    file.write_text("old")
    link.symlink_to(file)
    write_file(link, "new")
    assert link.is_symlink()
    assert file.read_text() == "new"
    assert os.listdir(file.parent) == ["file"]


def test_a_link_to_nothing_makes_the_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_file(tmp_path / "link", "new")
    assert (tmp_path / "file").read_text() == "new"
    (tmp_path / "round").symlink_to(tmp_path / "round")
    with pytest.raises(TapeformerError, match="cannot be written"):
        write_file(tmp_path / "round", "new")


def test_a_second_control_c_ends_work_that_does_not_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SAME_SIGNAL", 0.0)
    with Watch("inputs") as watch:
        assert watch(1)
        signal.raise_signal(signal.SIGINT)
        assert not watch(2)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_the_speed_is_that_of_this_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [100.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    watch = Watch("inputs")
    for seconds, done in ((1.0, 250_000), (10.0, 300_000), (10.0, 500_000)):
        now[0] += seconds
        watch(done)
    late = Watch("inputs")
    now[0] += 30
    late(7)
    assert capsys.readouterr().err.splitlines() == [
        "300,000 inputs after 11 s, 5,000 a second",
        "7 inputs after 30 s",
    ]


def test_only_a_failed_write_is_blamed_on_standard_output() -> None:
    assert "standard output cannot be written" in app._explained(OSError(errno.ENOSPC, "full"))
    told = app._explained(OSError(errno.EMFILE, "Too many open files"))
    assert "Too many open files" in told
    assert "ulimit" in told
    assert "standard output" not in told
