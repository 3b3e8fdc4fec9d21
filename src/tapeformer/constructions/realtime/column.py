"""Columns as a circuit sees them, and the three things done to one: shift, put a cell, take the top.

A column is filled from track 0 up, so which tracks are filled is a thermometer code of n(col).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.record import Literal

Cell = Mapping[str, Literal]
"""What a cell holds; where no literal is true it holds a dummy."""


@dataclass(frozen=True)
class Track:
    """A cell of a column, and whether it holds anything."""

    cell: Cell
    filled: Literal


Column = tuple[Track, ...]


@dataclass(frozen=True)
class Operation:
    """What a level exchanges with the one below: a block comes up, goes down, or nothing moves."""

    push: Literal
    pull: Literal
    none: Literal


def column_of(wires: Iterable[Wire], dummy: str) -> Column:
    """The column of the given cells."""
    return tuple(
        Track({v: bit for v, bit in wire.literals.items() if v != dummy}, negated(wire[dummy]))
        for wire in wires
    )


def wires_of(column: Column, dummy: str) -> tuple[Wire, ...]:
    """The cells of a column as wires."""
    return tuple(Wire({dummy: negated(track.filled), **track.cell}) for track in column)


def top_cells(build: Builder, column: Column, *guards: Literal) -> tuple[Cell, ...]:
    """For each track its cell where it is the topmost filled one and the guards hold."""
    found = []
    for number, track in enumerate(column):
        last = [negated(above.filled) for above in column[number + 1 : number + 2]]
        found.append(
            {
                v: build.all_of(bit, *last, *guards, label=f"top track{number}={v}")
                for v, bit in track.cell.items()
            }
        )
    return tuple(found)


def merged(build: Builder, cells: Sequence[Cell], label: str) -> Cell:
    """The one cell of several that holds anything."""
    values = dict.fromkeys(value for cell in cells for value in cell)
    return {
        value: build.one_of(*(cell[value] for cell in cells if value in cell), label=label)
        for value in values
    }


def shifted(
    build: Builder, column: Column, above: Operation, pulled: Cell, trusted: Literal
) -> Column:
    """push drops track 0 and moves the others down; pull moves all up, `pulled` comes into track 0.

    A column that is not `trusted` was never written: it counts as empty. The level above cannot
    have started then, so only the unmoved column needs the test.
    """
    tracks = []
    for number, track in enumerate(column):
        lower = column[number - 1].cell if number else {}
        upper = column[number + 1].cell if number + 1 < len(column) else {}
        came = pulled if number == 0 else {}
        cell = {}
        for value, bit in track.cell.items():
            terms = [build.all_of(bit, above.none, trusted, label=f"track{number}={value} stays")]
            if value in upper:
                terms.append(
                    build.all_of(upper[value], above.push, label=f"track{number}={value} down")
                )
            if value in lower:
                terms.append(
                    build.all_of(lower[value], above.pull, label=f"track{number}={value} up")
                )
            terms += [came[value]] if value in came else []
            cell[value] = build.one_of(*terms, label="shifted")
        tracks.append(_track(build, cell))
    return tuple(tracks)


def put(build: Builder, column: Column, cell: Cell, *guards: Literal) -> Column:
    """The column with a cell written in its first empty track, where the guards hold."""
    tracks = []
    for number, track in enumerate(column):
        below = [column[number - 1].filled] if number else []
        here = [*below, negated(track.filled), *guards]
        added = {
            v: build.all_of(cell[v], *here, label=f"put track{number}={v}")
            for v in track.cell
            if v in cell
        }
        tracks.append(_track(build, merged(build, [track.cell, added], "put")))
    return tuple(tracks)


def without(build: Builder, column: Column, taken: Sequence[Cell]) -> Column:
    """The column without the cells taken: a difference, read off without a neuron."""
    tracks = []
    for track, gone in zip(column, taken, strict=True):
        cell = {
            v: negated(build.one_of(negated(bit), gone[v], label="gone")) if v in gone else bit
            for v, bit in track.cell.items()
        }
        tracks.append(_track(build, cell))
    return tuple(tracks)


def _track(build: Builder, cell: Cell) -> Track:
    return Track(cell, build.one_of(*cell.values(), label="filled"))
