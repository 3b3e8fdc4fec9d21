"""Groups of work go to whichever worker is free; answers come out in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, Generic, TypeVar

from tapeformer.faults import Fault, TapeformerError, first_line
from tapeformer.workers.task import Pool

Group = TypeVar("Group")

TICK = 0.2
AHEAD = 2
"""How many times the workers' room may be answered or in progress while an earlier group is still
awaited: those answers are held in memory."""
ATTEMPTS = 3
"""How often to try a group whose workers die."""


def in_order(
    pool: Pool, groups: Iterator[Group], tick: Callable[[], bool]
) -> Generator[Any, None, None]:
    """Yield the answers in order of groups, then close the pool; stop once `tick` returns False."""
    try:
        yield from answers_in_order(pool, groups, tick)
    finally:
        pool.close()


def answers_in_order(
    pool: Pool, groups: Iterator[Group], tick: Callable[[], bool] = lambda: True
) -> Generator[Any, None, None]:
    """Yield the answers like `in_order`, but leave the pool open for its owner."""
    order = _Order(pool, groups)
    order.fill()
    while order.waiting and tick():
        for answer in order.answered():
            yield answer
            order.fill()
        order.fill()


class _Order(Generic[Group]):
    """Groups by number: those in progress, and answers that wait for an earlier one."""

    def __init__(self, pool: Pool, groups: Iterator[Group]) -> None:
        self.pool, self.groups = pool, groups
        self.begun = self.next = 0
        self.under_way: dict[int, tuple[Group, Future[Any]]] = {}
        self.found: dict[int, Any] = {}
        self.attempts: Counter[int] = Counter()

    @property
    def waiting(self) -> bool:
        return bool(self.under_way or self.found)

    def fill(self) -> None:
        """Submit groups while there is room for them."""
        room = self.pool.room
        while len(self.under_way) < room and self.begun - self.next < AHEAD * room:
            group = next(self.groups, None)
            if group is None:
                return
            self._submit(self.begun, group)
            self.begun += 1

    def _submit(self, number: int, group: Group) -> None:
        self.under_way[number] = group, self.pool.submit(group)

    def answered(self) -> Iterator[Any]:
        """Wait a short while, then yield the answers that are next in order."""
        futures = [future for _, future in self.under_way.values()]
        wait(futures, timeout=TICK, return_when=FIRST_COMPLETED)
        self.pool.check()
        for number, (group, future) in list(self.under_way.items()):
            if future.done():
                del self.under_way[number]
                self._take(number, group, future)
        while self.next in self.found:
            yield self.found.pop(self.next)
            self.next += 1

    def _take(self, number: int, group: Group, future: Future[Any]) -> None:
        """Keep an answer; retry a group whose worker died, and raise any other error as it is."""
        if not future.cancelled() and future.exception() is None:
            faults, found = future.result()
            if faults:
                raise TapeformerError(faults)
            self.found[number] = found
            return
        error = None if future.cancelled() else future.exception()
        if not self.pool.recover(future):
            raise _ended(None) if error is None else error
        self.attempts[number] += 1
        if self.attempts[number] == ATTEMPTS:
            raise _ended(error) from error
        self._submit(number, group)


def _ended(error: BaseException | None) -> TapeformerError:
    return TapeformerError(
        Fault(
            "a worker of the batch has ended before its work was done",
            got="" if error is None else first_line(error),
            remedy="what is answered is kept: give it more memory and run the same command again",
        )
    )
