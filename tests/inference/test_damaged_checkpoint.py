"""Every damaged or forged checkpoint, and every path that cannot be one, gets one message."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load, save

import tapeformer as tf
from tapeformer.faults import TapeformerError
from tapeformer.inference import checkpoint, saved
from tapeformer.inference.saved import packed, unpacked

BUNDLE = tf.compile_machine(tf.gallery_machine("palindrome"), levels=4)
WORD = "abbbba"


def content() -> bytes:
    """Return the file of a run that was stopped, with a whole window of 8 tokens."""
    with TemporaryDirectory() as folder:
        tf.run(BUNDLE, WORD, checkpoint=Path(folder, "file"), max_steps=20, engine="sparse")
        return Path(folder, "file").read_bytes()


GOOD = content()
"""Read once; each test damages a copy."""


def refused(file: Path, found: bytes) -> str:
    """Return the one message that a file with this content gets; it stays as it is."""
    file.write_bytes(found)
    with pytest.raises(TapeformerError) as error:
        tf.run(BUNDLE, WORD, checkpoint=file, engine="sparse")
    assert file.read_bytes() == found
    assert len(error.value.faults) == 1
    message = str(error.value)
    assert message.startswith(f"{file}: error: ")
    assert "another file" in message
    return message


def texts(found: bytes) -> dict[str, str]:
    header = json.loads(found[8 : 8 + int.from_bytes(found[:8], "little")])
    noted: dict[str, str] = header["__metadata__"]
    return noted


def forged(change: Callable[[dict[str, Any]], object]) -> bytes:
    """Return the file with another record, as if a run had written it."""
    window, record = load(GOOD)["window"], json.loads(texts(GOOD)["checkpoint"])
    change(record)
    text = json.dumps(record)
    made: bytes = save(
        {"window": window}, {"checkpoint": text, "sha256": saved._hash(text, window)}
    )
    return made


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = unpacked(GOOD)
    again = unpacked(packed(found))
    assert vars(again) == {**vars(found), "window": again.window}
    assert again.window.tolist() == found.window.tolist()
    assert found.window.shape[0] == BUNDLE.window == 8
    (tmp_path / "file").write_bytes(GOOD)
    resumed = tf.run(BUNDLE, WORD, checkpoint=tmp_path / "file", engine="sparse")
    assert resumed.tapes == tf.run(BUNDLE, WORD, engine="sparse").tapes


def test_every_changed_byte_is_found(tmp_path: Path) -> None:
    for place in range(0, len(GOOD), 61):
        changed = bytearray(GOOD)
        changed[place] ^= 8
        assert "checkpoint" in refused(tmp_path / "file", bytes(changed))


def test_every_cut_is_found(tmp_path: Path) -> None:
    for length in (0, 1, 7, 8, 9, 100, len(GOOD) // 2, len(GOOD) - 1):
        message = refused(tmp_path / "file", GOOD[:length])
        assert "this is not a checkpoint, or it is damaged" in message
    assert "not a checkpoint" in refused(tmp_path / "file", GOOD + b"\0")


def test_a_changed_number_is_told_by_the_hash(tmp_path: Path) -> None:
    last = bytes([GOOD[-4] ^ 1])
    for old, new in ((b'\\"steps\\": 2', b'\\"steps\\": 1'), (GOOD[-4:], last + GOOD[-3:])):
        start = GOOD.rindex(old)
        message = refused(tmp_path / "file", GOOD[:start] + new + GOOD[start + len(old) :])
        assert "the checkpoint is damaged; expected the content whose SHA-256 it names" in message
    turned = save({"window": unpacked(GOOD).window.reshape(-1, 8)}, texts(GOOD))
    assert "the checkpoint is damaged" in refused(tmp_path / "file", turned)


def shaped(change: Callable[[Any], Any]) -> bytes:
    found = unpacked(GOOD)
    return packed(replace(found, window=change(found.window.copy())))


def with_value(window: Any, column: int, value: int) -> Any:
    window[3, column] = value
    return window


VERDICT = [factor.name for factor in BUNDLE.token_factors].index("verdict")
WINDOWS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "cut to one": (lambda window: window[-1:], "expected 8 tokens of .* factors; got 1 of"),
    "cut to none": (lambda window: window[:0], "expected 8 tokens of .* factors; got 0 of"),
    "too long": (lambda window: np.concatenate([window, window]), "8 tokens of .*; got 16 of"),
    "a factor less": (lambda window: window[:, 1:], "window has another size"),
    "a large value": (lambda window: with_value(window, 0, 10**6), "token of another alphabet"),
    "a value below 0": (lambda window: with_value(window, 0, -1), "token of another alphabet"),
    "a verdict": (lambda window: with_value(window, VERDICT, 1), "a run that has ended"),
}


@pytest.mark.parametrize("case", WINDOWS)
def test_a_window_that_no_run_has_is_refused(case: str, tmp_path: Path) -> None:
    change, message = WINDOWS[case]
    assert re.search(message, refused(tmp_path / "file", shaped(change)))


def test_a_short_run_has_all_of_its_tokens_in_its_window(tmp_path: Path) -> None:
    file = tmp_path / "file"
    tf.run(BUNDLE, "", checkpoint=file, max_tokens=1)
    found = unpacked(file.read_bytes())
    assert found.window.shape[0] == 2
    file.write_bytes(packed(replace(found, window=found.window[-1:])))
    with pytest.raises(TapeformerError, match="expected 2 tokens of"):
        tf.run(BUNDLE, "", checkpoint=file)


@pytest.mark.parametrize("kind", ["float32", "int64", "uint8"])
def test_a_window_of_other_numbers_is_refused(kind: str, tmp_path: Path) -> None:
    window = unpacked(GOOD).window.astype(kind)
    found = save({"window": window}, texts(GOOD))
    assert "expected one table of numbers of 32 bits" in refused(tmp_path / "file", found)


def test_other_tables_are_refused(tmp_path: Path) -> None:
    window = unpacked(GOOD).window
    for tables in ({}, {"windows": window}, {"window": window, "more": window}):
        assert "has no window of tokens" in refused(tmp_path / "file", save(tables, texts(GOOD)))
    assert "has no window" in refused(tmp_path / "file", save({"window": window[0]}, texts(GOOD)))


def set_count(name: str, value: object) -> Callable[[dict[str, Any]], object]:
    return lambda record: record["counts"].update({name: value})


@pytest.mark.parametrize("name", ["tokens", "steps", "grown", "boot"])
@pytest.mark.parametrize("value", ["x", -5, 1.5, True, [], 10**400])
def test_a_count_that_is_none_is_refused(name: str, value: object, tmp_path: Path) -> None:
    message = refused(tmp_path / "file", forged(set_count(name, value)))
    assert f"bad `counts.{name}`; expected " in message


ENTRIES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "no steps": (set_count("steps", None), "bad `counts.steps`"),
    "a boot that is too long": (set_count("boot", 10**6), "no more than the tokens"),
    "another number of tokens": (
        lambda record: record["counts"].update(tokens=0, boot=None),
        "window has another size; expected 7 tokens",
    ),
    "no counts": (lambda record: record.pop("counts"), "bad `counts`; expected an object"),
    "counts in a list": (lambda record: record.update(counts=[]), "bad `counts`"),
    "margin x": (lambda record: record.update(margin="x"), "bad `margin`; expected a number"),
    "margin true": (lambda record: record.update(margin=True), "bad `margin`"),
    "margin -1": (lambda record: record.update(margin=-1), "bad `margin`; .*got -1 .int."),
    "margin nan": (lambda record: record.update(margin=float("nan")), "bad `margin`"),
    "margin inf": (lambda record: record.update(margin=float("inf")), "bad `margin`"),
    "levels x": (lambda record: record.update(levels="x"), "bad `levels`; expected a whole number"),
    "no levels": (lambda record: record.update(levels=0), "bad `levels`; .* got 0"),
    "no base": (lambda record: record.pop("base"), "bad `base`; .* got None"),
    "a word in one": (lambda record: record.update(word=WORD), "bad `word`; expected a list"),
    "a word of numbers": (lambda record: record.update(word=[1]), "bad `word`; .* got 1"),
    "grows 1": (lambda record: record.update(grows=1), "bad `grows`; expected true or false"),
    "no model": (lambda record: record.update(model=None), "bad `model`; expected a text"),
    "another model": (lambda record: record.update(model="0"), "another model; .*got others"),
    "no format": (lambda record: record.pop("format"), "this is not a checkpoint"),
    "version 1": (lambda record: record.pop("version"), "another version; .*version 2; got 1"),
    "version 3": (lambda record: record.update(version=3), "another version; .*got 3"),
    "version 2.0": (lambda record: record.update(version=2.0), "another version; .*got 2.0"),
}


@pytest.mark.parametrize("case", ENTRIES)
def test_an_entry_that_no_run_writes_is_refused(case: str, tmp_path: Path) -> None:
    change, message = ENTRIES[case]
    assert re.search(message, refused(tmp_path / "file", forged(change)))


def test_a_checkpoint_of_the_first_version_is_refused(tmp_path: Path) -> None:
    first = {"format": "tapeformer-checkpoint", "model": BUNDLE.digest, "word": list(WORD)}
    found = save({"window": unpacked(GOOD).window}, {"checkpoint": json.dumps(first)})
    message = refused(tmp_path / "file", found)
    assert "of another version; expected checkpoint version 2; got 1 (int); " in message


@pytest.mark.parametrize("text", ["", "[]", "null", "[" * 10**5, "{"])
def test_a_record_that_is_none_is_refused(text: str, tmp_path: Path) -> None:
    found = save({"window": unpacked(GOOD).window}, {"checkpoint": text})
    assert "this is not a checkpoint" in refused(tmp_path / "file", found)
    assert "this is not a checkpoint" in refused(tmp_path / "file", save({}))


def test_what_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "MOST_BYTES", len(GOOD) - 1)
    assert "this is not a checkpoint; give another" in refused(tmp_path / "file", GOOD)


PATHS: dict[str, tuple[str, str]] = {
    "NUL": ("a\0b", "no checkpoint can have this name; got embedded null"),
    "a surrogate": ("a\ud800", "no checkpoint can have this name"),
    "a long name": ("a" * 300, "no checkpoint can have this name; got File name too long"),
    "below a file": ("is_file/file", "no checkpoint can have this name; got Not a directory"),
    "no folder": ("nowhere/file", "there is no folder for the checkpoint; give another file"),
    "a folder": ("folder", "this is not a checkpoint; give another file"),
    "a pipe": ("pipe", "this is not a checkpoint"),
    "a link to nothing": ("link", "this is not a checkpoint"),
}


def never(tokens: int) -> bool:
    """Stand for a run that must not begin."""
    raise AssertionError(f"the run has made {tokens} tokens")


@pytest.mark.parametrize("case", PATHS)
def test_a_path_that_cannot_be_written_is_refused_before_the_run(case: str, tmp_path: Path) -> None:
    name, message = PATHS[case]
    (tmp_path / "is_file").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("nothing")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TapeformerError, match=message) as error:
        tf.run(BUNDLE, WORD, checkpoint=tmp_path / name, watch=never)
    assert "\0" not in str(error.value)


def test_a_folder_that_is_closed_is_refused_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, _: path != tmp_path)
    with pytest.raises(TapeformerError, match="cannot be written to; give a file in another"):
        tf.run(BUNDLE, WORD, checkpoint=tmp_path / "file", watch=never)


def test_all_is_on_disk_before_the_file_gets_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = list[tuple[str, int]]()
    replaced = os.replace

    def sync(handle: int) -> None:
        done.append(("sync", os.fstat(handle).st_size))

    def rename(old: Path, new: Path) -> None:
        done.append(("rename", os.stat(old).st_size))
        replaced(old, new)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", rename)
    tf.run(BUNDLE, "", checkpoint=tmp_path / "file", max_tokens=1)
    size = (tmp_path / "file").stat().st_size
    assert done == [("sync", size), ("rename", size)]


@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_a_full_disk_leaves_the_file_that_was_there(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    file = tmp_path / "file"
    file.write_bytes(GOOD)
    monkeypatch.setattr(os, name, full)
    with pytest.raises(TapeformerError, match=r"cannot be written; got No space left.*free space"):
        tf.run(BUNDLE, WORD, checkpoint=file, max_steps=25)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert file.read_bytes() == GOOD
