"""`info --neuron` leads from a neuron to the line of the user's file, for machines and bundles."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tapeformer import gallery_machine, load
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.export.roles import roles, roles_text
from tests.cli.test_commands import record, tapeformer

MINE = """\
name: mine
blank: '_'
start state: go
table:
  go:
    # the only rule that writes
    a: {write: b, R: go}
    '_': {L: done}
  done:
"""
CONSTRUCTIONS = {
    "realtime": (CompileOptions("realtime", levels=2), "--levels 2"),
    "paper": (CompileOptions("paper", levels=1, base=8), "--levels 1 --base 8"),
    "post": (CompileOptions("post", space=8), "--space 8"),
}


def neuron(options: CompileOptions, machine: str, start: str) -> int:
    """Return the number of the first neuron whose name begins with a text."""
    found = gallery_machine(machine) if "/" not in machine else load(machine)
    weights = compile_machine(found, options).weights
    hidden = (affine for layer in weights.layers for affine in layer.feed_forward[:-1])
    names = [name for affine in hidden for name in affine.names]
    return next(number for number, name in enumerate(names) if name.startswith(start))


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.yaml"
    file.write_text(MINE, encoding="utf-8")
    return file


@pytest.mark.parametrize("construction", sorted(CONSTRUCTIONS))
def test_a_neuron_of_a_file_tells_its_line(mine: Path, construction: str) -> None:
    options, words = CONSTRUCTIONS[construction]
    number = neuron(options, str(mine), "rule 1: ")
    asked = ("--construction", construction, *words.split())
    text = tapeformer("info", str(mine), *asked, "--neuron", str(number)).stdout
    assert text.startswith(f"neuron {number}: rule 1: ")
    assert "rule    1: go a -> go b R  (mine.yaml:7)" in text
    assert text.count("rule    ") == 1


def test_a_neuron_of_the_gallery_tells_its_line_in_json_too() -> None:
    options = CompileOptions(levels=2)
    number = neuron(options, "palindrome", "rule 18: control/fires in back _")
    got = record("info", "palindrome", "--levels", "2", "--neuron", str(number))
    (explained,) = got["explanations"]
    assert explained["rules"] == [
        {
            "number": 18,
            "text": "back _ -> first _ R",
            "source": "gallery/palindrome.yaml",
            "line": 37,
        }
    ]
    assert "carry state=back" in " ".join(explained["reads"])


def test_a_saved_bundle_still_tells_the_line(mine: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    assert tapeformer("compile", str(mine), "-o", str(model), "--levels", "2").returncode == 0
    number = neuron(CompileOptions(levels=2), str(mine), "rule 2: ")
    mine.unlink()
    text = tapeformer("info", str(model), "--neuron", str(number)).stdout
    assert "rule    2: go _ -> done _ L  (mine.yaml:8)" in text
    field = tapeformer("info", str(model), "--field", "next state=done").stdout
    assert "rule    2: go _ -> done _ L  (mine.yaml:8)" in field
    head = tapeformer("info", str(model), "--head", "0").stdout
    assert "rule    none in particular" in head


@pytest.mark.parametrize("form", ["csv", "json"])
def test_the_role_table_is_written_as_the_library_makes_it(form: str, tmp_path: Path) -> None:
    file = tmp_path / f"roles.{form}"
    assert tapeformer("info", "palindrome", "--levels", "2", "--roles", str(file)).returncode == 0
    bundle = compile_machine(gallery_machine("palindrome"), CompileOptions(levels=2))
    assert file.read_text(encoding="utf-8") == roles_text(roles(bundle), form)


def test_a_role_table_of_another_format_or_in_place_of_a_pipe_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "roles.csv"
    os.mkfifo(pipe)
    for file, why in ((pipe, "a pipe, not a regular file"), (tmp_path / "a.txt", "csv or json")):
        done = tapeformer("info", "palindrome", "--levels", "2", "--roles", str(file))
        assert (done.returncode, done.stdout) == (2, "")
        assert why in done.stderr
    assert os.listdir(tmp_path) == ["roles.csv"]
