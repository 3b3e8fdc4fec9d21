"""Worker processes that a test has started; those of a cluster, which may run beside them, are left out."""

from __future__ import annotations

from multiprocessing import active_children

from tapeformer.inference.workers.processes import WorkerProcess


def running() -> list[WorkerProcess]:
    return [child for child in active_children() if isinstance(child, WorkerProcess)]
