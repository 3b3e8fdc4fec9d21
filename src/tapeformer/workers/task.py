"""What workers do: each worker loads a task once, then answers one group after another."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from threading import Lock, Thread, current_thread
from typing import Any, Protocol, TypeVar

from tapeformer.faults import OUT_OF_MEMORY, Fault, TapeformerError

Group = TypeVar("Group", contravariant=True)
Found = TypeVar("Found", covariant=True)


class Task(Protocol[Group, Found]):
    """Work that is sent to each worker once; groups are sent one by one."""

    def ready(self) -> Callable[[Group], Found]:
        """Load what all groups need, and return a function that answers a group."""


class Pool(Protocol):
    """Workers with the same task.

    A group whose worker died is submitted again if `recover` says that there are workers again.
    """

    @property
    def room(self) -> int:
        """Return how many groups may be in progress at once."""

    def submit(self, group: Any) -> Future[Any]:
        """Submit a group; the result is what `Server.reply` returns."""

    def recover(self, future: Future[Any]) -> bool:
        """Say whether a group failed because its worker died; if so, there are workers again."""

    def check(self) -> None:
        """Raise a TapeformerError if no answer can come any more; may start workers."""

    def close(self) -> None:
        """Stop all workers at once."""


class WorkerThread(Thread):
    """A thread whose work can be called off."""

    called_off = False


def still_wanted(_: int = 0) -> bool:
    """Say yes to a run that asks whether to go on; raise CancelledError if its work was called off."""
    if getattr(current_thread(), "called_off", False):
        raise CancelledError
    return True


class Server:
    """A task in a worker: loaded by the first group at the latest, for one group at a time."""

    def __init__(self, task: Task[Any, Any]) -> None:
        self.task, self.lock = task, Lock()
        self.answer: Callable[[Any], Any] | None = None

    def load(self) -> None:
        """Load the task ahead of the first group; leave errors to that one."""
        with self.lock, suppress(TapeformerError, MemoryError):
            self.answer = self.answer or self.task.ready()

    def reply(self, group: Any) -> tuple[tuple[Fault, ...], Any]:
        """Return no faults and the answer to a group, or the faults that end the work."""
        try:
            with self.lock:
                self.answer = self.answer or self.task.ready()
                return (), self.answer(group)
        except TapeformerError as error:
            return error.faults, None
        except MemoryError:
            return (OUT_OF_MEMORY,), None
