"""What workers do: a task is made ready once in each worker, then answers one group after another."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Lock
from typing import Any, Protocol, TypeVar

from tapeformer.faults import OUT_OF_MEMORY, Fault, TapeformerError

Group = TypeVar("Group", contravariant=True)
Found = TypeVar("Found", covariant=True)


class Task(Protocol[Group, Found]):
    """Work that travels to a worker once; groups travel one by one."""

    def ready(self) -> Callable[[Group], Found]:
        """Load what all groups need and return what answers a group."""


class Pool(Protocol):
    """Workers with the same task.

    A group whose worker died is submitted again
    if `recover` has made workers anew.
    """

    @property
    def room(self) -> int:
        """Return how many groups may be under way at once."""

    def submit(self, group: Any) -> Future[Any]:
        """Have a group answered; the result is what `Server.reply` returns."""

    def recover(self, future: Future[Any]) -> bool:
        """Say whether a group failed because a worker died; there are workers again then."""

    def check(self) -> None:
        """Raise a TapeformerError where no answer can come any more."""

    def close(self) -> None:
        """End all workers at once."""


class Server:
    """A task in a worker: made ready with the first group; one group at a time."""

    def __init__(self, task: Task[Any, Any]) -> None:
        self.task, self.lock = task, Lock()
        self.answer: Callable[[Any], Any] | None = None

    def load(self) -> None:
        """Make the task ready before the first group, if it can be."""
        with self.lock, suppress(TapeformerError, MemoryError):
            self.answer = self.answer or self.task.ready()

    def reply(self, group: Any) -> tuple[tuple[Fault, ...], Any]:
        """Return the faults that end the work, or none and the answer to a group."""
        try:
            with self.lock:
                self.answer = self.answer or self.task.ready()
                return (), self.answer(group)
        except TapeformerError as error:
            return error.faults, None
        except MemoryError:
            return (OUT_OF_MEMORY,), None
