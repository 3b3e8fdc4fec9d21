"""Reading a window back: queues to levels, levels to stacks, stacks to tapes. Works at any token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tapeformer.constructions.decoded import Decoded, tape_between, unreadable
from tapeformer.constructions.paper.fields import Stack
from tapeformer.layout import Layout
from tapeformer.queues.record import Token
from tapeformer.simulator.outcome import Tape


@dataclass(frozen=True)
class LevelContent:
    """T_i = left half + right half, each cell without its mark, and the place of T_i's head.

    What the buffer will hand back is already at its cell.
    """

    cells: tuple[str, ...]
    head: int


@dataclass(frozen=True)
class StackContent:
    """The levels of one stack from the first up, its program counter, and all its cells in order."""

    stack: Stack
    levels: tuple[LevelContent, ...]
    op: str
    cells: tuple[str, ...]


class Window:
    """A window of tokens with the names of its factors."""

    def __init__(self, reading: Mapping[str, Any], layout: Layout, tokens: Sequence[Token]) -> None:
        self.reading, self.layout, self.tokens = reading, layout, tokens
        self.place = {name: index for index, name in enumerate(reading["factors"])}
        self.dummy: str = reading["dummy"]
        self.bottom: str = reading["bottom"]

    def now(self, name: str) -> str:
        """Return a factor of the last token."""
        return self.tokens[-1][self.place[name]]

    def queue(self, name: str, rule: str) -> list[str]:
        """Return a queue from front to back, as far as the window reaches."""
        index, length = self.place[name], self.layout.lengths[rule]
        return [token[index] for token in self.tokens[-length:]]

    @property
    def booted(self) -> bool:
        """Whether the bottom has come back, so that the left marks are set."""
        return self.now("phase") != "wait"

    def head_of(self, level: int) -> int:
        """Return the place of T_i's head in the last token."""
        mark = self.reading["mark"]
        queue = self.queue(Stack(1, "left").queue("L", level), f"half{level}")
        marked = next((place for place, cell in enumerate(queue) if cell.endswith(mark)), None)
        if marked is None:
            raise unreadable(f"level {level} has lost its left mark")
        return len(queue) - 1 - marked + len(queue) * int(self.now(f"half{level}"))

    def stack(self, stack: Stack) -> StackContent:
        """Return all levels of a stack and its cells, deepest first."""
        count = range(1, self.layout.levels + 1)
        levels = tuple(self._level(stack, number) for number in count)
        op = self.now(stack.register("op"))
        return StackContent(stack, levels, op, self._ordered(stack, levels, op))

    def _level(self, stack: Stack, number: int) -> LevelContent:
        head, size = self.head_of(number), self.layout.lengths[f"half{number}"]
        halves = [self._half(stack, kind, number, head % size) for kind in "LR"]
        if self._swapped(stack, number):
            halves.reverse()
        cells = [*halves[0], *halves[1]]
        if number > 1:
            for place, cell in self._returning(stack, number, head):
                cells[place % (2 * size)] = cell
        return LevelContent(tuple(cells), head)

    def _half(self, stack: Stack, kind: str, number: int, offset: int) -> list[str]:
        """Return a half queue from its left end, given how far from it the last cell is."""
        queue = self.queue(stack.queue(kind, number), f"half{number}")
        cells = [cell.removesuffix(self.reading["mark"]) for cell in queue]
        return cells[len(cells) - 1 - offset :] + cells[: len(cells) - 1 - offset]

    def _swapped(self, stack: Stack, number: int) -> bool:
        return number < self.layout.levels and self.now(stack.register(f"swap{number}")) == "1"

    def _returning(self, stack: Stack, number: int, head: int) -> list[tuple[int, str]]:
        """Return the buffer's symbols, each with the cell of T_i at which it will come back."""
        length = self.layout.lengths[f"buffer{number}"]
        queue = self.queue(stack.queue("B", number), f"buffer{number}")
        ages = range(len(queue) - 1, -1, -1)
        pairs = zip(ages, queue, strict=True)
        return [(head + length - age, cell) for age, cell in pairs if cell != self.dummy]

    def _ordered(self, stack: Stack, levels: Sequence[LevelContent], op: str) -> tuple[str, ...]:
        """Return the stack from its bottom up: levels from the top one down.

        While POP(i) scans, the block in the lower left half belongs between the cells of T_i that
        the head has passed and those before it.
        """
        found: list[str] = []
        skipped = 0
        for number in range(len(levels), 0, -1):
            if number == skipped:
                continue
            level = levels[number - 1]
            if op in (f"scan{number}", f"more{number}"):
                skipped = number - 1
                kind = "R" if self._swapped(stack, skipped) else "L"
                block = self.queue(stack.queue(kind, skipped), f"half{skipped}")
                found += level.cells[: level.head + 1]
                found += [cell.removesuffix(self.reading["mark"]) for cell in block]
                found += level.cells[level.head + 1 :]
            else:
                found += level.cells
        return tuple(cell for cell in found if cell != self.dummy)


def decode(reading: Mapping[str, Any], layout: Layout, tokens: Sequence[Token]) -> Decoded:
    """Return the configuration after a completed step, or the one that the step under way leads to."""
    window = Window(reading, layout, tokens)
    settled = window.now("stepped") == "1" or window.now("phase") != "run"
    state = window.now("state" if settled else "next")
    if not window.booted:
        return Decoded(state, _unbooted(window), settled)
    tapes = range(1, reading["tapes"] + 1)
    return Decoded(state, tuple(_tape(window, tape, settled) for tape in tapes), settled)


def _unbooted(window: Window) -> tuple[Tape, ...]:
    """Return the tapes while the prompt is still on its way round."""
    levels = window.layout.levels
    queue = window.queue(Stack(1, "left").queue("L", levels), f"half{levels}")
    word = [cell for cell in queue if cell not in (window.dummy, window.bottom)]
    others = [tape_between([], [], window.reading["blank"])] * (window.reading["tapes"] - 1)
    return (tape_between([], word, window.reading["blank"]), *others)


def _tape(window: Window, tape: int, settled: bool) -> Tape:
    """Return the tape of two stacks, the symbol under the head and the one still to be written."""
    reading = window.reading
    left, right = (window.stack(Stack(tape, side)) for side in ("left", "right"))
    before, after = (_symbols(reading, content.cells) for content in (left, right))
    head, write = window.now(f"tape{tape}/head"), window.now(f"tape{tape}/write")
    booting = tape == 1 and window.now("phase") in ("fill", "load", "rewind")
    if not settled or booting:
        before, head, after = _settle(before, head, after, write, (left.op, right.op), reading)
    under = [] if head == reading["none"] else [head]
    cells = [*under, *reversed(after)]
    if booting:
        return tape_between([], before + cells, reading["blank"])
    return tape_between(before, cells, reading["blank"])


def _settle(
    before: list[str],
    head: str,
    after: list[str],
    write: str,
    ops: tuple[str, str],
    reading: Mapping[str, Any],
) -> tuple[list[str], str, list[str]]:
    """Carry out what is pending: the pushes first, then the pop that brings the head's symbol."""
    if write != reading["none"]:
        before = [*before, write] if ops[0] == "push" else before
        after = [*after, write] if ops[1] == "push" else after
        head = head if "push" in ops else write
    if "pop" in ops:
        source = before if ops[0] == "pop" else after
        head = source.pop() if source else reading["blank"]
    return before, head, after


def _symbols(reading: Mapping[str, Any], cells: Sequence[str]) -> list[str]:
    return [cell for cell in cells if cell not in (reading["bottom"], reading["hole"])]
