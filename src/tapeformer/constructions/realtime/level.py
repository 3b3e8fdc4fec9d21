"""The rule of a level, written once for every level of every stack: decide, then move.

A block boundary of level i is where level i-1 is at position 0. There, if the end of level i's
content is here too, a block is pushed up to level i or pulled down from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.realtime.code import Cell
from tapeformer.constructions.realtime.column import (
    Column,
    Operation,
    column_of,
    merged,
    put,
    shifted,
    top_cells,
    without,
)
from tapeformer.constructions.realtime.fields import Fields
from tapeformer.constructions.realtime.names import HIGH, NO_MARK, Stack


@dataclass(frozen=True)
class LevelClock:
    """Where a level is, the same for every stack.

    `boundary`: of its blocks; `mark`: it is at position 0; `started`: it is in use; `trusted`: the
    front of `main` was written since the level started. That of `delay` always was, or is empty.
    """

    number: int
    boundary: Literal
    mark: Literal
    started: Literal
    trusted: Literal


def level_clock(
    stack: Stack, number: int, inputs: Mapping[str, Wire], boundary: Literal
) -> LevelClock:
    """Return the clock of a level, from the marks that ride with the input's stack."""
    mark = inputs[stack.mark("main", number)]
    return LevelClock(
        number=number,
        boundary=boundary,
        mark=mark["1"],
        started=inputs[f"started{number}"]["1"],
        trusted=negated(mark[NO_MARK]),
    )


@dataclass(frozen=True)
class Level:
    """One level of one stack: the ring's column at its position, and the one a block earlier.

    `below_high`: the level below has `HIGH` whole units or more; `op` and `full` are as latched.
    """

    clock: LevelClock
    current: Column
    previous: Column
    below_high: Literal
    op: Operation
    full: Literal


def level_view(
    fields: Fields,
    stack: Stack,
    clock: LevelClock,
    inputs: Mapping[str, Wire],
    below: Column,
) -> Level:
    """Level i, given what counts the units of level i-1."""
    number = clock.number
    op = inputs[stack.register(f"op{number}")]

    def column(kind: str) -> Column:
        names, code = stack.tracks(kind, number), fields.code(stack.tape)
        return column_of(inputs, names, code, fields.dummy)

    return Level(
        clock=clock,
        current=column("main"),
        previous=column("delay"),
        below_high=below[HIGH - 1].filled,
        op=Operation(op["push"], op["pull"], op["none"]),
        full=inputs[stack.register(f"full{number}")]["1"],
    )


@dataclass(frozen=True)
class StackView:
    """One stack as the last token left it: level 0, and levels 1..k'."""

    stack: Stack
    top: Column
    levels: tuple[Level, ...]


def decide(build: Builder, level: Level, above: Operation) -> Operation:
    """Return the level's operation from now on; `above` is that of the next level up to now.

    The end is here iff n(previous) and n(current), with what the level above did to the columns
    behind us in this turn, differ; at position 0 iff they are equal. They differ by one at most,
    so their parities tell. A level that is not started has its end everywhere.
    """
    clock = level.clock
    equal_here = build.any_of(
        clock.mark, negated(above.none), negated(clock.started), label="equal at the end"
    )
    parities = (
        _odd(build, level.current, clock.trusted, "current"),
        _odd(build, level.previous, build.true, "previous"),
        equal_here,
    )
    full = build.all_of(clock.mark, level.previous[-1].filled, label="holds all it can")
    push = _at_end(build, "push", parities, clock.boundary, level.below_high, negated(full))
    low, some = negated(level.below_high), level.previous[0].filled
    pull = _at_end(build, "pull", parities, clock.boundary, low, some)
    return _latched(build, level, push, pull)


def _odd(build: Builder, column: Column, trusted: Literal, name: str) -> Literal:
    """Return the parity of n(column). Only track 0 can hold what must not be trusted."""
    filled = [track.filled for track in column]
    terms = []
    for number in range(0, len(filled), 2):
        last = [negated(above) for above in filled[number + 1 :]]
        guard = [] if number else [trusted]
        label = f"{name} has {number + 1} filled"
        terms.append(build.all_of(filled[number], *last, *guard, label=label))
    return build.one_of(*terms, label=f"{name} is odd")


def _at_end(build: Builder, what: str, parities: tuple[Literal, ...], *guards: Literal) -> Literal:
    """Return where an odd number of the parities hold, and all guards: in one layer of ANDs."""
    ways = [signs for signs in product((False, True), repeat=len(parities)) if sum(signs) % 2]
    terms = []
    for signs in ways:
        pairs = zip(parities, signs, strict=True)
        signed = (p if s else negated(p) for p, s in pairs)
        label = f"{what} at the end, parities {''.join('01'[s] for s in signs)}"
        terms.append(build.all_of(*signed, *guards, label=label))
    return build.one_of(*terms, label=f"{what} at the end")


def _latched(build: Builder, level: Level, push: Literal, pull: Literal) -> Operation:
    """New at a block boundary, else as it was."""
    inside = negated(level.clock.boundary)
    pushes = build.one_of(push, build.all_of(inside, level.op.push, label="push on"), label="push")
    pulls = build.one_of(pull, build.all_of(inside, level.op.pull, label="pull on"), label="pull")
    return Operation(pushes, pulls, negated(build.one_of(pushes, pulls, label="moves")))


def full_after(build: Builder, level: Level, above_full: Literal) -> Literal:
    """Return whether the level and all above it are full: seen at position 0, true for a whole turn."""
    mark = level.clock.mark
    last = level.previous[-1].filled
    seen = build.all_of(mark, last, above_full, level.below_high, label="seen full")
    kept = build.all_of(level.full, negated(mark), label="still full")
    return build.one_of(seen, kept, label="full")


@dataclass(frozen=True)
class Moved:
    """What a level appends to its two queues, and the cell it hands down if it is pulled."""

    main: Column
    delay: Column
    down: Cell


def move(
    build: Builder, level: Level, op: Operation, above: Operation, pulled: Cell, lowest: Cell
) -> Moved:
    """Return one step of the ring; `lowest` is track 0 of the level below, `pulled` comes from above."""
    taken = top_cells(build, level.previous, op.pull)
    column = shifted(build, level.current, above, pulled, level.clock.trusted)
    return Moved(
        main=without(build, level.previous, taken),
        delay=put(build, column, lowest, op.push),
        down=merged(build, taken, "down"),
    )
