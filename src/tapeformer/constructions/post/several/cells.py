"""A cell of the ring: for every tape a symbol and whether its head is here; the first cell; free cells.

Cell i of every tape lies in cell i of the ring. The parts of a cell are tracks of one queue: queues
of one length that move together, so that the step function need not list their combinations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.post.cells import cells_of
from tapeformer.constructions.post.several.names import MARKS, RING, first_of, track
from tapeformer.constructions.reach import tape_symbols
from tapeformer.machine.record import TuringMachine
from tapeformer.queues.record import Queue, Register


@dataclass(frozen=True)
class Tracks:
    """The tracks of a cell; only tape 1's says that a cell is free, and only it is prompted."""

    symbols: tuple[tuple[str, ...], ...]
    blank: str
    free: str
    bottom: str
    head: str

    def alphabet(self, tape: int) -> tuple[str, ...]:
        """Return what the track of a tape (from 0) holds, without the bottom."""
        signed = tuple(symbol + self.head for symbol in self.symbols[tape])
        return (*self._unvisited(tape), *self.symbols[tape], *signed)

    def queues(self) -> tuple[Queue, ...]:
        """Return a queue for each tape and one for the mark of the first cell."""
        made = [
            Queue(
                track(RING, tape),
                self.alphabet(tape) + (self.bottom,) * (tape == 0),
                self.free if tape == 0 else self.blank,
                RING,
                column=RING,
            )
            for tape in range(len(self.symbols))
        ]
        return (*made, Queue(first_of(RING), MARKS, "0", RING, column=RING))

    def registers(self, place: str) -> tuple[Register, ...]:
        """Return the registers of a cell that is held in the control: free at first."""
        made = [
            Register(track(place, tape), self.alphabet(tape), self.blank if tape else self.free)
            for tape in range(len(self.symbols))
        ]
        return (*made, Register(first_of(place), MARKS, "0"))

    def _unvisited(self, tape: int) -> tuple[str, ...]:
        return (self.free,) if tape == 0 else ()


@dataclass(frozen=True)
class Cell:
    """A cell as literals; a free cell reads as blank on every tape."""

    symbols: tuple[Mapping[str, Literal], ...]
    heads: tuple[Literal, ...]
    first: Literal
    free: Literal


def tracks_of(machine: TuringMachine) -> Tracks:
    """Return the tracks of a machine, with signs that do not clash with its symbols."""
    signs = cells_of(machine)
    symbols = tuple(tape_symbols(machine, tape) for tape in range(machine.tapes))
    return Tracks(symbols, machine.blank, signs.free, signs.bottom, signs.head)


def read_cell(build: Builder, tracks: Tracks, inputs: Mapping[str, Wire], place: str) -> Cell:
    """Return the parts of a cell, each a sum over the values that have it."""
    symbols, heads = [], []
    for tape, known in enumerate(tracks.symbols):
        wire = inputs[track(place, tape)]
        unvisited = (tracks.free, tracks.bottom) if tape == 0 else ()
        symbols.append(
            {
                s: build.one_of(
                    *wire.where((s, s + tracks.head, *unvisited * (s == tracks.blank))),
                    label=f"{place} holds {s} on tape {tape + 1}",
                )
                for s in known
            }
        )
        signed = wire.where(symbol + tracks.head for symbol in known)
        heads.append(build.one_of(*signed, label=f"{place} has head {tape + 1}"))
    free = inputs[track(place, 0)].where((tracks.free, tracks.bottom))
    return Cell(
        symbols=tuple(symbols),
        heads=tuple(heads),
        first=inputs[first_of(place)]["1"],
        free=build.one_of(*free, label=f"{place} is free"),
    )


def write_cell(build: Builder, tracks: Tracks, cell: Cell, place: str) -> dict[str, Wire]:
    """Return the wires of a cell's tracks from its parts: one AND for each symbol and sign."""
    wires = {first_of(place): Wire({"0": negated(cell.first), "1": cell.first})}
    for tape, symbols in enumerate(cell.symbols):
        head, name = cell.heads[tape], track(place, tape)
        values = {}
        if tape == 0:
            values[tracks.free] = cell.free
        for symbol, literal in symbols.items():
            taken = (negated(cell.free),) * (tape == 0 and symbol == tracks.blank)
            values[symbol] = build.all_of(
                literal, negated(head), *taken, label=f"new {name}={symbol}"
            )
            values[symbol + tracks.head] = build.all_of(
                literal, head, label=f"new {name}={symbol}{tracks.head}"
            )
        wires[name] = Wire(values)
    return wires
