"""Reading a window back: rings to levels, levels to stacks, stacks to tapes. Works at any token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tapeformer.constructions.decoded import Decoded, tape_between, unreadable
from tapeformer.constructions.realtime.code import SOME, SymbolCode
from tapeformer.constructions.realtime.fields import (
    KINDS,
    NO_MARK,
    TRACKS,
    Stack,
    bit_names,
    length_rule,
)
from tapeformer.layout import Layout
from tapeformer.queues.record import Token
from tapeformer.simulator.result import Tape

BEHIND = {"push": 1, "none": 0, "pull": -1}
"""How many tracks lower a column is, once the level above has shifted it in this turn."""


@dataclass(frozen=True)
class Ring:
    """A level's columns from position 0 on, and how many of them this turn has passed."""

    columns: tuple[tuple[str, ...], ...]
    passed: int


class Window:
    """A window of tokens with the names of its factors."""

    def __init__(self, reading: Mapping[str, Any], layout: Layout, tokens: Sequence[Token]) -> None:
        self.reading, self.layout, self.tokens = reading, layout, tokens
        self.place = {name: index for index, name in enumerate(reading["factors"])}
        self.dummy: str = reading["dummy"]
        self.first = Stack(1, "left")

    def now(self, name: str) -> str:
        """A factor of the last token."""
        return self.tokens[-1][self.place[name]]

    def stack(self, stack: Stack) -> list[str]:
        """The cells of a stack, deepest first."""
        cells: list[str] = []
        for level in range(self.layout.levels, 0, -1):
            cells = self._with_level(stack, level, cells)
        now = self.tokens[-1:]
        cells += [cell for name in stack.top for cell in self._cells(name, stack.tape, now)]
        return [cell for cell in cells if cell != self.dummy]

    def head(self, tape: int) -> str:
        """The symbol under a head."""
        symbols, name = self.reading["coded"][tape - 1], f"tape{tape}/head"
        return self._symbols(name, symbols, self.tokens[-1:])[0] if symbols else self.now(name)

    def unread(self) -> list[str]:
        """The prompt symbols that are still to be read back."""
        index = self.place["phase"]
        symbol = self.place[self.first.input(2)]
        levels = range(2, self.layout.levels + 1)
        chosen = [level for level in levels if self.now(f"load{level}") == "1"]
        length = self.layout.lengths[length_rule("delay", chosen[0])] if chosen else None
        kept = self.tokens[-length:] if length else self.tokens
        return [token[symbol] for token in kept if token[index] == "start"]

    def _with_level(self, stack: Stack, level: int, above: list[str]) -> list[str]:
        """The cells from this level up. What the level above is handing down comes before the rest."""
        ring = self._ring(stack, level)
        if ring is None:
            return above
        top = level == self.layout.levels
        operation = "none" if top else self.now(stack.register(f"op{level + 1}"))
        keyed = self._keyed(ring, BEHIND[operation])
        arrived = [cell for (track, _), cell in keyed if track < 0]
        own = [cell for (track, _), cell in keyed if track >= 0]
        still_above = len(ring.columns) - ring.passed if operation == "pull" else 0
        split = len(above) - still_above
        return [*above[:split], *arrived, *above[split:], *own]

    def _keyed(self, ring: Ring, behind: int) -> list[tuple[tuple[int, int], str]]:
        """The cells with their place in the order: by track, as it was before this turn, then position."""
        keyed = [
            ((track + (behind if position < ring.passed else 0), position), cell)
            for position, column in enumerate(ring.columns)
            for track, cell in enumerate(column)
            if cell != self.dummy
        ]
        return sorted(keyed)

    def _ring(self, stack: Stack, level: int) -> Ring | None:
        """The ring of a level, turned to its mark; none if the level is not started."""
        if self.now(f"started{level}") == "0":
            return None
        places = {kind: self.place[self.first.mark(kind, level)] for kind in KINDS}
        marks = [token[places[kind]] for kind in KINDS for token in self._queue(kind, level)]
        if "1" not in marks:
            raise unreadable(f"level {level} has lost its mark")
        tracks = [self._track(stack, level, track) for track in range(TRACKS)]
        empty = (self.dummy,) * TRACKS
        columns = [
            empty if mark == NO_MARK else column
            for mark, column in zip(marks, zip(*tracks, strict=True), strict=True)
        ]
        start = marks.index("1")
        turned = (*columns[start:], *columns[:start])
        return Ring(turned, len(columns) - start)

    def _track(self, stack: Stack, level: int, track: int) -> list[str]:
        """What a ring will bring in the next turn: main from front to back, then delay."""
        return [
            cell
            for kind in KINDS
            for cell in self._cells(
                stack.tracks(kind, level)[track], stack.tape, self._queue(kind, level)
            )
        ]

    def _queue(self, kind: str, level: int) -> Sequence[Token]:
        """The tokens in which a queue lies, front to back; before the beginning they are unmarked."""
        length = self.layout.lengths[length_rule(kind, level)]
        missing = length - len(self.tokens)
        unmarked = (NO_MARK,) * len(self.tokens[-1])
        return [unmarked] * missing + list(self.tokens[-length:])

    def _cells(self, name: str, tape: int, tokens: Sequence[Token]) -> list[str]:
        """A cell in each of some tokens: a symbol, the bottom or the dummy."""
        own = [token[self.place[name]] for token in tokens]
        symbols = self.reading["coded"][tape - 1]
        if not symbols:
            return own
        held = self._symbols(name, symbols, tokens)
        return [symbol if cell == SOME else cell for cell, symbol in zip(own, held, strict=True)]

    def _symbols(self, name: str, symbols: list[str], tokens: Sequence[Token]) -> list[str]:
        """The symbol whose number the bits of a cell or head are, in each of some tokens."""
        places = [self.place[bit_name] for bit_name in bit_names(name, SymbolCode(tuple(symbols)))]
        numbers = (sum((token[p] == "1") << i for i, p in enumerate(places)) for token in tokens)
        return [symbols[number] if number < len(symbols) else SOME for number in numbers]


def decode(reading: Mapping[str, Any], layout: Layout, tokens: Sequence[Token]) -> Decoded:
    """The configuration that the last token leaves: every step is complete in its token."""
    window = Window(reading, layout, tokens)
    tapes = tuple(_tape(window, tape) for tape in range(1, reading["tapes"] + 1))
    return Decoded(window.now("state"), tapes, settled=True)


def _tape(window: Window, tape: int) -> Tape:
    """The tape of two stacks and the symbol under the head."""
    blank, bottom = window.reading["blank"], window.reading["bottom"]
    stacks = [window.stack(Stack(tape, side)) for side in ("left", "right")]
    phase = window.now("phase")
    if phase == "run" and any(stack[:1] != [bottom] for stack in stacks):
        raise unreadable(f"a stack of tape {tape} has lost its bottom")
    left, right = ([cell for cell in stack if cell != bottom] for stack in stacks)
    after = [window.head(tape), *reversed(right)]
    if tape > 1 or phase == "run":
        return tape_between(left, after, blank)
    if phase != "rewind":
        after = [cell for cell in window.unread() if cell != bottom]
    return tape_between([], [*left, *after], blank)
