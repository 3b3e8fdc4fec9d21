"""Workers of a Dask cluster: each gets the task once, also those that join later."""

from __future__ import annotations

import logging
import pickle
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread
from time import monotonic
from typing import Any
from uuid import uuid4

from tapeformer.extras import require
from tapeformer.faults import Fault, TapeformerError, first_line, quoted
from tapeformer.workers.task import Server, Task

CONNECT = 10
"""Seconds within which a scheduler must answer."""
COUNT_AGAIN = 5.0
"""Seconds after which workers are counted again: some may have joined or left."""
EXTRA = "cluster"
LOGGERS = ("distributed", "distributed.client", "tornado.application")
"""They would print tracebacks when the scheduler is gone; we report that in one message."""

log = logging.getLogger("tapeformer")

servers: dict[str, Server] = {}
"""The tasks of this process, if it is a worker of a cluster."""


class ClusterPool:
    """The workers of a scheduler; if one dies, the scheduler gives its groups to another."""

    def __init__(self, task: Task[Any, Any], address: str) -> None:
        distributed = require("distributed", extra=EXTRA, what="--cluster")
        self.address, self._key = address, uuid4().hex
        for name in LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        try:
            self._client = _connected(distributed, address)
        except (OSError, ValueError, TypeError) as error:
            raise self._gone("cannot be reached", error) from None
        self._executor = self._client.get_executor(pure=False)
        self._lost = (distributed.scheduler.KilledWorker, OSError)
        self._told_of_none = False
        try:
            self._bring(distributed, task)
            self._count()
        except BaseException:
            self.close()
            raise

    def _bring(self, distributed: Any, task: Task[Any, Any]) -> None:
        """Have every worker load the task; what goes wrong there is raised here."""
        plugin = _plugin(distributed, self._key, pickle.dumps(task))
        try:
            self._client.register_plugin(plugin, name=self._key)
        except Exception as error:
            self._check_there()
            what = "the cluster's workers cannot load the work"
            remedy = "install the same versions of Python, tapeformer and NumPy there as here"
            raise TapeformerError(Fault(what, got=first_line(error), remedy=remedy)) from error

    def _count(self) -> None:
        """Count the workers' threads, two groups for each; say so if there are none."""
        threads = sum(self._asked("ncores").values())
        if not threads and not self._told_of_none:
            start = f"start one with `dask worker {self.address}`"
            log.warning("warning: the scheduler has no workers, so nothing is done: %s", start)
        self._told_of_none = not threads
        self.room: int = 2 * max(1, threads)
        self._counted = monotonic()

    def _asked(self, question: str, **given: Any) -> Any:
        """Ask the scheduler, and do not wait longer for it than for a connection."""
        ask = getattr(self._client.scheduler, question)
        try:
            return self._client.sync(ask, **given, callback_timeout=CONNECT)
        except OSError as error:
            raise self._gone("does not answer", error) from None

    def submit(self, group: Any) -> Future[Any]:
        """Submit a group to the workers."""
        future: Future[Any] = self._executor.submit(reply, self._key, group)
        return future

    def recover(self, future: Future[Any]) -> bool:
        """Say whether a worker died: the scheduler waits for others. Raise if it is gone itself."""
        self.check()
        return future.cancelled() or isinstance(future.exception(), self._lost)

    def check(self) -> None:
        """Raise an error if the scheduler is gone; now and then count the workers again."""
        self._check_there()
        if monotonic() - self._counted > COUNT_AGAIN:
            self._count()

    def _check_there(self) -> None:
        if self._client.status != "running":
            raise self._gone("is gone")

    def close(self) -> None:
        """Disconnect from the cluster, whose workers drop the task; unfinished groups are cancelled."""
        if self._client.status == "running":
            self._executor.shutdown(wait=False)
            with suppress(TapeformerError):
                self._asked("unregister_worker_plugin", name=self._key)
        self._client.close(timeout=1)

    def _gone(self, what: str, error: Exception | None = None) -> TapeformerError:
        return TapeformerError(
            Fault(
                f"the cluster's scheduler at {quoted(self.address)} {what}",
                expected="the address of a running dask scheduler, such as tcp://host:8786",
                got="" if error is None else first_line(error),
                remedy="what is answered is kept: run the same command again when it is there",
            )
        )


def _connected(distributed: Any, address: str) -> Any:
    """Return a client of a scheduler; TimeoutError where something else accepts and says nothing."""
    client: Future[Any] = Future()

    def connect() -> None:
        try:
            made = distributed.Client(address, timeout=CONNECT, set_as_default=False)
        except Exception as error:
            client.set_exception(error)
        else:
            client.set_result(made)

    Thread(target=connect, daemon=True).start()
    return client.result(2 * CONNECT)


def _plugin(distributed: Any, key: str, content: bytes) -> Any:
    """Return the plugin that brings a task to every worker."""

    class BringTask(distributed.WorkerPlugin):  # type: ignore[misc]
        """Keeps a task in a worker, for later groups."""

        def setup(self, worker: Any) -> None:  # noqa: ARG002
            """Store the task in this worker."""
            keep(key, content)

        def teardown(self, worker: Any) -> None:  # noqa: ARG002
            """Drop the task."""
            servers.pop(key, None)

    return BringTask()


def keep(key: str, content: bytes) -> None:
    """Store a task in this worker, once."""
    if key not in servers:
        servers[key] = Server(pickle.loads(content))


def reply(key: str, group: Any) -> Any:
    """Answer a group in a worker."""
    return servers[key].reply(group)
