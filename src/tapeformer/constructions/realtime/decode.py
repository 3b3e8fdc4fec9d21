"""Reading a window back: rings to levels, levels to stacks, stacks to tapes. Works at any token."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from tapeformer.constructions.decoded import Decoded, tape_between, unreadable
from tapeformer.constructions.realtime.code import SOME, SymbolCode
from tapeformer.constructions.realtime.names import (
    BEHIND,
    KINDS,
    NO_MARK,
    TRACKS,
    Stack,
    bit_names,
    length_rule,
    position,
    window_bits,
)

if TYPE_CHECKING:
    from tapeformer.layout import Layout
    from tapeformer.queues.record import Token
    from tapeformer.simulator.outcome import Tape

Cell = tuple[str, ...]
"""What a cell of a column holds: a symbol, a block of them, the bottom, or nothing."""


@dataclass(frozen=True)
class Ring:
    """A level's columns from position 0 on, and how many of them this turn has passed."""

    columns: tuple[tuple[Cell, ...], ...]
    passed: int


class Window:
    """A window of tokens with the names of its factors."""

    def __init__(self, reading: Mapping[str, Any], layout: Layout, tokens: Sequence[Token]) -> None:
        self.reading, self.layout, self.tokens = reading, layout, tokens
        self.place = {name: index for index, name in enumerate(reading["factors"])}
        self.dummy: str = reading["dummy"]
        self.block: int = reading.get("steps_per_token", 1)
        self.first = Stack(1, "left")

    def now(self, name: str) -> str:
        """Return a factor of the last token."""
        return self.tokens[-1][self.place[name]]

    def stack(self, stack: Stack) -> list[Cell]:
        """Return the cells of a stack, deepest first."""
        cells: list[Cell] = []
        for level in range(self.layout.levels, 0, -1):
            cells = self._with_level(stack, level, cells)
        now = self.tokens[-1:]
        cells += [cell for name in stack.top for cell in self._cells(name, stack.tape, now)]
        return [cell for cell in cells if cell]

    def near(self, tape: int) -> tuple[list[str], list[str]]:
        """Return the symbols in the registers: before the head, and from the head on."""
        symbols, now = self.reading["coded"][tape - 1], self.tokens[-1:]
        if self.block > 1:
            names = window_bits(tape, SymbolCode(tuple(symbols), self.block))
            held = list(chain(*(self._symbols(cell, symbols, now)[0] for cell in names)))
            place = self.block + int(self.now(position(tape)))
            return held[:place], held[place:]
        name = f"tape{tape}/head"
        if not symbols:
            return [], [self.now(name)]
        return [], list(self._symbols(bit_names(name, SymbolCode(tuple(symbols))), symbols, now)[0])

    def unread(self) -> list[str]:
        """Return the prompt symbols that are still to be read back; skipped ones went round once more.

        Before a level is chosen the last one's queue is read: of the others a batch keeps less.
        """
        levels = range(2, self.layout.levels + 1)
        chosen = [level for level in levels if self.now(f"load{level}") == "1"]
        length = self.layout.lengths[length_rule("delay", chosen[0])] if chosen else None
        index = self.place[self.first.input(chosen[0] if chosen else self.layout.levels)]
        kept = [token[index] for token in (self.tokens[-length:] if length else self.tokens)]
        skipped = self.block > 1 and self.now("skip") == "1"
        turn = len(kept) - kept[::-1].index(self.dummy) if skipped else 0
        return [cell for cell in (*kept[turn:], *kept[:turn]) if cell != self.dummy]

    def _with_level(self, stack: Stack, level: int, above: list[Cell]) -> list[Cell]:
        """Return the cells from this level up. What the level above is handing down comes before the rest."""
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

    def _keyed(self, ring: Ring, behind: int) -> list[tuple[tuple[int, int], Cell]]:
        """Return the cells with their place in the order: by track, as it was before this turn, then position."""
        keyed = [
            ((track + (behind if position < ring.passed else 0), position), cell)
            for position, column in enumerate(ring.columns)
            for track, cell in enumerate(column)
            if cell
        ]
        return sorted(keyed)

    def _ring(self, stack: Stack, level: int) -> Ring | None:
        """Return the ring of a level, turned to its mark; none if the level is not started."""
        if self.now(f"started{level}") == "0":
            return None
        places = {kind: self.place[self.first.mark(kind, level)] for kind in KINDS}
        marks = [token[places[kind]] for kind in KINDS for token in self._queue(kind, level)]
        if "1" not in marks:
            raise unreadable(f"level {level} has lost its mark")
        tracks = [self._track(stack, level, track) for track in range(TRACKS)]
        empty: tuple[Cell, ...] = ((),) * TRACKS
        columns = [
            empty if mark == NO_MARK else column
            for mark, column in zip(marks, zip(*tracks, strict=True), strict=True)
        ]
        start = marks.index("1")
        turned = (*columns[start:], *columns[:start])
        return Ring(turned, len(columns) - start)

    def _track(self, stack: Stack, level: int, track: int) -> list[Cell]:
        """Return what a ring will bring in the next turn: main from front to back, then delay."""
        return [
            cell
            for kind in KINDS
            for cell in self._cells(
                stack.tracks(kind, level)[track], stack.tape, self._queue(kind, level)
            )
        ]

    def _queue(self, kind: str, level: int) -> Sequence[Token]:
        """Return the tokens in which a queue lies, front to back; before the beginning they are unmarked."""
        length = self.layout.lengths[length_rule(kind, level)]
        missing = length - len(self.tokens)
        unmarked = (NO_MARK,) * len(self.tokens[-1])
        return [unmarked] * missing + list(self.tokens[-length:])

    def _cells(self, name: str, tape: int, tokens: Sequence[Token]) -> list[Cell]:
        """Return a cell in each of some tokens."""
        own = [token[self.place[name]] for token in tokens]
        symbols = self.reading["coded"][tape - 1]
        if not symbols:
            return [() if cell == self.dummy else (cell,) for cell in own]
        names = bit_names(name, SymbolCode(tuple(symbols), self.block))
        held = self._symbols(names, symbols, tokens)
        return [
            block if cell == SOME else () if cell == self.dummy else (cell,)
            for cell, block in zip(own, held, strict=True)
        ]

    def _symbols(
        self, names: Sequence[str], symbols: list[str], tokens: Sequence[Token]
    ) -> list[Cell]:
        """Return the symbols whose numbers some bits are, in each of some tokens."""
        places, width = [self.place[name] for name in names], (len(symbols) - 1).bit_length()
        found = []
        for token in tokens:
            bits = [token[place] == "1" for place in places]
            cells = [bits[i : i + width] for i in range(0, len(bits), width)] if width else [[]]
            found.append(tuple(_symbol(cell, symbols) for cell in cells))
        return found


def _symbol(bits: Sequence[bool], symbols: list[str]) -> str:
    """Return the symbol of a number; bits that are no symbol's number are shown as such."""
    number = sum(bit << place for place, bit in enumerate(bits))
    return symbols[number] if number < len(symbols) else SOME


def decode(reading: Mapping[str, Any], layout: Layout, tokens: Sequence[Token]) -> Decoded:
    """Return the configuration that the last token leaves: every step is complete in its token."""
    window = Window(reading, layout, tokens)
    tapes = tuple(_tape(window, tape) for tape in range(1, reading["tapes"] + 1))
    return Decoded(window.now("state"), tapes, settled=True)


def _tape(window: Window, tape: int) -> Tape:
    """Return the tape of two stacks and what is in the registers between them."""
    blank, bottom = window.reading["blank"], window.reading["bottom"]
    stacks = [window.stack(Stack(tape, side)) for side in ("left", "right")]
    phase, (before, after) = window.now("phase"), window.near(tape)
    if phase == "run" and any(stack[:1] != [(bottom,)] for stack in stacks):
        raise unreadable(f"a stack of tape {tape} has lost its bottom")
    left, right = ([cell for cell in stack if cell != (bottom,)] for stack in stacks)
    before = [*_spelled(left), *before]
    after = [*after, *_spelled(reversed(right))]
    if tape > 1 or phase == "run":
        return tape_between(before, after, blank)
    if phase != "rewind":
        after = [cell for cell in window.unread() if cell != bottom]
    outside = window.block if window.block > 1 else 0
    return tape_between([], [*before[outside:], *after], blank)


def _spelled(cells: Iterable[Cell]) -> Iterable[str]:
    return chain.from_iterable(cells)
