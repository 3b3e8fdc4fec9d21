"""Which tests can notice a mutant: those that enter its function, as seen in the sources unchanged."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from tests.campaigns.mutation.mutants import Mutant
from tests.campaigns.mutation.tree import ROOT, Tree

TESTS: dict[str, tuple[str, ...]] = {
    "formats": ("formats", "fuzz"),
    "simulator": ("simulator", "machine"),
    "bundle": ("bundle",),
    "weights": ("golden", "weights", "bundle"),
    "lowering": ("golden", "lowering", "inference/test_literal", "inference/test_queue_tables"),
    "engines": ("engines",),
    "inference": ("inference",),
    "workers": ("workers", "inference/batch"),
    "constructions/realtime": ("golden", "constructions/realtime"),
}
"""The packages, each with the folders whose tests run first."""


def package_of(mutant: Mutant) -> str:
    """Return the package of a mutant's file."""
    inside = mutant.file.removeprefix("src/tapeformer/")
    return next(name for name in TESTS if inside.startswith(f"{name}/"))


@dataclass
class TestFile:
    """What a file of tests enters when it is imported, and what each of its tests enters and takes."""

    __test__ = False
    at_import: set[str] = field(default_factory=set)
    functions: dict[str, set[str]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    unusable: list[str] = field(default_factory=list)

    def enters(self, test: str, function: str) -> bool:
        """Tell whether a test, or the import of its file, enters a function (or part of a module)."""
        found = self.functions[test] | self.at_import
        return function in found or (function.endswith(":") and any_of(found, function))


def any_of(functions: set[str], module: str) -> bool:
    """Tell whether some function of a module is among those entered."""
    return any(function.startswith(module) for function in functions)


class Survey:
    """The tests that pass on the sources unchanged, kept in a folder from one campaign to the next."""

    def __init__(self, folder: Path, whole: bool) -> None:
        self.folder, self.whole = folder, whole
        self.files: dict[str, TestFile] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def test_files(self) -> list[str]:
        """List the files of tests of the mutated packages, then, for the whole, the others."""
        found = sorted(
            file.relative_to(ROOT).as_posix() for file in ROOT.glob("tests/**/test_*.py")
        )
        own = tuple(f"tests/{part}" for parts in TESTS.values() for part in parts)
        first = [file for file in found if file.startswith(own)]
        return first + [file for file in found if file not in first] * self.whole

    def _kept(self, file: str) -> Path:
        """Return where the lines of a test file are; another content of the file, another name."""
        digest = hashlib.sha256((ROOT / file).read_bytes()).hexdigest()[:12]
        return self.folder / f"{file.replace('/', '.')}.{digest}.jsonl"

    def missing(self) -> list[str]:
        """List the test files that are not in the folder."""
        return [file for file in self.test_files() if not self._kept(file).exists()]

    def look(self, tree: Tree, file: str, seconds: float) -> None:
        """Run a test file; what a file that cannot be imported leaves is an empty list."""
        kept = self._kept(file)
        part = kept.with_suffix(".part")
        part.write_text("", encoding="utf-8")
        tree.surveyed(file, part, seconds)
        part.replace(kept)

    def read(self) -> None:
        """Read the folder."""
        for file in self.test_files():
            found = self.files[file] = TestFile()
            kept = self._kept(file)
            text = kept.read_text(encoding="utf-8") if kept.exists() else ""
            for line in map(json.loads, text.splitlines()):
                if not line["test"]:
                    found.at_import = set(line["functions"])
                elif line["passed"]:
                    found.functions[line["test"]] = set(line["functions"])
                    found.seconds[line["test"]] = line["seconds"]
                else:
                    found.unusable.append(line["test"])

    def seconds(self, test: str) -> float:
        """Return how long a test took."""
        return self.files[test.partition("::")[0]].seconds[test]

    def unusable(self) -> list[str]:
        """List the tests that do not pass here on the sources unchanged, whole files by their name."""
        empty = [name for name, file in self.files.items() if not file.seconds]
        return empty + [
            test for file in self.files.values() if file.seconds for test in file.unusable
        ]

    def candidates(self, mutant: Mutant) -> list[str]:
        """List the tests for a mutant: those that enter its function, then others of their files.

        Others of a file may use what an earlier one has left in a cache. Tests of the mutated
        package come before those of other packages, and quick ones before slow ones. What is at the
        top of a module concerns all who enter the module, and then the tests of the package.
        """
        own = tuple(f"tests/{part}" for part in TESTS[package_of(mutant)])
        rank: dict[str, int] = {}
        for name, file in self.files.items():
            entering = {test for test in file.seconds if file.enters(test, mutant.function)}
            near = entering or (mutant.function.endswith(":") and name.startswith(own))
            for test in file.seconds if near or self.whole else ():
                far = 0 if test in entering else 2 if near else 4
                rank[test] = far + (not name.startswith(own))
        if not rank:
            rank = {
                test: 0
                for name, file in self.files.items()
                if name.startswith(own)
                for test in file.seconds
            }
        return sorted(rank, key=lambda test: (rank[test], self.seconds(test)))
