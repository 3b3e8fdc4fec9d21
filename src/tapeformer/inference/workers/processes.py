"""Worker processes of this machine.

A process ends with the one that started it, however that ends, and leaves Ctrl-C to it. It never
imports the script that started it, so a script needs no `if __name__ == "__main__"`.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import parent_process, resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import Lock, RLock, Thread
from types import ModuleType
from typing import Any
from weakref import WeakSet

from tapeformer.inference.workers.task import Server, Task


class ProcessPool:
    """Processes of `concurrent.futures`, made anew where one has died."""

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
        """Have every process load the task."""
        with self._lock:
            return [self._submitted(_load) for _ in range(self._processes)]

    def submit(self, group: Any) -> Future[Any]:
        """Have a group answered."""
        with self._lock:
            try:
                future = self._submitted(_reply, group)
            except (BrokenProcessPool, BrokenPipeError):
                self._restart()
                future = self._submitted(_reply, group)
            self._own.add(future)
            return future

    def _submitted(self, work: Callable[..., Any], *given: Any) -> Future[Any]:
        """Submit work, which starts a process while there are too few, unless the pool is closed."""
        if not self._open:
            raise CancelledError
        return self.executor.submit(work, *given)

    def _restart(self) -> None:
        self._end()
        self._start()

    def recover(self, future: Future[Any]) -> bool:
        """Start processes anew where one has died; the groups of the others are lost with it."""
        with self._lock:
            if not self._open or not isinstance(future.exception(), BrokenProcessPool):
                return False
            if future in self._own:
                self._restart()
            return True

    def check(self) -> None:
        """Find nothing: a process that dies is noticed by its groups."""

    def close(self) -> None:
        """End all processes at once, and start no others."""
        with self._lock:
            self._open = False
            self._end()

    def _end(self) -> None:
        for process in self._context.started:
            if process.pid is not None:
                process.kill()
        self.executor.shutdown(wait=True, cancel_futures=True)


_starting = Lock()
"""One process at a time is started: what hides the script of this program is seen by all threads."""


class WorkerProcess(SpawnProcess):
    """A process that never sees Ctrl-C, not even while it starts, nor the script that starts it.

    If it dies while it starts, that is an error here, not the end of this process.
    """

    def start(self) -> None:
        """Start the process, one at a time."""
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
    """Let what is started in here inherit that Ctrl-C is blocked; a broken pipe is an OSError in here.

    The tracker that Python starts with the first process would let Ctrl-C through again.
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
    """Hide this program's script from what is started in here: it would be run again from its top."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


_servers: list[Server] = []
"""The task of this process, where it is a worker."""


def _begin(task: Task[Any, Any]) -> None:
    """Take over a task; warnings would repeat those of the parent."""
    logging.getLogger("tapeformer").setLevel(logging.ERROR)
    Thread(target=_end_with_parent, daemon=True).start()
    _servers.append(Server(task))


def _end_with_parent() -> None:
    """End a process whose parent was killed: it has nobody to work for."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _load() -> None:
    """Get ready for groups; what is wrong is told with the first of them."""
    _servers[-1].load()


def _reply(group: Any) -> Any:
    return _servers[-1].reply(group)
