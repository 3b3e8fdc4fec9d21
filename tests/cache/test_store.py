"""Entries come back as they were put, or not at all; the folder stays small."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapeformer.cache import store as stores
from tapeformer.cache.store import HEAD, CacheLimits, Kind, Store

KEY = "0123abcd"
CONTENT = bytes(range(200))


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Store("code", tmp_path).put(KEY, CONTENT)
    return tmp_path


@given(st.dictionaries(st.text("abc012_-", min_size=1), st.binary(max_size=300), max_size=8))
def test_what_is_put_is_found_again(
    tmp_path_factory: pytest.TempPathFactory, entries: dict[str, bytes]
) -> None:
    folder = tmp_path_factory.mktemp("cache")
    for key, content in entries.items():
        Store("code", folder).put(key, content)
    assert {key: Store("code", folder).get(key) for key in entries} == entries
    assert [Store("model", folder).get(key) for key in entries] == [None] * len(entries)


@pytest.mark.parametrize("place", [0, 5, HEAD - 1, HEAD, HEAD + 100, HEAD + len(CONTENT) - 1])
def test_a_flipped_bit_makes_a_miss(place: int, folder: Path) -> None:
    file = folder / f"{KEY}.code"
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    assert Store("code", folder).get(KEY) is None


@pytest.mark.parametrize("size", [0, 1, HEAD - 1, HEAD, HEAD + 1, HEAD + len(CONTENT) - 1])
def test_a_truncated_file_is_a_miss(size: int, folder: Path) -> None:
    os.truncate(folder / f"{KEY}.code", size)
    assert Store("code", folder).get(KEY) is None


def test_an_entry_under_another_name_is_a_miss(folder: Path) -> None:
    (folder / f"{KEY}.code").rename(folder / "other.code")
    assert Store("code", folder).get("other") is None


@pytest.mark.parametrize(("room", "found"), [(len(CONTENT), CONTENT), (len(CONTENT) - 1, None)])
def test_an_entry_that_is_too_large_is_neither_read_nor_written(
    room: int, found: bytes | None, folder: Path
) -> None:
    small = Store("code", folder, CacheLimits(entry=room))
    assert small.get(KEY) == found
    small.put("second", CONTENT)
    assert Store("code", folder).get("second") == found


def test_a_huge_file_is_not_read_and_does_not_count_as_used(folder: Path) -> None:
    file = folder / f"{KEY}.code"
    os.truncate(file, 1 << 40)
    os.utime(file, (1, 1))
    assert Store("code", folder).get(KEY) is None
    assert file.stat().st_mtime == 1


@pytest.mark.parametrize("limits", [CacheLimits(total=5 * (HEAD + 1000)), CacheLimits(entries=5)])
def test_the_least_recently_used_go_first(limits: CacheLimits, tmp_path: Path) -> None:
    store = Store("code", tmp_path, limits)
    now = time.time()
    for number in range(12):
        kind: Kind = "model" if number % 2 else "code"
        Store(kind, tmp_path, limits).put(f"{number:02}", bytes(1000))
        os.utime(tmp_path / f"{number:02}.{kind}", (now - 100 + number,) * 2)
        store.get("00")
    assert names(tmp_path) == ["00.code", "08.code", "09.model", "10.code", "11.model"]


def test_what_killed_writers_left_is_removed_in_time(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    for name, age in (("old", 2 * stores.STALE), ("new", 0)):
        (tmp_path / f"{name}.partial").write_bytes(b"half")
        os.utime(tmp_path / f"{name}.partial", (time.time() - age,) * 2)
    Store("code", tmp_path).put(KEY, CONTENT)
    assert names(tmp_path) == [f"{KEY}.code", "new.partial"]


def full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("step", ["rename", "mkdir", "listdir", "open"])
def test_a_full_disk_does_no_harm(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tapeformer"
    with monkeypatch.context() as patch:
        patch.setattr(os, step, full)
        Store("code", folder).put(KEY, CONTENT)
    assert not folder.exists() or names(folder) in ([], [f"{KEY}.code"])
    Store("code", folder).put(KEY, CONTENT)
    assert Store("code", folder).get(KEY) == CONTENT


def test_a_disk_that_fills_up_while_writing_leaves_nothing(
    tmp_path: Path, in_a_child: Callable[[Callable[[], None]], int]
) -> None:
    def work() -> None:
        import resource
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))
        Store("code", tmp_path).put(KEY, CONTENT)

    assert in_a_child(work) == 0
    assert names(tmp_path) == []


@pytest.fixture
def in_a_child() -> Callable[[Callable[[], None]], int]:
    def run(work: Callable[[], None]) -> int:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                work()
                status = 0
            finally:
                os._exit(status)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    return run


@pytest.mark.parametrize("key", ["", "a/b", "..", "a.b", "a\n", "\0"])
def test_a_key_must_be_fit_for_a_file_name(key: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="part of a file's name"):
        Store("code", tmp_path).get(key)
