"""Workers of a Dask cluster: each gets the task once, also those that join later."""

from __future__ import annotations

import logging
import pickle
from concurrent.futures import Future
from hashlib import sha256
from typing import Any

from tapeformer.extras import require
from tapeformer.faults import Fault, TapeformerError, quoted
from tapeformer.inference.workers.task import Server, Task

CONNECT = 10
"""Seconds within which a scheduler must answer."""
EXTRA = "cluster"
LOGGERS = ("distributed", "distributed.client", "tornado.application")
"""They would print tracebacks when the scheduler is gone; we report that in one message."""

servers: dict[str, Server] = {}
"""The tasks of this process, if it is a worker of a cluster."""


class ClusterPool:
    """The workers of a scheduler; if one dies, the scheduler gives its groups to another."""

    def __init__(self, task: Task[Any, Any], address: str) -> None:
        distributed = require("distributed", extra=EXTRA, what="--cluster")
        self.address = address
        for name in LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        try:
            self._client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise self._gone("cannot be reached", error) from None
        content = pickle.dumps(task)
        self._key = sha256(content).hexdigest()
        plugin = _plugin(distributed, self._key, content)
        self._client.register_plugin(plugin, name=self._key)
        self._executor = self._client.get_executor(pure=False, retries=2)
        threads = self._client.ncores().values()
        self.room = 2 * max(1, sum(threads))

    def submit(self, group: Any) -> Future[Any]:
        """Submit a group to the workers."""
        future: Future[Any] = self._executor.submit(reply, self._key, group)
        return future

    def recover(self, _: Future[Any]) -> bool:
        """Say that there are workers again: the scheduler waits for some. Raise if it is gone."""
        self.check()
        return True

    def check(self) -> None:
        """Raise an error if the scheduler is gone."""
        if self._client.status != "running":
            raise self._gone("is gone")

    def close(self) -> None:
        """Disconnect from the cluster; unfinished groups are cancelled."""
        if self._client.status == "running":
            self._executor.shutdown(wait=False)
        self._client.close(timeout=1)

    def _gone(self, what: str, error: Exception | None = None) -> TapeformerError:
        return TapeformerError(
            Fault(
                f"the cluster's scheduler at {quoted(self.address)} {what}",
                expected="the address of a running dask scheduler, such as tcp://host:8786",
                got="" if error is None else str(error).partition("\n")[0][:200],
                remedy="what is answered is kept: run the same command again when it is there",
            )
        )


def _plugin(distributed: Any, key: str, content: bytes) -> Any:
    """Return the plugin that brings a task to every worker."""

    class BringTask(distributed.WorkerPlugin):  # type: ignore[misc]
        """Keeps a task in a worker, for later groups."""

        def setup(self, worker: Any) -> None:  # noqa: ARG002
            """Store the task in this worker."""
            keep(key, content)

    return BringTask()


def keep(key: str, content: bytes) -> None:
    """Store a task in this worker, once."""
    if key not in servers:
        servers[key] = Server(pickle.loads(content))


def reply(key: str, group: Any) -> Any:
    """Answer a group in a worker."""
    return servers[key].reply(group)
