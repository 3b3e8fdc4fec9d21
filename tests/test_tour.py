"""The tour: the Python script does what each command of the README and docs/tour.md does."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "examples" / "tour.py"
LINE = re.compile(r"^tapeformer .*$", re.MULTILINE)


def commands(text: str) -> list[str]:
    return [line.partition(" #")[0].strip() for line in LINE.findall(text)]


def toured() -> list[str]:
    page = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8").partition("Longer runs")[0]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return list(dict.fromkeys([*commands(page), *commands(readme)]))


def test_every_command_has_its_part_in_the_script() -> None:
    text = SCRIPT.read_text(encoding="utf-8")
    done = {
        line.removeprefix("# ") for line in re.findall(r"^# tapeformer .*$", text, re.MULTILINE)
    }
    assert len(toured()) >= 19
    assert set(toured()) == done


def test_the_script_imports_nothing_but_the_library() -> None:
    tree = ast.parse(SCRIPT.read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(node) for node in imports] == ["import tapeformer as tf"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where the script has run."""
    made = tmp_path_factory.mktemp("tour")
    shutil.copytree(ROOT / "examples", made / "examples")
    done = subprocess.run(
        [sys.executable, "examples/tour.py"], cwd=made, capture_output=True, text=True, check=True
    )
    (made / "output").write_text(done.stdout, encoding="utf-8")
    return made


def by_command(folder: Path, line: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", *shlex.split(line)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_files_of_both_are_the_same_bytes(folder: Path) -> None:
    names = ("palindrome.svg", "cot.jsonl", "answers.jsonl", "palindrome.model/model.safetensors")
    for name in names:
        (folder / name).rename(folder / f"{Path(name).name}.script")
    shutil.rmtree(folder / "palindrome.model")
    for line in toured():
        if any(file in line for file in ("--svg", "-o palindrome.model", "--trace", "--answers")):
            by_command(folder, line)
    for name in names:
        script = folder / f"{Path(name).name}.script"
        assert (folder / name).read_bytes() == script.read_bytes(), name


def test_texts_of_both_are_the_same(folder: Path) -> None:
    output = (folder / "output").read_text(encoding="utf-8")
    for line in (
        "tapeformer convert binary_increment --to morphett",
        "tapeformer info palindrome --levels 5 --head 1",
        "tapeformer compile palindrome --until circuit --show",
    ):
        assert by_command(folder, line).strip() in output, line
    assert "<Answer halt: 1RB1LB_1LA0LC_1RZ1LD_1RD0RA in state Z after 107 steps" in output
    grown = re.search(r"after 134,467 steps.*levels added while it ran: (\d+)", output)
    assert grown is not None
    assert int(grown[1]) > 0
