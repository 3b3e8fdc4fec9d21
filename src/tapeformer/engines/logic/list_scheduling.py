"""List scheduling: picks, of the operations that are ready, the one that leaves fewest values live.

An operation adds a live value if others will read it, and ends those that it is the last to read.
Values that are as cheap to load again as to keep do not count.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence


class ListScheduling:
    """Reorders operations, given a valid order; ties go to the one that comes first there.

    `operands` has what each operation must come after, `free` the ones whose values do not count.
    """

    def __init__(
        self, order: Sequence[int], operands: Mapping[int, Sequence[int]], free: frozenset[int]
    ) -> None:
        self.free = free
        self.rank = {index: rank for rank, index in enumerate(order)}
        self.operands = {index: set(operands[index]) for index in order}
        self.readers: dict[int, set[int]] = {index: set() for index in order}
        for index, read in self.operands.items():
            for operand in read:
                self.readers[operand].add(index)
        self.waiting = {index: len(read - free) for index, read in self.operands.items()}
        self.heap: list[tuple[int, int, int]] = []

    def scheduled(self) -> Iterator[int]:
        """Yield all operations in the new order; free ones come right before their first reader."""
        for index, count in self.waiting.items():
            if not count and index not in self.free:
                self._push(index)
        done: set[int] = set()
        while self.heap:
            _, _, index = heapq.heappop(self.heap)
            if index not in done:
                yield from self._with_free_operands(index, done)
                self._finish(index)
        yield from (index for index in self.rank if index not in done)

    def _with_free_operands(self, index: int, done: set[int]) -> Iterator[int]:
        fresh = (self.operands[index] & self.free) - done
        done |= {index, *fresh}
        yield from sorted(fresh, key=self.rank.__getitem__)
        yield index

    def _finish(self, index: int) -> None:
        """Mark an operation as done: readers may be ready, other readers of operands cheaper."""
        for reader in self.readers[index]:
            self.waiting[reader] -= 1
            if not self.waiting[reader]:
                self._push(reader)
        for operand in self.operands[index] - self.free:
            left = self.readers[operand]
            left.discard(index)
            if len(left) == 1 and not self.waiting[min(left)]:
                self._push(min(left))

    def _push(self, index: int) -> None:
        """Push a ready operation, ranked by how many live values it adds."""
        ended = sum(len(self.readers[x]) == 1 for x in self.operands[index] - self.free)
        heapq.heappush(self.heap, (bool(self.readers[index]) - ended, self.rank[index], index))
