"""What one stack does by itself in a step, and what the control may tell it.

A step first yields the *view* of every stack; the control then adds *orders*; the outputs follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.paper.clock import LevelClock
from tapeformer.constructions.paper.fields import Fields, Stack
from tapeformer.constructions.paper.levels import Level, level_view
from tapeformer.constructions.paper.transfer import Transfer, transfer_view


@dataclass(frozen=True)
class StackView:
    """What a stack does in the present step, before the control's orders.

    `pushed`: the written symbol enters T_1's first dummy; `popped`: the last symbol of T_1 is
    under the head and wanted; `bottom`: but it is the bottom and stays; `done`: no operation is
    under way, so the barrier may open.
    """

    stack: Stack
    levels: tuple[Level, ...]
    transfers: tuple[Transfer, ...]
    op: Wire
    pushed: Literal
    popped: Literal
    bottom: Literal
    done: Literal
    full: Literal
    at_bottom: Literal


@dataclass(frozen=True)
class Orders:
    """What the control tells a stack: a new operation, and at the beginning how to boot.

    `boot`: put the bottom into T_1; `hole`: put a hole into the input queue; `load`: begin the
    POPs that bring the input down; `loading`: these POPs are under way.
    """

    push: Literal
    pop: Literal
    boot: Literal
    hole: Literal
    load: Literal
    loading: Literal


def stack_view(
    build: Builder,
    fields: Fields,
    stack: Stack,
    inputs: Mapping[str, Wire],
    clocks: tuple[LevelClock, ...],
) -> StackView:
    """Return the view of one stack."""
    op, last = inputs[stack.register("op")], inputs[stack.register("last")]
    levels = _levels(build, fields, stack, inputs, clocks)
    first, behind = levels[0], negated(inputs[stack.register("behind")]["dummy"])
    popped = build.all_of(op["pop"], last["1"], label="popped")
    checked = build.all_of(op["check"], negated(first.clock.left_end), label="not full")
    known = fields.knows_bottom(stack)
    return StackView(
        stack=stack,
        levels=levels,
        transfers=_transfers(build, fields, op, levels),
        op=op,
        pushed=build.all_of(op["push"], behind, negated(first.real), label="pushed"),
        popped=popped,
        bottom=build.all_of(popped, first.cell[fields.bottom], label="bottom stays"),
        done=build.one_of(op["idle"], checked, label="done"),
        full=inputs[stack.register("full")]["1"],
        at_bottom=inputs[stack.register("at_bottom")]["1"] if known else build.false,
    )


def _levels(
    build: Builder,
    fields: Fields,
    stack: Stack,
    inputs: Mapping[str, Wire],
    clocks: tuple[LevelClock, ...],
) -> tuple[Level, ...]:
    found = []
    for number, clock in enumerate(clocks, 1):
        with build.scope(f"level{number}"):
            found.append(level_view(build, fields, stack, number, inputs, clock))
    return tuple(found)


def _transfers(
    build: Builder, fields: Fields, op: Wire, levels: tuple[Level, ...]
) -> tuple[Transfer, ...]:
    found = []
    for lower, upper in pairwise(levels):
        with build.scope(f"level{upper.number}"):
            found.append(transfer_view(build, op, upper, lower, fields.bottom))
    return tuple(found)
