"""Exported folders in the installed transformers; other versions are a command of their own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tapeformer as tf
from tapeformer.export.bundle_to_huggingface import decoder_source
from tapeformer.export.source import travelling
from tapeformer.faults import TapeformerError
from tests.export import open_folders
from tests.export.models import chain, model, run_examples
from tests.export.transformers_versions import write_folder

pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small exported machines, one with two tapes, and chains of thought of three words each."""
    folder = tmp_path_factory.mktemp("huggingface")
    words = ["", "b", "ab"]
    write_folder(folder, "palindrome_two_tapes", 3, words)
    write_folder(folder, "binary_increment", 3, ["1", "01", "11"])
    return folder


@pytest.mark.parametrize("check", open_folders.CHECKS, ids=lambda check: check.__name__)
def test_a_machine_of_two_tapes(data: Path, check: Callable[..., Any]) -> None:
    folder = data / "palindrome_two_tapes"
    check(folder, open_folders.chains_of(folder))


def test_another_machine(data: Path) -> None:
    folder = data / "binary_increment"
    open_folders.check_generation(folder, open_folders.chains_of(folder))


def test_the_example_of_the_card_runs(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = run_examples(data / "binary_increment", monkeypatch)
    printed = capsys.readouterr().out
    word = re.search(r"tokenizer\('(\w+)'", example)
    assert word is not None
    answer = tf.run("binary_increment", word[1])
    assert f"=> {answer.outcome.value} after {answer.steps} steps; tape 1: " in printed
    assert f"'tapes': {list(answer.output)}" in printed


@pytest.mark.parametrize("name", ["paper", "post", "base 4", "two steps"])
def test_every_construction_reads_its_own_tapes(name: str, tmp_path: Path) -> None:
    tf.export.save_huggingface(model(name), tmp_path / "model")
    tokenizer, found = open_folders.opened(tmp_path / "model")
    ids = found.generate(**tokenizer("ab", return_tensors="pt"))
    assert ids.tolist() == chain(name, "ab").tokens.tolist()
    answer = tf.run(model(name), "ab")
    read = tokenizer.read(ids[0])
    assert read["outcome"] == answer.outcome.value == "reject"
    assert (read["steps"], read["state"]) == (answer.steps, answer.state)
    assert read["tapes"] == list(answer.output)
    assert read["heads"] == [tape.head for tape in answer.tapes]
    assert tokenizer.decode(ids[0]).startswith("ab ")


def test_what_travels_is_the_source_of_the_package() -> None:
    own = Path(str(sys.modules["tapeformer"].__file__)).parent
    text = (own / "engines" / "transformer.py").read_text(encoding="utf-8")
    assert travelling("tapeformer.engines.transformer") == text
    modeling = "tapeformer.export.huggingface.modeling_tapeformer"
    sent = travelling(modeling).splitlines()
    kept = (own / "export" / "huggingface" / "modeling_tapeformer.py").read_text().splitlines()
    changed = [line for line, old in zip(sent, kept, strict=True) if line != old]
    assert [line.split(" import ")[0] for line in changed] == [
        "from .transformer",
        "from .configuration_tapeformer",
    ]


@pytest.mark.parametrize("name", ["realtime", "paper", "post"])
def test_decoders_travel_alone(name: str) -> None:
    source = decoder_source(name)
    assert "import tapeformer" not in source
    assert "from tapeformer" not in source
    assert len(source.splitlines()) < 500
    program = f"{source}\nassert decode and Layout"
    subprocess.run([sys.executable, "-S", "-c", program], check=True)


def test_folders_are_written_at_once_and_replaced_only_when_asked(tmp_path: Path) -> None:
    target = tmp_path / "model"
    tf.export.save_huggingface(model("post"), target)
    with pytest.raises(TapeformerError, match=r"already there.*another export.*overwrite=True"):
        tf.export.save_huggingface(model("post"), target)
    tf.export.save_huggingface(model("paper"), target, overwrite=True)
    config = json.loads((target / "config.json").read_text())
    assert config["window"] == model("paper").window
    (target / "mine.txt").write_text("mine")
    with pytest.raises(TapeformerError, match="not an export of this kind"):
        tf.export.save_huggingface(model("post"), target, overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]
