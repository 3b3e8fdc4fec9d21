"""The control that makes several steps in a token: all of them, or none; fewer only in the last.

The steps are made on windows of three blocks in the registers. A head that ends in a neighbour of
its centre block moves the window: one stack pops a block, the other pushes the far one, which no
step of this token can have touched. Where a stack is not ready, the whole token is undone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.realtime.boot import phase_after
from tapeformer.constructions.realtime.code import Cell
from tapeformer.constructions.realtime.column import StackOrder, merged, top_cells
from tapeformer.constructions.realtime.control import verdict_after
from tapeformer.constructions.realtime.fields import Fields
from tapeformer.constructions.realtime.level import StackView
from tapeformer.constructions.realtime.lookup import stops
from tapeformer.constructions.realtime.speedup.boot import (
    BlockBoot,
    block_boot,
    boot_outputs,
    loaded,
)
from tapeformer.constructions.realtime.speedup.rounds import Progress, steps_made
from tapeformer.constructions.realtime.speedup.window import (
    Bits,
    Shift,
    Window,
    pushed_block,
    shifted_window,
    window_of,
)


@dataclass(frozen=True)
class Sides:
    """The two stacks of a tape, left and right: their top blocks, and whether nothing fits in.

    `ready`: for a shift of the window to the left, and to the right; `at_end`: only the bottom is
    left in the left stack.
    """

    tops: tuple[Cell, Cell]
    full: tuple[Literal, Literal]
    ready: tuple[Literal, Literal]
    at_end: Literal


def several_steps(
    build: Builder, fields: Fields, inputs: Mapping[str, Wire], views: Sequence[StackView]
) -> tuple[dict[str, Wire], list[StackOrder]]:
    """Return the registers of the control, and what each stack is told."""
    sides = tuple(
        _sides(build, fields, *pair) for pair in zip(views[::2], views[1::2], strict=True)
    )
    windows = tuple(window_of(build, fields, inputs, tape) for tape in fields.tapes)
    with build.scope("control"):
        boot = block_boot(build, fields, inputs, windows[0], sides[0].at_end, sides[0].ready)
        running = _running(build, inputs, boot)
        walls = [side.at_end if fields.bounded else build.false for side in sides]
        start = Progress(inputs["state"].literals, windows)
        after = steps_made(build, fields, start, walls, running)
        undone = _blocked(build, after.windows, [side.ready for side in sides])
        outputs = dict(_outputs(build, fields, inputs, boot, after, undone))
        full = [tuple(map(negated, reversed(side.full))) for side in sides]
        refused = _blocked(build, after.windows, full)
        ended = _verdicts(build, fields, after, running, undone)
        verdicts = {**ended, "out_of_space": refused}
        outputs["verdict"] = verdict_after(build, inputs["verdict"], verdicts)
    told: list[StackOrder] = []
    for tape, side, old, new in zip(fields.tapes, sides, windows, after.windows, strict=True):
        with build.scope(f"tape{tape}/window"):
            made = _Recentred(build, tape, side, old, new, undone, boot if tape == 1 else None)
            outputs |= made.registers()
            told += made.orders()
    return outputs, told


def _sides(build: Builder, fields: Fields, left: StackView, right: StackView) -> Sides:
    tops = []
    for view in (left, right):
        with build.scope(view.stack.name):
            tops.append(merged(build, top_cells(build, view.top), "top"))
    full = [
        build.all_of(view.levels[0].full, view.top[-1].filled, label=f"{view.stack.name} full")
        for view in (left, right)
    ]
    ready = [
        build.all_of(popped.top[0].filled, negated(pushed.top[-1].filled), label=f"can go {way}")
        for way, popped, pushed in (("left", left, right), ("right", right, left))
    ]
    return Sides(
        (tops[0], tops[1]), (full[0], full[1]), (ready[0], ready[1]), tops[0][fields.bottom]
    )


def _running(build: Builder, inputs: Mapping[str, Wire], boot: BlockBoot) -> Literal:
    on = build.all_of(inputs["phase"]["run"], inputs["verdict"]["run"], label="on")
    return build.one_of(on, boot.begin, label="running")


def _blocked(
    build: Builder, windows: Sequence[Window], open_ways: Sequence[tuple[Literal, ...]]
) -> Literal:
    """Return whether a head has left its centre block where the way, left or right, is not open."""
    found = []
    for tape, (window, ways) in enumerate(zip(windows, open_ways, strict=True), 1):
        for side, places, way in zip(
            ("left", "right"), (window.left(), window.right()), ways, strict=True
        ):
            leaves = build.one_of(*places, label=f"tape{tape} leaves {side}")
            found.append(build.all_of(leaves, negated(way), label=f"tape{tape} {side} is closed"))
    return build.any_of(*found, label="closed")


def _outputs(
    build: Builder,
    fields: Fields,
    inputs: Mapping[str, Wire],
    boot: BlockBoot,
    after: Progress,
    undone: Literal,
) -> Iterator[tuple[str, Wire]]:
    """Yield the registers that belong to no tape, without the verdict."""
    yield "phase", phase_after(build, inputs["phase"], boot)
    yield "stepped", _stepped(build, after.made, undone)
    state = inputs["state"].literals
    made = {q: build.all_of(b, negated(undone), label=f"to {q}") for q, b in after.state.items()}
    kept = {q: build.all_of(b, undone, label=f"stays in {q}") for q, b in state.items()}
    yield "state", Wire(merged(build, [made, kept], "state"))
    yield from boot_outputs(build, fields, inputs, boot)


def _stepped(build: Builder, made: Bits, undone: Literal) -> Wire:
    """Return how many steps were made: they are made one after another, from the first."""
    counts = [
        build.all_of(bit, negated(undone), label=f"step {n}") for n, bit in enumerate(made, 1)
    ]
    counts = [build.true, *counts, build.false]
    return Wire(
        {
            str(n): negated(build.one_of(negated(counts[n]), counts[n + 1], label=f"not {n} steps"))
            for n in range(len(counts) - 1)
        }
    )


def _verdicts(
    build: Builder, fields: Fields, after: Progress, running: Literal, undone: Literal
) -> dict[str, Literal]:
    """Return for each verdict whether no step can follow those of this token."""
    arrived = {
        q: build.all_of(bit, running, negated(undone), label=f"ends in {q}")
        for q, bit in after.state.items()
    }
    with build.scope("end"):
        heads = tuple(window.near(build) for window in after.windows)
    return stops(build, fields, arrived, heads)


class _Recentred:
    """A tape whose window follows its head, and the prompt that is loaded into the first one."""

    def __init__(
        self,
        build: Builder,
        tape: int,
        sides: Sides,
        before: Window,
        after: Window,
        undone: Literal,
        boot: BlockBoot | None,
    ) -> None:
        self.build, self.tape, self.sides, self.before = build, tape, sides, before
        self.after = after if boot is None else loaded(build, before, after, boot)
        back = [] if boot is None else [boot.back]
        left = build.one_of(*self.after.left(), *back, label="head in the left block")
        right = build.one_of(*self.after.right(), label="head in the right block")
        goes = [
            build.all_of(way, negated(undone), label=f"goes {name}")
            for name, way in (("left", left), ("right", right))
        ]
        moves = build.one_of(left, right, label="head leaves")
        stays = build.all_of(negated(moves), negated(undone), label="stays")
        self.shift = Shift(goes[0], goes[1], stays, undone)

    def registers(self) -> dict[str, Wire]:
        """Return the window and the head's place in it."""
        args = (self.before, self.after, self.shift, self.sides.tops)
        return shifted_window(self.build, self.tape, *args)

    def orders(self) -> Iterator[StackOrder]:
        """Yield what the left and the right stack are told: to give a block, or to take the far one."""
        for pop, push, first in (
            (self.shift.left, self.shift.right, 0),
            (self.shift.right, self.shift.left, 2 * self.before.block),
        ):
            block = pushed_block(self.build, self.before, first, push, f"from {first}")
            yield StackOrder(pop, block)
