"""Worker processes of this machine.

A process ends with its parent, however that ends, and leaves Ctrl-C to it. It never imports the
script that started it, so a script needs no `if __name__ == "__main__"`.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import parent_process, resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import Lock, RLock, Thread
from types import ModuleType
from typing import Any
from weakref import WeakSet

from tapeformer.workers.task import Server, Task


class ProcessPool:
    """A process pool of `concurrent.futures`, restarted if a process dies."""

    def __init__(self, task: Task[Any, Any], processes: int) -> None:
        self._task, self._processes = task, processes
        self.room, self._open, self._lock = 2 * processes, True, RLock()
        self._start()

    def _start(self) -> None:
        self._context = _Context()
        self.executor = ProcessPoolExecutor(
            self._processes, mp_context=self._context, initializer=_begin, initargs=(self._task,)
        )
        self._own: WeakSet[Future[Any]] = WeakSet()

    def loading(self) -> list[Future[Any]]:
        """Make every process load the task."""
        with self._lock:
            return [self._submitted(_load) for _ in range(self._processes)]

    def submit(self, group: Any) -> Future[Any]:
        """Submit a group; restart the processes first if they are broken."""
        with self._lock:
            try:
                future = self._submitted(_reply, group)
            except (BrokenProcessPool, BrokenPipeError):
                self._restart()
                future = self._submitted(_reply, group)
            self._own.add(future)
            return future

    def _submitted(self, work: Callable[..., Any], *given: Any) -> Future[Any]:
        """Submit work, which may start a process; CancelledError once the pool is closed."""
        if not self._open:
            raise CancelledError
        return self.executor.submit(work, *given)

    def _restart(self) -> None:
        self._end()
        self._start()

    def recover(self, future: Future[Any]) -> bool:
        """Restart the processes if one has died: the groups of all of them are lost with it."""
        with self._lock:
            lost = future.cancelled() or isinstance(future.exception(), BrokenProcessPool)
            if not self._open or not lost:
                return False
            if future in self._own:
                self._restart()
            return True

    def check(self) -> None:
        """Do nothing: the futures of its groups tell if a process dies."""

    def close(self) -> None:
        """Kill all processes at once, and start no others."""
        with self._lock:
            self._open = False
            self._end()

    def _end(self) -> None:
        for process in self._context.started:
            if process.pid is not None:
                process.kill()
        with suppress(RuntimeError):  # its thread may not have started
            self.executor.shutdown(wait=True, cancel_futures=True)


_starting = Lock()
"""Processes start one at a time: hiding this program's script affects all threads."""


class WorkerProcess(SpawnProcess):
    """A process that never sees Ctrl-C, even while it starts, nor the script that starts it.

    If it dies while it starts, this process gets an error and is not killed by the broken pipe.
    """

    def start(self) -> None:
        """Start the process, one process at a time."""
        with _starting, _without_signals(), _without_script():
            super().start()


class _Context(SpawnContext):
    """Starts processes and remembers them."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[WorkerProcess] = []

    def Process(self, *given: Any, **named: Any) -> WorkerProcess:  # type: ignore[override]  # noqa: N802
        """Return a new process."""
        process = WorkerProcess(*given, **named)
        self.started.append(process)
        return process


@contextmanager
def _without_signals() -> Iterator[None]:
    """Make processes started in here inherit a blocked Ctrl-C; turn a broken pipe into an OSError.

    Python's resource tracker is started first: started later, it would unblock Ctrl-C again.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()
    blocked = {signal.SIGINT, signal.SIGPIPE}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
    try:
        yield
    finally:
        if signal.SIGPIPE in signal.sigpending():
            signal.sigwait({signal.SIGPIPE})
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _without_script() -> Iterator[None]:
    """Hide this program's script from processes started in here, which would run it again."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


_servers: list[Server] = []
"""The task of this process, if it is a worker."""


def _begin(task: Task[Any, Any]) -> None:
    """Take a task; silence warnings, which would repeat the parent's."""
    logging.getLogger("tapeformer").setLevel(logging.ERROR)
    Thread(target=_end_with_parent, daemon=True).start()
    _servers.append(Server(task))


def _end_with_parent() -> None:
    """End this process when its parent ends, even if that was killed: nobody needs it."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _load() -> None:
    """Load the task before the first group, which reports any error."""
    _servers[-1].load()


def _reply(group: Any) -> Any:
    return _servers[-1].reply(group)
