"""Where work is done: in a thread here, in local processes, or by a cluster's workers."""

from __future__ import annotations

import os
from dataclasses import field
from typing import Any

from tapeformer.arguments import bad_argument, check_count
from tapeformer.dataclass import dataclass
from tapeformer.workers.local import LocalPool, ThreadPool
from tapeformer.workers.task import Pool, Task


def usable_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class Where:
    """A number of local processes, or the address of a Dask cluster's scheduler."""

    processes: int = field(default_factory=usable_cores)
    cluster: str | None = None


def where(jobs: int | None, cluster: str | None) -> Where:
    """Return the place that a caller asked for: by default a local process for each core."""
    if cluster is not None and not isinstance(cluster, str):
        raise bad_argument("cluster", 'an address such as "tcp://127.0.0.1:8786"', cluster)
    if jobs is None:
        return Where(cluster=cluster)
    check_count("jobs", jobs, 1)
    return Where(jobs, cluster)


def pool_at(where: Where, task: Task[Any, Any]) -> Pool:
    """Return workers for a task; a single local worker is a thread."""
    if where.cluster is not None:
        from tapeformer.workers.cluster import ClusterPool

        return ClusterPool(task, where.cluster)
    return ThreadPool(task) if where.processes == 1 else LocalPool(task, where.processes)
