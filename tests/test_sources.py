"""A machine that is read again comes from the cache, and is the same down to its lines."""

from __future__ import annotations

import logging
import pickle
from dataclasses import fields
from pathlib import Path

import pytest

from tapeformer.cache.store import Store
from tapeformer.faults import TapeformerError
from tapeformer.formats import registry
from tapeformer.formats.conventions import Conventions
from tapeformer.formats.registry import dumps
from tapeformer.gallery import gallery_machine, gallery_names
from tapeformer.machine.record import AcceptOn, Rule, TuringMachine
from tapeformer.sources import find_machine
from tests.strategies import random_machine

WARNED = "blank: _\nstart state: a\ntable:\n  a: {0: {R: b}}\n  b: {}\n  unused: {0: {R: a}}\n"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def texts_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the texts that were read rather than remembered."""
    names: list[str] = []
    plain = registry.loads

    def noted(text: str, source: str = "text", *rest: object) -> TuringMachine:
        names.append(source)
        return plain(text, source, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr("tapeformer.sources.loads", noted)
    return names


def every_field(record: object) -> list[object]:
    """All fields, those too that do not count for equality."""
    kinds = (TuringMachine, Rule)
    values = [getattr(record, field.name) for field in fields(record)]  # type: ignore[arg-type]
    return [
        [every_field(item) for item in value]
        if isinstance(value, tuple) and value and isinstance(value[0], kinds)
        else value
        for value in values
    ]


@pytest.mark.parametrize("name", gallery_names())
def test_a_machine_is_found_again_whole(name: str, texts_read: list[str]) -> None:
    find_machine(name)
    assert every_field(find_machine(name)) == every_field(gallery_machine(name))
    assert len(texts_read) == 1


@pytest.mark.parametrize("seed", range(30))
def test_random_machines_are_found_again_whole(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "random.yaml"
    file.write_text(dumps(random_machine(seed)))
    assert every_field(find_machine(str(file))) == every_field(find_machine(str(file)))


def test_the_second_time_a_file_is_not_read_again(tmp_path: Path, texts_read: list[str]) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(WARNED)
    first, second = find_machine(str(file)), find_machine(str(file))
    assert every_field(first) == every_field(second)
    assert texts_read == [str(file)]


def test_other_text_names_formats_and_conventions_are_read(
    tmp_path: Path, texts_read: list[str]
) -> None:
    file, other = tmp_path / "m.yaml", tmp_path / "n.yaml"
    file.write_text(WARNED)
    other.write_text(WARNED)
    find_machine(str(file))
    find_machine(str(other))
    find_machine(str(file), "tapeformer")
    halting = find_machine(str(file), None, Conventions(accept_on=AcceptOn.HALT))
    file.write_text(WARNED.replace("start state: a", "start state: b"))
    assert find_machine(str(file)).start == "b"
    assert halting.accept_on is AcceptOn.HALT
    assert len(texts_read) == 5


def test_warnings_are_told_every_time(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(WARNED)
    told = []
    for _ in range(2):
        with caplog.at_level(logging.WARNING, "tapeformer"):
            find_machine(str(file))
        told.append(caplog.messages.copy())
        caplog.clear()
    assert told[0]
    assert told[0] == told[1]


def test_a_file_with_a_fault_is_refused_every_time(tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(WARNED.replace("R: b", "X: b"))
    for _ in range(2):
        with pytest.raises(TapeformerError, match=r"m\.yaml:4"):
            find_machine(str(file))


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", pickle.dumps(WARNED)])
def test_an_entry_that_is_no_machine_is_read_again(
    content: bytes, monkeypatch: pytest.MonkeyPatch, texts_read: list[str]
) -> None:
    find_machine("palindrome")
    monkeypatch.setattr(Store, "get", lambda *_: content)
    assert find_machine("palindrome") == gallery_machine("palindrome")
    assert len(texts_read) == 2


def test_busy_beaver_text_leaves_no_entry(tmp_path: Path) -> None:
    find_machine("1RB1LB_1LA1RZ")
    assert not (tmp_path / "cache").exists()
