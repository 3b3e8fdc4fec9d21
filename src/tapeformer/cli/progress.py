"""Progress on standard error for what takes longer than a second, and a clean Ctrl-C."""

from __future__ import annotations

import signal
import sys
import time
from types import FrameType, TracebackType
from typing import Any

PATIENCE = 1.0


class Watch:
    """Called with the count of what is done; False once the user has pressed Ctrl-C.

    As a context it turns Ctrl-C into that answer, so that what is known so far can be told.
    """

    def __init__(self, unit: str, total: int | None = None) -> None:
        self.unit, self.total = unit, total
        self.interrupted = False
        self.started = time.monotonic()
        self._bar: Any = None
        self._before: Any = None

    def __enter__(self) -> Watch:
        self._before = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        signal.signal(signal.SIGINT, self._before)
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int) -> bool:
        """Shows how far it is; False ends the work."""
        elapsed = time.monotonic() - self.started
        if elapsed > PATIENCE and sys.stderr.isatty():
            self._show(done, elapsed)
        return not self.interrupted

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        self.interrupted = True

    def _show(self, done: int, elapsed: float) -> None:
        if self._bar is None:
            self._bar = _bar(self.unit, self.total)
        rate = f"{done / elapsed / 1e6:.2f} million a second"
        self._bar.update(self._bar.task_ids[0], completed=done, count=f"{done:,}", rate=rate)


def _bar(unit: str, total: int | None) -> Any:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = [
        SpinnerColumn(),
        TextColumn("{task.fields[count]} " + unit + ", {task.fields[rate]}"),
        TimeElapsedColumn(),
    ]
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    bar.add_task(unit, total=total, count="", rate="")
    bar.start()
    return bar
