"""A copy of the sources, in which a file may be changed and tests are run in processes of their own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from math import ceil
from pathlib import Path
from subprocess import CompletedProcess

from tests.campaigns.mutation.mutants import Mutant
from tests.campaigns.mutation.pytest_plugin import ORDER, SURVEY
from tests.forked import Server

ROOT = Path(__file__).parents[3]
COPIED = ("src", "tests", "docs", "examples", "README.md", "pyproject.toml", "Makefile", "LICENSE")
IMPORTED = (
    *("pytest", "_pytest.terminal", "_pytest.python", "hypothesis", "numpy", "torch", "yaml"),
    *("llvmlite.binding", "automata.tm.mntm", "safetensors.numpy", "typer.testing"),
)
MEMORY = 24 << 30
"""The most address space of a process: a mutant that fills memory ends, and nothing else does."""

WAITING = 12
"""How many times longer than it computes a process may take: a test that waits for ever ends too."""


class Tree:
    """A copy of the package and its tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            elif source.exists():
                shutil.copy(source, folder / name)

    @contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        """Apply a mutant for a while."""
        file = self.folder / mutant.file
        original = file.read_text(encoding="utf-8")
        file.write_text(mutant.applied(original), encoding="utf-8")
        try:
            yield
        finally:
            file.write_text(original, encoding="utf-8")

    def ordered(self, tests: Sequence[str], seconds: float) -> tuple[str, str]:
        """Run some tests in the given order until one fails; return how that ended, and which failed."""
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        with tempfile.TemporaryDirectory() as folder:
            order = Path(folder) / "order.json"
            order.write_text(json.dumps(list(tests)), encoding="utf-8")
            return self._pytest(["-x", *files], {ORDER: str(order)}, seconds)

    def surveyed(self, file: str, survey: Path, seconds: float) -> None:
        """Run all tests of a file and note what each of them enters."""
        self._pytest([file], {SURVEY: str(survey)}, seconds)

    def _pytest(
        self, arguments: list[str], more: dict[str, str], seconds: float
    ) -> tuple[str, str]:
        """Run pytest with an empty cache folder, one thread, and without a GPU."""
        plugin = "tests.campaigns.mutation.pytest_plugin"
        words = ["-q", "--tb=no", "-p", plugin, "-p", "no:cacheprovider", *arguments]
        path = [str(self.folder / "src"), str(self.folder), os.environ.get("PYTHONPATH", "")]
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, "XDG_CACHE_HOME": cache, "PYTHONDONTWRITEBYTECODE": "1"}
            environment |= {"PYTHONPATH": ":".join(filter(None, path)), "CUDA_VISIBLE_DEVICES": ""}
            environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **more}
            done = self._server.run(
                words,
                folder=self.folder,
                environment=environment,
                seconds=ceil(WAITING * seconds),
                computing=ceil(seconds),
            )
        return _ended(done)

    @cached_property
    def _server(self) -> Server:
        """A process that has imported all but the package and its tests."""
        return Server("pytest:console_main", IMPORTED, ("tests", "tapeformer"), MEMORY)


def _ended(done: CompletedProcess[str]) -> tuple[str, str]:
    """Return whether a test failed, and which."""
    if done.returncode in (-signal.SIGALRM, -signal.SIGXCPU):
        return "timeout", ""
    if done.returncode == 0:
        return "survived", ""
    output = done.stdout + done.stderr
    failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if failed:
        return "killed", failed[0].partition(" - ")[0]
    crashed = done.returncode < 0
    return ("killed" if crashed else "unclear"), f"{done.returncode}: {output.strip()[-300:]}"
