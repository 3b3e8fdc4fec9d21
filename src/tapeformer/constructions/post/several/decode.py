"""Reading a window of the one queue back as several tapes, at any token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapeformer.constructions.decoded import Decoded, tape_between, unreadable
from tapeformer.constructions.post.several.names import (
    BEFORE,
    HERE,
    NOT_YET,
    RING,
    first_of,
    track,
)
from tapeformer.layout import Layout
from tapeformer.queues.record import Token
from tapeformer.simulator.outcome import Tape

BACK = {NOT_YET: 0, "STAY": 0, "LEFT": 1, "RIGHT": -1}
"""By how many cells a head goes to undo its move."""


class RingWindow:
    """The ring of a window: each track in the order of the queue, with the two cells held."""

    def __init__(self, reading: Mapping[str, Any], layout: Layout, tokens: Sequence[Token]) -> None:
        self.place = {name: index for index, name in enumerate(reading["factors"])}
        self.tokens = tokens[-layout.lengths[RING] :]
        self.last = tokens[-1]

    def register(self, name: str) -> str:
        """Return the value of a register in the last token."""
        return self.last[self.place[name]]

    def tape(self, tape: int) -> list[str]:
        """Return the track of a tape, from 0."""
        return self._cells(*(track(place, tape) for place in (RING, BEFORE, HERE)))

    def marks(self) -> list[str]:
        """Return the track of the first cell's mark."""
        return self._cells(*map(first_of, (RING, BEFORE, HERE)))

    def _cells(self, queue: str, *held: str) -> list[str]:
        cells = [token[self.place[queue]] for token in self.tokens]
        return cells + [self.register(name) for name in held]


def decode(reading: Mapping[str, Any], layout: Layout, tokens: Sequence[Token]) -> Decoded:
    """Return the configuration of a window: that of the last complete step.

    Tapes that have acted in a step under way are taken back: their old symbol is still in the control.
    """
    window = RingWindow(reading, layout, tokens)
    state, blank, marks = window.register("state"), reading["blank"], window.marks()
    if "1" not in marks:
        unread = (reading["free"], reading["bottom"])
        word = [cell for cell in window.tape(0) if cell not in unread]
        empty = tape_between([], [], blank)
        others = (empty,) * (reading["tapes"] - 1)
        return Decoded(state, (tape_between([], word, blank), *others), True)
    first = marks.index("1")
    tapes = (_tape(window, reading, tape, first) for tape in range(reading["tapes"]))
    return Decoded(state, tuple(tapes), True)


def _tape(window: RingWindow, reading: Mapping[str, Any], tape: int, first: int) -> Tape:
    free = [cell == reading["free"] for cell in _turned(window.tape(0), first)]
    cells = [c for c, skip in zip(_turned(window.tape(tape), first), free, strict=True) if not skip]
    head = next((at for at, cell in enumerate(cells) if cell.endswith(reading["head"])), None)
    if head is None:
        raise unreadable(f"the ring has lost head {tape + 1}")
    cells[head] = cells[head].removesuffix(reading["head"])
    moved = window.register(track("done", tape))
    if moved != NOT_YET:
        head += BACK[moved]
        cells[head] = window.register(track("read", tape))
    return tape_between(cells[:head], cells[head:], reading["blank"])


def _turned(cells: list[str], first: int) -> list[str]:
    return cells[first:] + cells[:first]
