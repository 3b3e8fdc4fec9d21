"""The import contract: stages do not know each other, the oracle knows only machines."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "tapeformer"
PACKAGE = "tapeformer"

ANYTHING = {"*"}
ALLOWED: dict[str, set[str]] = {
    "dataclass": set(),
    "faults": set(),
    "arguments": {"faults"},
    "reprs": {"faults"},
    "extras": {"faults"},
    "machine": {"faults", "display"},
    "simulator": {"faults", "machine", "display"},
    "formats": {"faults", "machine"},
    "gallery": {"faults", "machine", "formats"},
    "drawing": {"faults", "machine", "simulator"},
    "display": {"faults", "machine", "simulator", "drawing"},
    "layout": set(),
    "windows": set(),
    "folders": set(),
    "listing": set(),
    "circuit": {"faults", "listing"},
    "queues": {"faults", "circuit", "layout", "listing"},
    "weights": {"faults", "layout", "reprs", "listing"},
    "bundle": {"faults", "folders", "layout", "weights", "display", "__version__"},
    "cache": set(),
    "engines": {"faults", "extras", "weights", "cache", "windows"},
    "constructions": {
        *("faults", "layout", "windows", "machine", "circuit", "queues", "simulator"),
    },
    "workers": {"faults", "extras"},
    "lowering": {"faults", "circuit", "queues", "weights"},
    "sources": {"faults", "machine", "formats", "gallery", "cache"},
    "compile": {
        *("faults", "layout", "machine", "simulator", "formats", "circuit", "queues", "weights"),
        *("bundle", "constructions", "lowering", "cache"),
    },
    "inference": {
        *("faults", "layout", "machine", "simulator", "formats", "sources", "queues", "weights"),
        *("bundle", "engines", "constructions", "lowering", "compile", "cache", "display"),
        *("windows", "extras", "workers"),
    },
    "export": {
        *("faults", "extras", "folders", "layout", "machine", "simulator", "formats", "queues"),
        *("weights", "bundle", "engines", "constructions", "compile", "inference", "workers"),
        "__version__",
    },
    "learning": {
        *("faults", "extras", "folders", "machine", "weights", "bundle", "compile", "inference"),
        *("export", "__version__"),
    },
    "laboratory": {
        *("faults", "machine", "simulator", "weights", "bundle", "constructions", "compile"),
        "inference",
    },
    "explorer": {
        *("faults", "extras", "machine", "simulator", "formats", "gallery", "sources", "weights"),
        *("bundle", "engines", "compile", "inference"),
    },
    "bench": ANYTHING,
    "cli": ANYTHING,
}
"""For each part, the parts it may import. A queue machine's step function is a circuit; of the
simulator the constructions use only the record of a tape, which a test below checks."""

EVERYWHERE = {"arguments", "dataclass"}
"""These know nothing of machines or models; `dataclass` stands for the standard library's."""

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
    assert ALLOWED[part] is ANYTHING or imported_parts(file) <= ALLOWED[part] | EVERYWHERE | {part}


def test_nothing_imports_the_command_line_the_drawings_or_the_benchmarks() -> None:
    users = {"cli": {"cli", "__main__"}, "bench": {"bench", "cli"}}
    users["drawing"] = {"drawing", "cli", "bench", "display"}
    for file in SOURCE.rglob("*.py"):
        for part in imported_parts(file) & users.keys():
            assert part_of(file) in users[part], f"{file} imports {part}"


def test_compiled_code_shares_only_the_record_of_a_tape_with_the_oracle() -> None:
    for part in ("constructions", "lowering", "circuit", "queues", "weights", "engines"):
        for file in (SOURCE / part).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and "simulator" in (node.module or ""):
                    assert node.module == "tapeformer.simulator.outcome", file
                    assert {alias.name for alias in node.names} <= {"Tape"}, file


def test_only_the_laboratorys_adapter_sees_the_compiler() -> None:
    for file in (SOURCE / "laboratory").rglob("*.py"):
        compiler = {"weights", "bundle", "constructions", "compile", "inference"}
        seen = imported_parts(file) & compiler
        assert not seen or file.name in ("compiled.py", "runnable.py"), file


def test_nothing_is_imported_relatively() -> None:
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.ImportFrom) and node.level > 0), file


def test_logic_knows_no_back_end() -> None:
    for file in (SOURCE / "engines" / "logic").rglob("*.py"):
        modules = imported_modules(file)
        assert not any(module.startswith("llvmlite") for module in modules), file
        assert not any(module.startswith("tapeformer.engines.native") for module in modules), file


def test_llvm_is_loaded_when_machine_code_is_made_or_run() -> None:
    program = (
        "import sys; from importlib import import_module;"
        "import_module('tapeformer.engines.native').Engine; import_module('tapeformer.engines.auto');"
        "sys.exit('llvmlite' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def imported_modules(file: Path) -> set[str]:
    modules = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            modules |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
    return modules


def test_running_a_saved_bundle_needs_neither_circuits_nor_lowering(tmp_path: Path) -> None:
    import tapeformer as tf

    tf.compile_machine(tf.gallery_machine("palindrome"), levels=4).save(tmp_path / "model")
    program = (
        "import sys, tapeformer as tf;"
        "tf.run(sys.argv[1], 'abba'); tf.run(sys.argv[1], 'abba', engine='native');"
        "[token.tapes for token in tf.stream(sys.argv[1], 'ab')];"
        "loaded = {name.split('.')[1] for name in sys.modules if name.startswith('tapeformer.')};"
        "assert 'inference' in loaded;"
        "sys.exit(str(loaded & {'circuit', 'lowering', 'cli', 'bench', 'drawing', 'display'})"
        " if loaded & {'circuit', 'lowering', 'cli', 'bench', 'drawing', 'display'} else 0)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "model")], check=True)
