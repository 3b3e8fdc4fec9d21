"""The cells of the one-queue machine: a symbol, whether the head is here, whether it is the first.

A cell that the head has not visited and that held no input is `free`. The `first` cell is the
leftmost that is not free: on the ring it separates the tape's two ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.reach import tape_symbols
from tapeformer.machine.record import TuringMachine


@dataclass(frozen=True)
class Cells:
    """The names of all cells: plain, or with the signs for first and head at the end."""

    symbols: tuple[str, ...]
    free: str
    bottom: str
    first: str
    head: str

    @property
    def names(self) -> tuple[str, ...]:
        """Every cell, the free one first."""
        signs = ("", self.first, self.head, self.first + self.head)
        return (self.free, *(symbol + sign for sign in signs for symbol in self.symbols))


@dataclass(frozen=True)
class CellBits:
    """A cell as literals: its symbol (none where it is free), and the two signs."""

    symbol: Mapping[str, Literal]
    first: Literal
    head: Literal
    free: Literal


def cells_of(machine: TuringMachine) -> Cells:
    """Return names that do not clash with the machine's symbols."""

    def fresh(sign: str) -> str:
        while any(sign in symbol for symbol in machine.symbols):
            sign += sign[0]
        return sign

    return Cells(tape_symbols(machine, 0), fresh("."), fresh("$"), fresh("<"), fresh("*"))


def read_cell(build: Builder, cells: Cells, wire: Wire, name: str) -> CellBits:
    """Return the parts of a cell, each a sum over the names that have it."""

    def where(sign: str) -> Literal:
        named = [s + t for s in cells.symbols for t in signs if sign in t]
        return build.one_of(*wire.where(named), label=f"{name} has {sign}")

    signs = ("", cells.first, cells.head, cells.first + cells.head)
    symbol = {
        s: build.one_of(*wire.where([s + sign for sign in signs]), label=f"{name} holds {s}")
        for s in cells.symbols
    }
    free = negated(build.one_of(*symbol.values(), label=f"{name} is not free"))
    return CellBits(symbol, where(cells.first), where(cells.head), free)


def write_cell(build: Builder, cells: Cells, bits: CellBits, label: str) -> Wire:
    """Return the wire of a cell from its parts: one AND for each symbol and signs."""
    first, head = bits.first, bits.head
    signs = {
        "": (negated(first), negated(head)),
        cells.first: (first, negated(head)),
        cells.head: (negated(first), head),
        cells.first + cells.head: (first, head),
    }
    named = {
        symbol + sign: build.all_of(literal, *wanted, label=f"{label}={symbol}{sign}")
        for sign, wanted in signs.items()
        for symbol, literal in bits.symbol.items()
    }
    return Wire({cells.free: bits.free, **named})
