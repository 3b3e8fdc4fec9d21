"""The file of answers: whole lines at once, on the disk every second, one run at a time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tapeformer.faults import TapeformerError
from tapeformer.inference.batch import answer_writer
from tapeformer.inference.batch.answer_writer import alone_with, earlier
from tapeformer.inference.batch.run import run_batch_file


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count what is asked of the disk, and ask it."""
    calls: list[int] = []
    real = os.fsync

    def fsync(number: int) -> None:
        calls.append(number)
        real(number)

    monkeypatch.setattr(os, "fsync", fsync)
    return calls


def test_a_quick_run_waits_for_the_disk_when_it_is_told_to(
    tmp_path: Path, synced: list[int]
) -> None:
    with alone_with(tmp_path / "answers") as writer:
        for _ in range(20):
            writer.append(b"line\n")
        assert not synced
        writer.sync()
    assert len(synced) == 1


def test_a_long_run_waits_for_the_disk_when_its_time_has_come(
    tmp_path: Path, synced: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(answer_writer, "monotonic", lambda: now[0])
    with alone_with(tmp_path / "answers") as writer:
        for _ in range(20):
            now[0] += answer_writer.SYNC_SECONDS / 4
            writer.append(b"line\n")
    assert len(synced) == 4


def test_what_is_appended_is_in_the_file_before_any_wait(tmp_path: Path) -> None:
    path = tmp_path / "answers"
    path.write_bytes(b"whole\nhal")
    with alone_with(path) as writer:
        writer.cut(len(b"whole\n"))
        writer.append(b"next\n")
        assert path.read_bytes() == b"whole\nnext\n"


def test_a_second_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "answers"
    with (
        alone_with(path),
        pytest.raises(TapeformerError, match="another run is writing"),
        alone_with(path),
    ):
        pass


def test_a_batch_ends_with_its_answers_on_the_disk(tmp_path: Path, synced: list[int]) -> None:
    inputs, answers = tmp_path / "words", tmp_path / "answers"
    inputs.write_text("ab\nba\naa\n")
    run_batch_file("palindrome", inputs, answers, levels=3)
    assert synced
    assert len(answers.read_text().splitlines()) == 3


def test_names_and_files_that_cannot_be_used_get_one_message(tmp_path: Path) -> None:
    too_long = tmp_path / ("a" * 300)
    written, read = "the answers cannot be written: File name too long", "cannot be read: Is a"
    with pytest.raises(TapeformerError, match=written), alone_with(too_long):
        pass
    with pytest.raises(TapeformerError, match=read), earlier(tmp_path):
        pass
