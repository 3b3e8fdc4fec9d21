"""The import contract: stages do not know each other, the oracle knows only machines."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "tapeformer"
PACKAGE = "tapeformer"

ALLOWED: dict[str, set[str]] = {
    "faults": set(),
    "machine": {"faults"},
    "simulator": {"faults", "machine"},
    "formats": {"faults", "machine"},
    "gallery": {"faults", "machine", "formats"},
    "drawing": {"faults", "machine", "simulator"},
    "circuit": {"faults"},
    "queues": {"faults", "circuit"},
    "cli": {"faults", "machine", "simulator", "formats", "gallery", "drawing", "__version__"},
    "demo": {"machine", "simulator", "gallery", "drawing"},
}
"""For each part, the parts it may import. A queue machine's step function is a circuit."""

TOP = {"__init__", "__main__"}


def part_of(file: Path) -> str:
    relative = file.relative_to(SOURCE)
    return relative.parts[0].removesuffix(".py")


def imported_parts(file: Path) -> set[str]:
    parts = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = node.module.split(".")
            if names == [PACKAGE]:
                parts |= {alias.name for alias in node.names}
            elif names[0] == PACKAGE:
                parts.add(names[1])
        elif isinstance(node, ast.Import):
            names_of = (alias.name.split(".") for alias in node.names)
            parts |= {names[1] for names in names_of if names[0] == PACKAGE and len(names) > 1}
    return parts


@pytest.mark.parametrize(
    "file", sorted(SOURCE.rglob("*.py")), ids=lambda f: str(f.relative_to(SOURCE))
)
def test_imports_follow_the_architecture(file: Path) -> None:
    part = part_of(file)
    if part in TOP:
        return
    assert part in ALLOWED, f"{part} has no row in the import contract"
    assert imported_parts(file) <= ALLOWED[part] | {part}


def test_nothing_is_imported_relatively() -> None:
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.ImportFrom) and node.level > 0), file
