"""The label of an arrow: its rules in as few lines as say the same."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tapeformer.drawing.symbols import visible
from tapeformer.machine.record import Move, Rule

MOST_LINES = 12


@dataclass(frozen=True)
class _Cell:
    """What some rules do on one tape: the symbols they read, what they write (None: keep), the move."""

    read: tuple[str, ...]
    write: str | None
    move: Move

    def __str__(self) -> str:
        read = "|".join(map(visible, self.read))
        change = "" if self.write is None else f"→{visible(self.write)}"
        return f"{read}{change},{self.move.letter}"


_Row = tuple[_Cell, ...]


def label_lines(rules: Iterable[Rule]) -> list[str]:
    """Return the lines of a label; rules that differ in what one tape reads share a line."""
    rows: list[_Row] = [_row(rule) for rule in rules]
    for tape in range(len(rows[0]) if rows else 0):
        rows = _merged(rows, tape)
    return ["  ".join(map(str, row)) for row in rows]


def _row(rule: Rule) -> _Row:
    parts = zip(rule.read, rule.write, rule.moves, strict=True)
    return tuple(_Cell((old,), None if old == new else new, move) for old, new, move in parts)


def _merged(rows: Sequence[_Row], tape: int) -> list[_Row]:
    """Join the rows that are equal but for what they read on one tape."""
    merged: dict[_Row, _Row] = {}
    for row in rows:
        key = (*row[:tape], replace(row[tape], read=()), *row[tape + 1 :])
        before = merged[key][tape].read if key in merged else ()
        read = tuple(dict.fromkeys((*before, *row[tape].read)))
        merged[key] = (*row[:tape], replace(row[tape], read=read), *row[tape + 1 :])
    return list(merged.values())


def columns(lines: Sequence[str]) -> list[str]:
    """Return lines side by side in columns where there are too many for one."""
    count = -(-len(lines) // MOST_LINES) or 1
    height = -(-len(lines) // count) or 1
    parts = [lines[start : start + height] for start in range(0, len(lines), height)]
    widths = [max(map(text_width, part)) for part in parts]
    rows = ([part[n] if n < len(part) else "" for part in parts] for n in range(height))
    return ["   ".join(map(_padded, row, widths)).rstrip() for row in rows]


def _padded(text: str, width: int) -> str:
    return text + " " * (width - text_width(text))


def text_width(text: str) -> int:
    """Return the width of a text in a font of equal widths, in characters."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide
