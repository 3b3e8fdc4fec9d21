"""One level of one stack as the control sees it: the cell under T_i's head, and the left half."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.paper.clock import LevelClock, in_right
from tapeformer.constructions.paper.fields import Fields, Stack

Cell = Mapping[str, Literal]
"""What a cell holds if it is real; where no literal is true it holds a dummy."""


@dataclass(frozen=True)
class Level:
    """Level i: its queues, where its head is, and what is there.

    `cell` is the cell under the head of T_i, what the buffer hands back included: the buffer is
    a delay line of length 2b^i - b^(i-1), so a diverted symbol comes back exactly at its cell.
    `left_cell` is the front of the logical left half, which the level above copies to and from.
    """

    number: int
    queues: Mapping[str, Cell]
    buffer: Cell
    clock: LevelClock
    swap: Literal
    in_right: Literal
    cell: Cell
    real: Literal
    left_cell: Cell

    def head_in(self, kind: str) -> Literal:
        """Return whether T_i's head is on the physical queue `L` or `R`."""
        return self.in_right if kind == "R" else negated(self.in_right)

    def is_left(self, kind: str) -> Literal:
        """Return whether the physical queue is the logical left half."""
        return self.swap if kind == "R" else negated(self.swap)


def level_view(
    build: Builder,
    fields: Fields,
    stack: Stack,
    number: int,
    inputs: Mapping[str, Wire],
    clock: LevelClock,
) -> Level:
    """Return the view of level `number`; written once for every level and stack."""
    top = number == fields.levels
    swap = build.false if top else inputs[stack.register(f"swap{number}")]["1"]
    right = in_right(build, clock, swap)
    queues = {
        kind: cell_of(build, fields, inputs[stack.queue(kind, number)], kind) for kind in "LR"
    }
    first = number == 1
    buffer = {} if first else cell_of(build, fields, inputs[stack.queue("B", number)], "B")
    cell = _under_head(build, queues, buffer, right)
    return Level(
        number=number,
        queues=queues,
        buffer=buffer,
        clock=clock,
        swap=swap,
        in_right=right,
        cell=cell,
        real=build.one_of(*cell.values(), label="real"),
        left_cell=_chosen(build, queues["R"], queues["L"], swap, "left half"),
    )


def cell_of(build: Builder, fields: Fields, wire: Wire, name: str) -> Cell:
    """Return a queue's front as a cell, with or without the left mark."""
    return {
        value: build.one_of(
            *wire.where((value, value + fields.mark)), label=f"{name} holds {value}"
        )
        for value in wire.values
        if value != fields.dummy and not value.endswith(fields.mark)
    }


def _under_head(build: Builder, queues: Mapping[str, Cell], buffer: Cell, right: Literal) -> Cell:
    front = _chosen(build, queues["R"], queues["L"], right, "front")
    return {
        value: build.one_of(
            literal, *([buffer[value]] if value in buffer else []), label=f"cell={value}"
        )
        for value, literal in front.items()
    }


def _chosen(build: Builder, yes: Cell, no: Cell, which: Literal, label: str) -> Cell:
    return {
        value: build.one_of(
            build.all_of(yes[value], which, label=f"{label}={value} in R"),
            build.all_of(no[value], negated(which), label=f"{label}={value} in L"),
            label=f"{label}={value}",
        )
        for value in no
    }
