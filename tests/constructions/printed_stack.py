"""Algorithms 1 and 2 of the paper as rotating tapes, with each repair as an option.

A second, plain implementation of one stack: lists and a clock, no circuit and no queues.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Repairs:
    """Which repairs are in: the half that PUSH moves, the buffer's length, how emptiness is known."""

    left_half: bool = True
    short_buffer: bool = True
    emptiness_known: bool = True


class PrintedStack:
    """One stack; `time` counts the steps of all queues together."""

    def __init__(self, base: int, levels: int, repairs: Repairs) -> None:
        self.base, self.levels, self.repairs, self.time = base, levels, repairs, 0
        sizes = {i: base**i for i in range(levels + 1)}
        self.tapes: dict[int, list[str]] = {i: [""] * 2 * sizes[i] for i in range(1, levels + 1)}
        self.buffers = {
            i: [""] * (2 * sizes[i] - (sizes[i - 1] if repairs.short_buffer else 0))
            for i in range(2, levels + 1)
        }
        self.tapes[1][0] = "bottom"

    def push(self, symbol: str) -> None:
        self._seek_first_dummy(1)
        place = self._head(1)
        self.tapes[1][place] = symbol
        self.time += 1
        if place == len(self.tapes[1]) - 1 and self.levels > 1:
            self._push_block(2)

    def pop(self) -> str:
        tape = self.tapes[1]
        last = max((place for place, cell in enumerate(tape) if cell), default=0)
        self._rotate_to(1, last)
        symbol, tape[last] = tape[last], ""
        self.time += 1
        if last == 0 and self.levels > 1:
            self._pop_block(2)
        return symbol

    def _push_block(self, i: int) -> None:
        self._seek_first_dummy(i)
        size = self.base ** (i - 1)
        lower = self.tapes[i - 1]
        for _ in range(size):
            place = self.time % size + (0 if self.repairs.left_half else size)
            self.tapes[i][self._head(i)], lower[place] = lower[place], ""
            self.time += 1
        if self.repairs.left_half:
            lower[:] = lower[size:] + lower[:size]
        if all(self.tapes[i]) and i < self.levels:
            self._push_block(i + 1)

    def _pop_block(self, i: int) -> None:
        if not self.repairs.emptiness_known:
            self.time += len(self.tapes[i])
        if any(self.tapes[i]):
            self._rotate_to(i, 0)
            self._scan(i)
            self._rotate_to(i, 0)
            self._copy_back(i)
        if not any(self.tapes[i]) and i < self.levels:
            self._pop_block(i + 1)

    def _scan(self, i: int) -> None:
        tape, lower, buffer = self.tapes[i], self.tapes[i - 1], self.buffers[i]
        for _ in range(sum(map(bool, tape))):
            place = self.time % self.base ** (i - 1)
            if lower[place]:
                buffer[self.time % len(buffer)] = lower[place]
            lower[place], tape[self._head(i)] = tape[self._head(i)], ""
            self.time += 1

    def _copy_back(self, i: int) -> None:
        tape, buffer = self.tapes[i], self.buffers[i]
        while any(buffer):
            place = self.time % len(buffer)
            if buffer[place]:
                tape[self._head(i)], buffer[place] = buffer[place], ""
            self.time += 1

    def _head(self, i: int) -> int:
        return self.time % len(self.tapes[i])

    def _rotate_to(self, i: int, place: int) -> None:
        while self._head(i) != place:
            self.time += 1

    def _seek_first_dummy(self, i: int) -> None:
        self._rotate_to(i, 0)
        while self.tapes[i][self._head(i)]:
            self.time += 1
