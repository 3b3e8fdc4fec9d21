"""Columns as a circuit sees them, and the three things done to one: shift, put a cell, take the top.

A column is filled from track 0 up, so which tracks are filled is a thermometer code of n(col).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tapeformer.circuit.build import Builder, Wire, bit_wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.realtime.code import Cell, Plane, SymbolCode
from tapeformer.constructions.realtime.names import bit_names

Key = TypeVar("Key")


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


@dataclass(frozen=True)
class StackOrder:
    """What a stack is told: take the top symbol away, or put a symbol on it."""

    pop: Literal
    push: Cell


def column_of(
    inputs: Mapping[str, Wire], names: Iterable[str], code: SymbolCode, dummy: str
) -> Column:
    """Return the column of the cells with the given names."""
    tracks = []
    for name in names:
        cell: dict[Plane, Literal] = {v: b for v, b in inputs[name].literals.items() if v != dummy}
        cell |= {number: inputs[b]["1"] for number, b in enumerate(bit_names(name, code))}
        tracks.append(Track(cell, negated(inputs[name][dummy])))
    return tuple(tracks)


def wires_of(
    column: Column, names: Iterable[str], code: SymbolCode, dummy: str
) -> Iterator[tuple[str, Wire]]:
    """Yield the factors of a column's cells, by name."""
    for name, track in zip(names, column, strict=True):
        own = {plane: bit for plane, bit in track.cell.items() if isinstance(plane, str)}
        yield name, Wire({dummy: negated(track.filled), **own})
        for number, bit_name in enumerate(bit_names(name, code)):
            yield bit_name, bit_wire(track.cell[number])


def top_cells(build: Builder, column: Column, *guards: Literal) -> tuple[Cell, ...]:
    """Return each track's cell where it is the topmost filled one and the guards hold."""
    found = []
    for number, track in enumerate(column):
        last = [negated(above.filled) for above in column[number + 1 :]]
        found.append(
            {
                v: build.all_of(bit, *last, *guards, label=f"top track{number}={v}")
                for v, bit in track.cell.items()
            }
        )
    return tuple(found)


def merged(
    build: Builder, cells: Sequence[Mapping[Key, Literal]], label: str
) -> dict[Key, Literal]:
    """Return the one cell of several that holds anything."""
    values = dict.fromkeys(value for cell in cells for value in cell)
    return {
        value: build.one_of(
            *(cell[value] for cell in cells if value in cell), label=f"{label}={value}"
        )
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
            cell[value] = build.one_of(*terms, label=f"track{number}={value} shifted")
        tracks.append(_track(build, cell, f"track{number} shifted"))
    return tuple(tracks)


def put(build: Builder, column: Column, cell: Cell, *guards: Literal) -> Column:
    """Return the column with a cell written in its first empty track, where the guards hold."""
    tracks = []
    for number, track in enumerate(column):
        below = [column[number - 1].filled] if number else []
        here = [*below, negated(track.filled), *guards]
        added = {
            v: build.all_of(cell[v], *here, label=f"put track{number}={v}")
            for v in track.cell
            if v in cell
        }
        label = f"track{number} after put"
        tracks.append(_track(build, merged(build, [track.cell, added], label), label))
    return tuple(tracks)


def without(build: Builder, column: Column, taken: Sequence[Cell]) -> Column:
    """Return the column without the cells taken: a difference, read off without a neuron."""
    tracks = []
    for number, (track, gone) in enumerate(zip(column, taken, strict=True)):
        label = f"track{number} after take"
        cell = {v: _left(build, bit, gone.get(v), f"{label}={v}") for v, bit in track.cell.items()}
        tracks.append(_track(build, cell, label))
    return tuple(tracks)


def _left(build: Builder, bit: Literal, gone: Literal | None, label: str) -> Literal:
    """Return a bit less the part of it that is gone."""
    if gone is None:
        return bit
    return negated(build.one_of(negated(bit), gone, label=f"not {label}"))


def _track(build: Builder, cell: Cell, label: str) -> Track:
    own = (bit for plane, bit in cell.items() if isinstance(plane, str))
    return Track(cell, build.one_of(*own, label=f"{label} filled"))
