"""The cache folder is used only where nobody but the user can have written what is read."""

from __future__ import annotations

import logging
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tapeformer.cache.folder import user_folder
from tapeformer.cache.store import Store
from tests.cache.users import OWNER, STRANGER, as_user, needs_root, shared_folder

KEY = "0123abcd"


def store(folder: Path) -> Store:
    return Store("code", folder)


def file_of(folder: Path) -> Path:
    return folder / f"{KEY}.code"


def modes(folder: Path) -> set[int]:
    return {stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*"))}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one entry."""
    store(tmp_path / "tapeformer").put(KEY, b"made")
    return tmp_path / "tapeformer"


def refused(folder: Path, caplog: pytest.LogCaptureFixture) -> str:
    """Check that nothing is found, and return the one line that says why."""
    caplog.set_level(logging.WARNING)
    assert store(folder).get(KEY) is None
    assert store(folder).get(KEY) is None
    (record,) = caplog.records
    assert record.name == "tapeformer"
    assert "\n" not in record.getMessage()
    return record.getMessage()


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_folders_and_files_are_the_users_alone(umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        store(tmp_path / "a" / "b" / "tapeformer").put(KEY, b"made")
    finally:
        os.umask(before)
    assert modes(tmp_path / "a") == {0o700, 0o600}
    assert store(tmp_path / "a" / "b" / "tapeformer").get(KEY) == b"made"


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777, 0o1777])
def test_a_folder_that_others_may_write_is_refused(
    mode: int, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder.chmod(mode)
    assert f"{str(folder)!r} can be written by others (mode {mode:o})" in refused(folder, caplog)
    store(folder).put("another", b"made")
    assert [file.name for file in folder.iterdir()] == [file_of(folder).name]


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_refused_and_made_again(
    mode: int, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file_of(folder).chmod(mode)
    assert f"{str(file_of(folder))!r} can be written" in refused(folder, caplog)
    store(folder).put(KEY, b"made")
    assert store(folder).get(KEY) == b"made"


def test_others_may_read(folder: Path) -> None:
    folder.chmod(0o755)
    file_of(folder).chmod(0o644)
    assert store(folder).get(KEY) == b"made"


def test_a_link_to_a_folder_is_refused(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    real = folder.rename(folder.with_name("real"))
    folder.symlink_to(real)
    assert "is not a folder (links are not followed)" in refused(folder, caplog)
    assert store(real).get(KEY) == b"made"


def link(file: Path) -> None:
    file.symlink_to(file.rename(file.with_name("real")))


def fifo(file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)


def folder_instead(file: Path) -> None:
    file.unlink()
    file.mkdir(0o700)


def a_socket(file: Path) -> None:
    file.unlink()
    here = os.getcwd()
    os.chdir(file.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(file.name)
    finally:
        os.chdir(here)


@pytest.mark.parametrize("change", [link, fifo, folder_instead, a_socket])
def test_only_a_regular_file_is_read(
    change: Callable[[Path], None], folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    change(file_of(folder))
    line = refused(folder, caplog)
    assert f"{str(file_of(folder))!r} is not a regular file (links are not followed)" in line


def test_an_entry_replaces_a_link_and_not_what_it_leads_to(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("precious")
    file_of(folder).unlink()
    file_of(folder).symlink_to(target)
    store(folder).put(KEY, b"made")
    assert target.read_text() == "precious"
    assert store(folder).get(KEY) == b"made"


@needs_root
@pytest.mark.parametrize("what", ["folder", "file"])
def test_root_refuses_what_another_user_owns(
    what: str, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = folder if what == "folder" else file_of(folder)
    os.chown(path, STRANGER, STRANGER)
    assert f"{str(path)!r} is owned by user {STRANGER}, and this run is user 0's" in refused(
        folder, caplog
    )


@needs_root
@pytest.mark.parametrize("mode", [0o700, 0o755, 0o777])
def test_a_user_refuses_a_folder_that_another_made_before(mode: int) -> None:
    def plant() -> None:
        store(planted).put(KEY, b"planted")
        planted.chmod(mode)

    def use() -> tuple[bytes | None, list[str]]:
        lines: list[str] = []
        handler = logging.Handler()
        handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
        logging.getLogger("tapeformer").addHandler(handler)
        store(planted).put(KEY, b"made")
        return store(planted).get(KEY), lines

    with shared_folder() as shared:
        planted = shared / "tapeformer"
        as_user(STRANGER, plant)
        found, lines = as_user(OWNER, use)
    assert found is None
    (line,) = lines
    assert f"is owned by user {STRANGER}, and this run is user {OWNER}'s" in line


@needs_root
def test_a_user_refuses_a_file_that_another_left_in_the_folder() -> None:
    with shared_folder() as shared:
        folder = shared / "tapeformer"
        as_user(OWNER, lambda: store(folder).put(KEY, b"made"))
        os.chown(file_of(folder), STRANGER, STRANGER)
        assert as_user(OWNER, lambda: store(folder).get(KEY)) is None
        as_user(OWNER, lambda: store(folder).put(KEY, b"made again"))
        assert as_user(OWNER, lambda: store(folder).get(KEY)) == b"made again"


@needs_root
def test_a_home_that_cannot_be_written_does_no_harm() -> None:
    with shared_folder() as shared:
        home = shared / "home"
        home.mkdir(0o755)
        as_user(OWNER, lambda: store(home / ".cache" / "tapeformer").put(KEY, b"made"))
        assert list(home.iterdir()) == []
        assert as_user(OWNER, lambda: store(home / ".cache" / "tapeformer").get(KEY)) is None


@pytest.mark.parametrize("base", ["/dev/null", "/proc/nowhere", "/" + 300 * "x"])
def test_a_base_that_is_no_folder_does_no_harm(
    base: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", base)
    Store("code").put(KEY, b"made")
    assert Store("code").get(KEY) is None
    assert caplog.records == []


def test_the_users_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_folder() == tmp_path / "tapeformer"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", "/home/someone")
    assert user_folder() == Path("/home/someone/.cache/tapeformer")
    monkeypatch.setenv("HOME", "relative")
    assert user_folder() is None


@pytest.mark.parametrize("base", ["relative", "./here", "~/cache", "two\nlines"])
def test_a_relative_base_is_refused(
    base: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", base)
    for _ in range(2):
        Store("code").put(KEY, b"made")
        assert Store("code").get(KEY) is None
    assert list(tmp_path.iterdir()) == []
    (record,) = caplog.records
    assert f"XDG_CACHE_HOME is {base!r}, which is not an absolute path" in record.getMessage()


@needs_root
def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HOME")
    assert as_user(OWNER, user_folder) is None


def test_a_folder_that_is_swapped_after_the_check_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Replace the folder right after it was opened: the file that was checked must be read."""
    planted = folder.with_name("planted")
    store(planted).put(KEY, b"planted")
    true_fstat = os.fstat

    def swap(descriptor: int) -> os.stat_result:
        if planted.exists() and stat.S_ISDIR(true_fstat(descriptor).st_mode):
            folder.rename(folder.with_name("aside"))
            planted.rename(folder)
        return true_fstat(descriptor)

    monkeypatch.setattr(os, "fstat", swap)
    assert store(folder).get(KEY) == b"made"
    assert store(folder).get(KEY) == b"planted"
