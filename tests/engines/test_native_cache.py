"""Cached machine code is never trusted blindly: broken, planted or half-written files do no harm."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
from pathlib import Path

import pytest

from tapeformer.cache.store import Store
from tapeformer.engines import native
from tapeformer.engines.logic.not_logic import NotLogicError
from tapeformer.engines.native import cache as caching
from tapeformer.engines.native.build import is_made, single_code
from tapeformer.engines.native.cache import CodeCache, MachineCode
from tapeformer.engines.native.compiler import object_code
from tapeformer.engines.native.memory_layout import MemoryLayout
from tapeformer.lowering.queues_to_weights import transformer
from tapeformer.weights.parameters import nonzero_values, parameters, with_sign_flipped
from tapeformer.weights.positions import offsets_for
from tests.cache.users import OWNER, STRANGER, as_user, needs_root, shared_folder
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


def code(content: bytes) -> MachineCode[MemoryLayout]:
    return MachineCode(MemoryLayout(2, 0, 1, False, 8, (((0, 1), (1, 1)),)), content)


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
    assert file.read_bytes() == content


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
    os.rename = lambda *_, **__: os._exit(9)
    tokens(folder)


def test_a_writer_that_is_killed_leaves_nothing_that_is_used(tmp_path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(
        target=killed_while_writing, args=(tmp_path,)
    )
    process.start()
    process.join()
    assert process.exitcode == 9
    assert [file.suffix for file in tmp_path.iterdir()] == [".partial"]
    assert tokens(tmp_path) == EXPECTED


def test_what_was_made_is_found_again(tmp_path: Path) -> None:
    cache = CodeCache(tmp_path)
    first = cache.get("key", lambda: code(b"abc"))
    assert cache.get("key", lambda: pytest.fail("made twice")) == first


@pytest.mark.parametrize("damaged", [False, True])
def test_a_refusal_is_kept_like_code(damaged: bool, tmp_path: Path) -> None:
    def refuse() -> MachineCode[MemoryLayout]:
        asked.append("made")
        raise NotLogicError("too intricate")

    asked: list[str] = []
    for _ in range(3):
        with pytest.raises(NotLogicError, match="too intricate"):
            CodeCache(tmp_path).get("key", refuse)
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


LAYOUT = {
    **{"stride": 8, "spill_slots": 2, "margin_digits": 0},
    **{"proven_margin": 1, "stores_words": False},
    "value_masks": [[[0, 1], [1, 1]]],
}
WRONG_HEADERS: dict[str, object] = {
    "no layout": {},
    "a list": [],
    "a number": 7,
    "null": None,
    "reason is no text": {"reason": 5},
    "text for a number": LAYOUT | {"stride": "8"},
    "fraction": LAYOUT | {"stride": 8.0},
    "truth for a number": LAYOUT | {"spill_slots": True},
    "number for a truth": LAYOUT | {"stores_words": 1},
    "negative": LAYOUT | {"spill_slots": -1},
    "too large": LAYOUT | {"proven_margin": 1 << 64},
    "missing": {name: value for name, value in LAYOUT.items() if name != "margin_digits"},
    "unknown": LAYOUT | {"more": 1},
    "no masks": {name: value for name, value in LAYOUT.items() if name != "value_masks"},
    "masks are a number": LAYOUT | {"value_masks": 3},
    "half a mask": LAYOUT | {"value_masks": [[[0]]]},
    "mask is text": LAYOUT | {"value_masks": [[["0", 1]]]},
}


def with_header(header: bytes) -> bytes:
    return len(header).to_bytes(8, "little") + header + b"code"


def test_a_sound_header_is_found(tmp_path: Path) -> None:
    Store("code", tmp_path).put("key", with_header(json.dumps(LAYOUT).encode()))
    assert CodeCache(tmp_path).find("key") == code(b"code")


@pytest.mark.parametrize("name", WRONG_HEADERS)
def test_a_wrong_header_under_a_valid_hash_is_a_miss(name: str, tmp_path: Path) -> None:
    Store("code", tmp_path).put("key", with_header(json.dumps(WRONG_HEADERS[name]).encode()))
    assert CodeCache(tmp_path).find("key") is None
    assert CodeCache(tmp_path).get("key", lambda: code(b"abc")) == code(b"abc")
    assert CodeCache(tmp_path).find("key") == code(b"abc")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"short",
        b"\xff" * 50,
        with_header(b"{"),
        with_header(b"\xff"),
        with_header(b"[" * 10**5),
    ],
)
def test_what_is_no_header_at_all_is_a_miss(content: bytes, tmp_path: Path) -> None:
    Store("code", tmp_path).put("key", content)
    assert CodeCache(tmp_path).find("key") is None


def plant(folder: Path) -> Path:
    """Put other machine code under the key of the model: it makes no token and says it made all."""
    weights = transformer(MADE.machine)
    true = single_code(weights, CodeCache(folder))
    arguments = "ptr %a, i64 %b, i64 %c, i64 %most, ptr %d, ptr %e, ptr %f, ptr %g, ptr %h, ptr %i"
    other = object_code(f"define i64 @run({arguments}) {{\nret i64 %most\n}}")
    (file,) = folder.iterdir()
    Store("code", folder).put(file.stem, caching._packed(MachineCode(true.layout, other)))
    return file


def test_planted_code_would_run_if_the_user_owned_it(tmp_path: Path) -> None:
    plant(tmp_path)
    assert tokens(tmp_path) != EXPECTED


@needs_root
@pytest.mark.parametrize("what", ["folder", "file"])
def test_planted_code_does_not_run_as_root(
    what: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = plant(tmp_path)
    os.chown(tmp_path if what == "folder" else file, STRANGER, STRANGER)
    assert tokens(tmp_path) == EXPECTED
    (record,) = caplog.records
    assert f"is owned by user {STRANGER}" in record.getMessage()


@needs_root
@pytest.mark.parametrize(("owner", "mode"), [(OWNER, 0o755), (STRANGER, 0o755), (STRANGER, 0o777)])
def test_planted_code_does_not_run_as_another_user(owner: int, mode: int) -> None:
    with shared_folder() as shared:
        folder = shared / "tapeformer"
        file = plant(folder)
        os.chown(file, STRANGER, STRANGER)
        os.chown(folder, owner, owner)
        file.chmod(0o644)
        folder.chmod(mode)
        assert as_user(OWNER, lambda: os.access(file, os.R_OK))
        assert as_user(OWNER, lambda: tokens(folder)) == EXPECTED


def test_auto_does_not_ask_a_folder_that_others_may_write(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    weights = transformer(MADE.machine)
    single_code(weights, CodeCache(tmp_path))
    assert is_made(weights, CodeCache(tmp_path))
    tmp_path.chmod(0o777)
    caplog.set_level(logging.WARNING)
    assert not is_made(weights, CodeCache(tmp_path))
    assert len(caplog.records) == 1
