"""The documentation tells the truth: paths exist, commands exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")])
PATH = re.compile(r"`((?:src|tests|docs|examples)/[\w./-]+)`|\]\(((?!http)[\w./-]+)(?:#[\w-]*)?\)")
NAMED = re.compile(r"`((?:src|tests)/[\w/]+\.py)::(\w+)`")
MAKE = re.compile(r"`make (\w+)`|^make (\w+)", re.MULTILINE)
COMMAND = re.compile(r"^\s*(?:\$ )?(?:\.venv/bin/)?tapeformer ([a-z]\w+)", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_exist(page: Path) -> None:
    for in_code, in_link in PATH.findall(page.read_text(encoding="utf-8")):
        target = ROOT / in_code if in_code else page.parent / in_link
        assert target.exists(), f"{page.name} names {in_code or in_link}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_tests_and_functions_exist(page: Path) -> None:
    for path, name in NAMED.findall(page.read_text(encoding="utf-8")):
        text = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"\b(def|class) {name}\b|^{name}\b", text, re.MULTILINE), (path, name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_targets_exist(page: Path) -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for in_code, at_start in MAKE.findall(page.read_text(encoding="utf-8")):
        assert (in_code or at_start) in targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_exist(page: Path) -> None:
    from tapeformer.cli.app import COMMANDS

    for name in COMMAND.findall(page.read_text(encoding="utf-8")):
        assert name in COMMANDS, f"{page.name} names the command {name}"


def test_the_readme_lists_every_page_and_the_tour_every_command() -> None:
    from tapeformer.cli.app import COMMANDS

    listed = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Read on")[2]
    for page in (ROOT / "docs").glob("*.md"):
        assert f"](docs/{page.name})" in listed, f"the README does not list {page.name}"
    tour = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    assert set(COMMANDS) == set(COMMAND.findall(tour))


@pytest.mark.parametrize("name", ["README.md", "docs/python.md"])
def test_the_python_in_the_docs_prints_what_it_says(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    for block in blocks:
        done = subprocess.run(
            [sys.executable, "-c", block], capture_output=True, text=True, check=True, cwd=ROOT
        )
        for promised in re.findall(r"print\(.*\)\s+# (.*)", block):
            assert promised in done.stdout
