"""The window of a tape: three blocks in the registers, and where the head is among their cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tapeformer.circuit.build import Builder, Wire, bit_wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.realtime.code import SOME, Cell, Plane, SymbolCode
from tapeformer.constructions.realtime.fields import Fields
from tapeformer.constructions.realtime.names import position, window_bits

Bits = tuple[Literal, ...]


@dataclass(frozen=True)
class Window:
    """The bits of each cell of the left, centre and right block; `at` is the head's place, one-hot.

    Between tokens the head is in the centre. A token's steps take it to a neighbour at most.
    """

    code: SymbolCode
    cells: tuple[Bits, ...]
    at: Bits

    @property
    def block(self) -> int:
        """The cells of a block."""
        return self.code.cells

    def near(self, build: Builder, offset: int = 0) -> Cell:
        """Return the symbol in the cell at an offset from the head."""
        places = [p for p in range(len(self.at)) if 0 <= p + offset < len(self.cells)]
        return {
            bit: build.one_of(
                *(
                    build.all_of(
                        self.at[p], self.cells[p + offset][bit], label=f"place{p} reads {offset}"
                    )
                    for p in places
                ),
                label=f"cell {offset} bit{bit}",
            )
            for bit in range(self.code.width)
        }

    def left(self) -> Bits:
        """Return for each place of the left block whether the head is there."""
        return self.at[: self.block]

    def right(self) -> Bits:
        """Return for each place of the right block whether the head is there."""
        return self.at[2 * self.block :]


def window_of(build: Builder, fields: Fields, inputs: Mapping[str, Wire], tape: int) -> Window:
    """Return the window as the last token left it."""
    code, outside = fields.code(tape), (build.false,) * fields.steps
    cells = tuple(tuple(inputs[n]["1"] for n in names) for names in window_bits(tape, code))
    centre = tuple(inputs[position(tape)].literals.values())
    return Window(code, cells, (*outside, *centre, *outside))


@dataclass(frozen=True)
class Shift:
    """How a window moves by a block: to the left, to the right, or not; or the token is undone."""

    left: Literal
    right: Literal
    stays: Literal
    undone: Literal


def shifted_window(
    build: Builder,
    tape: int,
    before: Window,
    after: Window,
    shift: Shift,
    popped: Sequence[Cell],
) -> dict[str, Wire]:
    """Return the registers of a window after its steps, with a block from a stack where it moves."""
    block, width = after.block, after.code.width
    blocks = [[tuple(c[i * width + b] for b in range(width)) for i in range(block)] for c in popped]
    further = [*blocks[0], *after.cells, *blocks[1]]
    wires: dict[str, Wire] = {}
    for cell, names in enumerate(window_bits(tape, after.code)):
        for bit, name in enumerate(names):
            ways = (
                ("from the left", further[cell][bit], shift.left),
                ("stays", further[cell + block][bit], shift.stays),
                ("from the right", further[cell + 2 * block][bit], shift.right),
                ("undone", before.cells[cell][bit], shift.undone),
            )
            label = f"window{cell}.bit{bit}"
            terms = [build.all_of(value, way, label=f"{label} {how}") for how, value, way in ways]
            wires[name] = bit_wire(build.one_of(*terms, label=label))
    wires[position(tape)] = _position(build, before, after, shift.undone)
    return wires


def _position(build: Builder, before: Window, after: Window, undone: Literal) -> Wire:
    """Return the head's place in the block that it is in."""
    found = {}
    for place in range(after.block):
        ways = after.at[place :: after.block]
        new = build.one_of(*ways, label=f"in a block at {place}")
        made = build.all_of(new, negated(undone), label=f"comes to {place}")
        kept = build.all_of(before.at[after.block + place], undone, label=f"undone at {place}")
        found[str(place)] = build.one_of(made, kept, label=f"position={place}")
    return Wire(found)


def pushed_block(build: Builder, window: Window, first: int, pushes: Literal, label: str) -> Cell:
    """Return the block that begins at a cell of a window, as what a stack is told to push."""
    width = window.code.width
    found: dict[Plane, Literal] = {SOME: pushes}
    for cell in range(window.block):
        for bit in range(width):
            value = window.cells[first + cell][bit]
            name = f"{label} cell{cell}.bit{bit}"
            found[cell * width + bit] = build.all_of(value, pushes, label=name)
    return found
