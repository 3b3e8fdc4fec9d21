"""Workers that answer groups of work: in this process, in local processes, or on a cluster."""

from tapeformer.workers.ordered import in_order
from tapeformer.workers.places import Where, pool_at, usable_cores, where
from tapeformer.workers.task import Task

__all__ = ["Task", "Where", "in_order", "pool_at", "usable_cores", "where"]
