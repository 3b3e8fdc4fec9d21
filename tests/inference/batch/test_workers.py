"""Workers that fail, or whose parent is killed, leave nothing behind and say what was wrong."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.faults import Fault, TapeformerError
from tapeformer.gallery import gallery_machine
from tapeformer.inference.batch import BatchModel, BatchOptions
from tapeformer.inference.batch import workers as working
from tests.campaigns.kills import Place, left_behind, new_place

MACHINE = gallery_machine("palindrome")
BUNDLE = compile_machine(MACHINE, CompileOptions("paper", levels=1, base=8))


def waited(happened: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return new_place(tmp_path_factory.mktemp("kills"), "place")


@pytest.fixture(scope="module")
def whole(place: Place) -> bytes:
    return place.result(batch=True)


@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGINT])
def test_killed_in_the_middle_the_next_run_is_right(
    kind: signal.Signals, place: Place, whole: bytes
) -> None:
    place.answers.unlink(missing_ok=True)
    process = place.started(batch=True)
    waited(lambda: place.answers.exists() and place.answers.stat().st_size > 0)
    (os.killpg if kind == signal.SIGINT else os.kill)(process.pid, kind)
    _, errors = process.communicate()
    assert left_behind(process.pid) == []
    if kind == signal.SIGINT and process.returncode:
        assert process.returncode == 130
        assert errors.count("\n") == 1
        assert "run the same command again to resume" in errors
    assert place.result(batch=True) == whole


def test_groups_come_out_in_the_order_they_went_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working, "LEAD", 2)
    model = BatchModel(MACHINE, BUNDLE, BatchOptions(cache=tmp_path))
    groups = [["a" * (number % 3)] for number in range(40)]
    found = list(working.answered(model, iter(groups), 2, lambda: True))
    assert [
        f'"input": "{group[0]}"' in lines[0].text
        for group, lines in zip(groups, found, strict=True)
    ]
    assert len(found) == 40


class Refusing(working.Recorder):
    def __init__(self, _: BatchModel) -> None:
        raise TapeformerError((Fault("one thing"), Fault("another")))


class Dying(working.Recorder):
    def lines(self, texts: list[str]) -> list[working.Line]:
        raise ConnectionResetError(len(texts))


@pytest.mark.parametrize(
    ("recorder", "message"), [(Refusing, "one thing\nerror: another"), (Dying, "has ended before")]
)
def test_a_worker_that_fails_is_told(
    recorder: type, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working, "Recorder", recorder)
    model = BatchModel(MACHINE, BUNDLE, BatchOptions(cache=tmp_path))
    with pytest.raises(TapeformerError, match=message):
        list(working.answered(model, iter([["ab"]]), 1, lambda: True))
