"""Workers on this machine: a thread of this process at first, processes if that is not enough."""

from __future__ import annotations

import logging
from concurrent.futures import Future
from queue import SimpleQueue
from time import process_time
from typing import TYPE_CHECKING, Any

from tapeformer.workers.task import Server, Task, WorkerThread

if TYPE_CHECKING:
    from tapeformer.workers.processes import ProcessPool

PATIENCE = 1.0
"""CPU seconds spent on answers here before processes are started, which takes about as long."""

log = logging.getLogger("tapeformer")


class ThreadPool:
    """One daemon thread: the program does not wait for it to exit."""

    room = 1

    def __init__(self, task: Task[Any, Any]) -> None:
        self._server = Server(task)
        self._groups: SimpleQueue[tuple[Any, Future[Any]] | None] = SimpleQueue()
        self._thread = WorkerThread(target=self._work, daemon=True)

    def submit(self, group: Any) -> Future[Any]:
        """Queue a group; the first one starts the thread."""
        future: Future[Any] = Future()
        self._groups.put((group, future))
        if self._thread.ident is None:
            self._thread.start()
        return future

    def _work(self) -> None:
        while (given := self._groups.get()) is not None:
            group, future = given
            try:
                future.set_result(self._server.reply(group))
            except BaseException as error:
                future.set_exception(error)

    @property
    def ready(self) -> bool:
        """Say whether the task is loaded."""
        return self._server.answer is not None

    def recover(self, _: Future[Any]) -> bool:
        """Say no: a thread does not die, so there is nothing to recover."""
        return False

    def check(self) -> None:
        """Do nothing: an answer can always come."""

    def finish(self) -> None:
        """Let the thread end after the groups in its queue."""
        self._groups.put(None)

    def close(self) -> None:
        """Call the work off: the thread ends where it next asks whether it is wanted."""
        self._thread.called_off = True
        self.finish()


class LocalPool:
    """A thread here at first; if that is not enough, processes, once they have started."""

    def __init__(self, task: Task[Any, Any], processes: int) -> None:
        self._task, self._count = task, processes
        self._begun: float | None = None
        self._thread = ThreadPool(task)
        self._processes: ProcessPool | None = None
        self._starting: list[Future[Any]] = []
        self._pool: ThreadPool | ProcessPool = self._thread

    @property
    def room(self) -> int:
        """How many groups the current workers may have in progress."""
        return self._pool.room

    def submit(self, group: Any) -> Future[Any]:
        """Submit a group to the current workers."""
        return self._pool.submit(group)

    def recover(self, future: Future[Any]) -> bool:
        """Restart the processes if one has died."""
        return self._processes is not None and self._processes.recover(future)

    def check(self) -> None:
        """Start processes if the thread, with its task loaded, has used some CPU seconds."""
        if self._begun is None and self._thread.ready:
            self._begun = process_time()
        elapsed = 0.0 if self._begun is None else process_time() - self._begun
        if self._processes is None and self._count > 1 and elapsed > PATIENCE:
            self._start()
        elif self._processes and self._pool is self._thread and self._started:
            self._pool = self._processes
            self._thread.finish()

    @property
    def _started(self) -> bool:
        return all(future.done() for future in self._starting)

    def _start(self) -> None:
        """Start processes; where that is not possible, the thread goes on alone."""
        from multiprocessing import current_process

        from tapeformer.workers.processes import ProcessPool

        if current_process().daemon:
            self._count = 1
            return
        try:
            self._processes = ProcessPool(self._task, self._count)
            self._starting = self._processes.loading()
        except (OSError, RuntimeError) as error:
            if self._processes is not None:
                self._processes.close()
            self._processes, self._count = None, 1
            log.warning("warning: one process does all the work: no other can start: %s", error)

    def close(self) -> None:
        """End all processes at once."""
        self._thread.close()
        if self._processes is not None:
            self._processes.close()
