"""Where work is done: in a thread here, in local processes, or by a cluster's workers."""

from __future__ import annotations

from typing import Any

from tapeformer.dataclass import dataclass
from tapeformer.inference.workers.local import LocalPool, ThreadPool
from tapeformer.inference.workers.task import Pool, Task


@dataclass(frozen=True)
class Where:
    """A number of local processes, or the address of a Dask cluster's scheduler."""

    processes: int = 2
    cluster: str | None = None


def pool_at(where: Where, task: Task[Any, Any]) -> Pool:
    """Return workers for a task; a single local worker is a thread."""
    if where.cluster is not None:
        from tapeformer.inference.workers.cluster import ClusterPool

        return ClusterPool(task, where.cluster)
    return ThreadPool(task) if where.processes == 1 else LocalPool(task, where.processes)
