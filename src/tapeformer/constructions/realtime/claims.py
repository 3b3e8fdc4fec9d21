"""What the theorem on real time says of a run, checked token by token on the decoded stacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tapeformer.constructions.claims import CountedClaims
from tapeformer.constructions.realtime.decode import Cell, Window
from tapeformer.constructions.realtime.names import Stack
from tapeformer.faults import Fault, quoted
from tapeformer.layout import Layout
from tapeformer.queues.record import Token

REAL_TIME, BOOT, BOTTOM, ORDER = "real time", "boot", "bottom", "order"


class RealTimeClaims(CountedClaims):
    """Follows a run of the real-time construction.

    real time: after the boot every token makes a step, or M where that was asked for (base 2).
    boot: n symbols are read in 2^ceil(log2(n+2)) + n tokens, one more for n = 0 (base 2); with M > 1
    steps in a token, in 2^ceil(log2(n+2)) + floor(n/M) + 1.
    bottom: the bottom of each stack is its deepest cell, and nowhere else.
    order: a token pushes at most one cell (a symbol, or a block of M) on a stack or pops one; all
    others stay in their order.
    """

    def __init__(self, reading: Mapping[str, Any], layout: Layout, word: Sequence[str]) -> None:
        super().__init__()
        self.reading, self.layout, self.length = reading, layout, len(word)
        self.names = (REAL_TIME, BOOT, BOTTOM, ORDER) if layout.base == 2 else (BOTTOM, ORDER)
        self.stacks = [
            Stack(tape, side)
            for tape in range(1, reading["tapes"] + 1)
            for side in ("left", "right")
        ]
        self.tokens, self.booted = 0, False
        self.steps: int = reading.get("steps_per_token", 1)
        self.before: dict[Stack, list[Cell]] = {}

    def see(self, tokens: Sequence[Token]) -> tuple[Fault, ...]:
        """Return the faults of the window that ends with a newly appended token."""
        window = Window(self.reading, self.layout, tokens)
        stepped = int(window.now("stepped"))
        faults = [*self._time(window, stepped)] if self.layout.base == 2 else []
        self.booted = self.booted or stepped > 0
        self.tokens += 1
        if self.booted:
            for stack in self.stacks:
                cells = window.stack(stack)
                faults += [*self._bottom(stack, cells), *self._order(stack, cells)]
                self.before[stack] = cells
        return tuple(faults)

    def _time(self, window: Window, stepped: int) -> Iterator[Fault]:
        if self.booted and window.now("verdict") == "run":
            all_made, place = stepped == self.steps, f"token {self.tokens + 1}"
            got = "no step" if not stepped else f"{stepped} steps"
            yield from self.test(REAL_TIME, all_made, place, got)
        if stepped and not self.booted:
            wanted = (1 << (self.length + 1).bit_length()) + self._rewinding()
            got = f"{self.tokens} tokens, not {wanted}"
            yield from self.test(BOOT, self.tokens == wanted, "the first step", got)

    def _rewinding(self) -> int:
        """Return the tokens from the last symbol of the input back to the first."""
        return max(self.length, 1) if self.steps == 1 else self.length // self.steps + 1

    def _bottom(self, stack: Stack, cells: list[Cell]) -> Iterator[Fault]:
        bottom = (self.reading["bottom"],)
        holds = cells[:1] == [bottom] and bottom not in cells[1:]
        yield from self.test(BOTTOM, holds, stack.name, _spelled(cells))

    def _order(self, stack: Stack, cells: list[Cell]) -> Iterator[Fault]:
        before = self.before.get(stack)
        if before is not None:
            holds = cells == before or cells[:-1] == before or cells == before[:-1]
            got = f"{_spelled(cells)} after {_spelled(before)}"
            yield from self.test(ORDER, holds, stack.name, got)


def _spelled(cells: list[Cell]) -> str:
    return quoted(" ".join("".join(cell) for cell in cells))
