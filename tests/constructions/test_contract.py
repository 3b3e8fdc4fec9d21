"""Stages do not know each other: who may import whom, read from the source files."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import tapeformer

SOURCE = Path(tapeformer.__file__).parent
MAY_IMPORT = {
    "circuit": {"circuit", "faults"},
    "queues": {"queues", "circuit", "faults"},
    "constructions": {"constructions", "queues", "circuit", "machine", "faults"},
    "simulator": {"simulator", "machine", "faults"},
}
OUTSIDE = {"torch", "numpy"}
ROOT = Path(__file__).parents[2]


def imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    plain = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    return {name for name in names if name} | {a.name for node in plain for a in node.names}


@pytest.mark.parametrize("stage", MAY_IMPORT)
def test_a_stage_imports_only_what_it_may(stage: str) -> None:
    for path in (SOURCE / stage).rglob("*.py"):
        ours = {name for name in imported(path) if name.startswith("tapeformer.")}
        shared = {"tapeformer.simulator.result"} if path.name.startswith("decode") else set()
        assert {name.split(".")[1] for name in ours - shared} <= MAY_IMPORT[stage], path
        assert not {name.split(".")[0] for name in imported(path)} & OUTSIDE, path


def test_every_test_that_the_gaps_name_is_there() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "docs/gaps.md").read_text())
    assert len(named) >= 15
    for path, name in named:
        assert f"def {name}(" in (ROOT / path).read_text(), (path, name)
