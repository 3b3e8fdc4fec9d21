"""What the campaign adds to pytest: a list of the functions that each test enters, or an order of tests.

A file named in MUTATION_SURVEY gets one line of JSON for each test: how long it took, whether it
passed, and which functions of the package it entered; the first line is for the import of the tests.
A file named in MUTATION_ORDER holds the tests to run, in that order. Failures are not shrunk then.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

import hypothesis
import pytest

ORDER, SURVEY = "MUTATION_ORDER", "MUTATION_SURVEY"


class Entered:
    """Notes which functions below a folder are entered; Python 3.12 does so at hardly any cost."""

    def __init__(self, root: Path) -> None:
        self.root, self.inside = f"{root}/", f"{root / 'src'}/"
        self.found: set[str] = set()
        if sys.version_info >= (3, 12):
            tool, start = sys.monitoring.PROFILER_ID, sys.monitoring.events.PY_START
            sys.monitoring.use_tool_id(tool, "mutation")
            sys.monitoring.register_callback(tool, start, self._started)
            sys.monitoring.set_events(tool, start)
        else:
            threading.settrace(self._called)
            sys.settrace(self._called)

    def _note(self, code: CodeType) -> None:
        if code.co_filename.startswith(self.inside):
            file = code.co_filename.removeprefix(self.root)
            self.found.add(f"{file}:{code.co_qualname}")

    def _called(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self._note(frame.f_code)

    if sys.version_info >= (3, 12):

        def _started(self, code: CodeType, _: int) -> object:
            self._note(code)
            return sys.monitoring.DISABLE

    def taken(self) -> list[str]:
        """Return what was entered since the last time."""
        found = sorted(self.found)
        self.found.clear()
        if sys.version_info >= (3, 12):
            sys.monitoring.restart_events()
        return found


class SurveyPlugin:
    """Writes a line for each test as it ends."""

    def __init__(self, file: Path, root: Path) -> None:
        self.file, self.entered = file, Entered(root)
        self.passed = True

    def _write(self, test: str, seconds: float) -> None:
        line = {"test": test, "seconds": round(seconds, 3), "passed": self.passed}
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**line, "functions": self.entered.taken()}) + "\n")

    def pytest_collection_finish(self) -> None:
        """Note what importing the tests has entered."""
        self._write("", 0.0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that is skipped, or whose setup fails, has not passed either."""
        self.passed = self.passed and report.passed

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Tell how long a test and its fixtures compute: on a busy machine it takes longer."""
        self.passed, begun = True, sum(os.times()[:4])
        result = yield
        self._write(item.nodeid, sum(os.times()[:4]) - begun)
        return result


class OrderPlugin:
    """Runs the tests of a list, in its order."""

    def __init__(self, tests: list[str]) -> None:
        self.place = {test: number for number, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what is not in the list."""
        chosen = [item for item in items if item.nodeid in self.place]
        items[:] = sorted(chosen, key=lambda item: self.place[item.nodeid])


def pytest_sessionstart(session: pytest.Session) -> None:
    """Add what the environment asks for, after the profile of property tests was chosen."""
    if survey := os.environ.get(SURVEY):
        session.config.pluginmanager.register(SurveyPlugin(Path(survey), session.config.rootpath))
    if order := os.environ.get(ORDER):
        tests = json.loads(Path(order).read_text(encoding="utf-8"))
        session.config.pluginmanager.register(OrderPlugin(tests))
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        hypothesis.settings.register_profile("unshrunk", hypothesis.settings(), phases=phases)
        hypothesis.settings.load_profile("unshrunk")
