"""A checkpoint is written now and then, and not at every piece of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapeformer import CompileOptions, compile_machine
from tapeformer.gallery import gallery_machine
from tapeformer.inference import checkpoint
from tapeformer.inference.checkpoint import Checkpoint
from tapeformer.inference.generation import Generation

BUNDLE = compile_machine(gallery_machine("palindrome"), CompileOptions(levels=4))


@pytest.mark.parametrize(("every", "written"), [(60.0, False), (-1.0, True)])
def test_it_is_written_when_it_is_due(
    every: float, written: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "EVERY", every)
    word, file, told = tuple("abba"), tmp_path / "file", list[int]()
    run = Generation(BUNDLE, word, "sparse")

    def watch(tokens: int) -> bool:
        told.append(tokens)
        return tokens < 5

    watched = Checkpoint(file, word).watching(run, watch)
    assert [watched(tokens) for tokens in (3, 7)] == [True, False]
    assert told == [3, 7]
    assert file.exists() is written
