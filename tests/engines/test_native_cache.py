"""Cached machine code is never trusted blindly: broken, half-written or shared files do no harm."""

from __future__ import annotations

import errno
import multiprocessing
import os
import time
from pathlib import Path

import pytest

from tapeformer.engines import native
from tapeformer.engines.logic.mutual_exclusion import NotLogicError
from tapeformer.engines.native import cache as caching
from tapeformer.engines.native.cache import Cache, Code
from tapeformer.engines.native.memory_layout import Plan
from tapeformer.lowering.queues_to_weights import transformer
from tapeformer.weights.parameters import nonzero_values, parameters, with_sign_flipped
from tapeformer.weights.positions import offsets_for
from tests.table_machines import table_machine

MADE = table_machine(3, ["a", "b"])
LENGTHS = {"a": 4, "b": 6}
EXPECTED = [list(token) for token in MADE.run(LENGTHS, "011", 20)]


def tokens(folder: Path) -> list[list[int]]:
    weights = transformer(MADE.machine)
    engine = native.Engine(weights, offsets_for(weights, LENGTHS), cache=folder)
    engine.prompt(MADE.prompt(weights, "011"))
    rows: list[list[int]] = engine.advance(20).tolist()
    return rows


def code(content: bytes) -> Code:
    return Code(Plan(1, 8, 2, 0, 1, False, (((0, 1), (1, 1)),)), content)


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "other"])
def test_a_broken_file_is_made_again(damage: str, tmp_path: Path) -> None:
    assert tokens(tmp_path) == EXPECTED
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    flipped = bytearray(content)
    flipped[len(content) // 2] ^= 1
    broken = {"empty": b"", "cut": content[:-7], "flipped": bytes(flipped), "other": b"x" * 100}
    file.write_bytes(broken[damage])
    assert tokens(tmp_path) == EXPECTED
    assert file.read_bytes()[:32] == content[:32]


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("not a folder")
    assert tokens(file / "below") == EXPECTED


def test_many_writers_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        assert pool.map(tokens, [tmp_path] * 2, chunksize=1) == [EXPECTED] * 2
    assert len(list(tmp_path.iterdir())) == 1


def killed_while_writing(folder: Path) -> None:
    os.replace = lambda *_: os._exit(9)
    tokens(folder)


def test_a_writer_that_is_killed_leaves_nothing_that_is_used(tmp_path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(
        target=killed_while_writing, args=(tmp_path,)
    )
    process.start()
    process.join()
    assert process.exitcode == 9
    assert [file.suffix for file in tmp_path.iterdir()] != [".code"]
    assert tokens(tmp_path) == EXPECTED


def test_the_folder_stays_small(tmp_path: Path) -> None:
    cache = Cache(tmp_path, most_bytes=5000)
    for number in range(20):
        made = cache.get(str(number), lambda: code(bytes(1000)))
        os.utime(tmp_path / f"{number}.code", (number, number))
        assert made.machine_code == bytes(1000)
    kept = {file.stem for file in tmp_path.iterdir()}
    assert "19" in kept
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 5000


def test_what_killed_writers_left_is_removed_in_time(tmp_path: Path) -> None:
    for name, age in (("old", 2 * caching.LONGEST_WRITE), ("new", 0)):
        (tmp_path / name).write_bytes(b"half")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    Cache(tmp_path).get("key", lambda: code(b"abc"))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["key.code", "new"]


@pytest.mark.parametrize("step", ["replace", "fdopen"])
def test_a_full_disk_does_no_harm(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, step, full)
        assert Cache(tmp_path).get("key", lambda: code(b"abc")) == code(b"abc")
    assert list(tmp_path.iterdir()) == []
    assert Cache(tmp_path).get("key", lambda: code(b"abc")) == code(b"abc")


def test_without_a_home_code_is_made_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert [Cache().get("key", lambda: code(b"abc")) for _ in "ab"] == [code(b"abc")] * 2


def test_what_was_made_is_found_again(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    first = cache.get("key", lambda: code(b"abc"))
    assert cache.get("key", lambda: pytest.fail("made twice")) == first


@pytest.mark.parametrize("damaged", [False, True])
def test_a_refusal_is_kept_like_code(damaged: bool, tmp_path: Path) -> None:
    def refuse() -> Code:
        asked.append("made")
        raise NotLogicError("too intricate")

    asked: list[str] = []
    for _ in range(3):
        with pytest.raises(NotLogicError, match="too intricate"):
            Cache(tmp_path).get("key", refuse)
        if damaged:
            file = tmp_path / "key.code"
            file.write_bytes(file.read_bytes()[:-3])
    assert len(asked) == (3 if damaged else 1)


def test_the_key_sees_every_parameter() -> None:
    weights = transformer(MADE.machine)
    keys = {caching.key_of(weights)}
    paths = [p.path for p in parameters(weights) if nonzero_values(p).size]
    keys |= {caching.key_of(with_sign_flipped(weights, path, 0)) for path in paths}
    assert len(keys) == 1 + len(paths)


def test_the_users_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert caching.default_folder() == tmp_path / "tapeformer" / "native"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert caching.default_folder() == Path.home() / ".cache" / "tapeformer" / "native"
