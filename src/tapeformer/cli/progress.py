"""Progress on standard error for what takes long, and a clean Ctrl-C."""

from __future__ import annotations

import signal
import sys
import time
from types import FrameType, TracebackType
from typing import Any

PATIENCE = 1.0
"""Seconds before progress is shown on a terminal."""
LINES_AFTER, LINES_EVERY = 10.0, 60.0
"""Seconds before the first line where standard error is no terminal, and most between two."""
STOPPING = (signal.SIGINT, signal.SIGTERM)
"""Signals after which work stops and says what is known so far."""
SAME_SIGNAL = 0.5
"""Seconds in which a second signal is the same one: `timeout` sends two at once."""
HOW_TO_STOP = "Ctrl-C stops and prints what is known; --max-steps sets a limit"
HOW_TO_STOP_A_BATCH = "Ctrl-C stops; --max-steps sets a limit for each line"
HOW_TO_RESUME = "; with --checkpoint FILE a run can be resumed"


class Watch:
    """Told the count of what is done; returns False once the user has pressed Ctrl-C.

    As a context it turns Ctrl-C, or SIGTERM, into that answer, so that what is known so far can be
    told; a second one ends work that does not ask. With `hint`, work that takes long says how to stop it.
    """

    def __init__(self, unit: str, total: int | None = None, hint: str = "") -> None:
        self.unit, self.total, self.hint = unit, total, hint
        self.interrupted, self._interrupted_at = False, 0.0
        self.started = time.monotonic()
        self._first: tuple[int, float] | None = None
        self._next_line = LINES_AFTER
        self._bar: Any = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Watch:
        self._before = {name: signal.signal(name, self._interrupt) for name in STOPPING}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for name, handler in self._before.items():
            signal.signal(name, handler)
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int) -> bool:
        """Show how far the work is; False ends it."""
        elapsed = time.monotonic() - self.started
        self._first = self._first or (done, elapsed)
        if elapsed > PATIENCE and sys.stderr is not None and sys.stderr.isatty():
            self._show(done, elapsed)
        if elapsed > self._next_line:
            self._tell(done, elapsed)
        return not self.interrupted

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if not self.interrupted:
            self.interrupted, self._interrupted_at = True, now
        elif now - self._interrupted_at > SAME_SIGNAL:
            raise KeyboardInterrupt

    def _show(self, done: int, elapsed: float) -> None:
        if self._bar is None:
            self._bar = _bar(self.unit, self.total)
        self._bar.update(
            self._bar.task_ids[0],
            completed=done,
            count=f"{self._count(done)}{self._rate(done, elapsed)}",
        )

    def _tell(self, done: int, elapsed: float) -> None:
        """Print a line now and then where there is no bar; the first one says how to stop."""
        if self._bar is None:
            line = f"{self._count(done)} after {elapsed:.0f} s{self._rate(done, elapsed)}"
            print(line, file=sys.stderr, flush=True)
        if self.hint:
            print(self.hint, file=sys.stderr, flush=True)
            self.hint = ""
        self._next_line = elapsed + min(elapsed, LINES_EVERY)

    def _count(self, done: int) -> str:
        return f"{done:,}{f' of {self.total:,}' if self.total else ''} {self.unit}"

    def _rate(self, done: int, elapsed: float) -> str:
        """Return the speed since the first call: what was done before that is an earlier run's."""
        before, since = self._first or (0, 0.0)
        if elapsed - since < PATIENCE:
            return ""
        rate = (done - before) / (elapsed - since)
        return f", {rate / 1e6:.2f} million a second" if rate >= 1e5 else f", {rate:,.0f} a second"


def _bar(unit: str, total: int | None) -> Any:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = [
        SpinnerColumn(),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
    ]
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    bar.add_task(unit, total=total, count="")
    bar.start()
    return bar
