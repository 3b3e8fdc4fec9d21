"""What every tape does in a token: its head acts where it is under the window, once in each step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.post.several.cells import Cell
from tapeformer.constructions.post.several.names import NOT_YET
from tapeformer.machine.record import Move, Rule, TapeKind, TuringMachine

Met = list[tuple[Literal, Rule]]
MADE = {move: move.name for move in Move}
"""The value of a tape's `done` for the move that it made in this step."""


@dataclass(frozen=True)
class Window:
    """Three neighbouring cells, and the rule that applies in this step."""

    before: Cell
    here: Cell
    following: Cell
    met: Met


@dataclass(frozen=True)
class Act:
    """What one tape does in this token: its move, if it makes one, and what its head reads then.

    It is `over` where it would need a cell and none is free; then nothing is written.
    """

    moves: Mapping[Move, Literal]
    made: Literal
    over: Literal
    writes: Mapping[str, Literal]
    arrival: Mapping[str, Literal]


def act_of(build: Builder, machine: TuringMachine, window: Window, tape: int, done: Wire) -> Act:
    """Return the act of a tape (from 0): none if its head is elsewhere, or has acted in this step."""
    acting = build.all_of(window.here.heads[tape], done[NOT_YET], label="acting")
    wanted = {
        move: build.all_of(
            acting, _with(build, window.met, tape, move=move), label=f"wants {move.name}"
        )
        for move in Move
    }
    moves, over = _possible(build, machine, window, wanted)
    writes = {
        symbol: _with(build, window.met, tape, write=symbol) for symbol in window.here.symbols[tape]
    }
    arrival = {
        symbol: build.one_of(
            build.all_of(moves[Move.LEFT], window.before.symbols[tape][symbol]),
            build.all_of(moves[Move.STAY], writes[symbol]),
            build.all_of(moves[Move.RIGHT], window.following.symbols[tape][symbol]),
            label=f"arrives at {symbol}",
        )
        for symbol in writes
    }
    made = build.one_of(*moves.values(), label="made")
    return Act(moves, made, over, writes, arrival)


def _with(
    build: Builder, met: Met, tape: int, move: Move | None = None, write: str | None = None
) -> Literal:
    """Return whether the rule has this move, or writes this symbol, on a tape."""
    found = [
        literal
        for literal, rule in met
        if (move is None or rule.moves[tape] is move)
        and (write is None or rule.write[tape] == write)
    ]
    return build.one_of(*found, label=f"rule with {write if move is None else move.name}")


def _possible(
    build: Builder, machine: TuringMachine, window: Window, wanted: Mapping[Move, Literal]
) -> tuple[dict[Move, Literal], Literal]:
    """Return the moves that are made, and whether one is refused for want of a free cell."""
    left, stay, right = wanted[Move.LEFT], wanted[Move.STAY], wanted[Move.RIGHT]
    at_end = build.all_of(left, window.here.first, label="left of the first")
    full = build.all_of(right, window.following.first, label="ring full")
    goes_right = build.all_of(right, negated(window.following.first), label="moves RIGHT")
    if machine.tape_kind is TapeKind.ONE_WAY:
        goes_left = build.all_of(left, negated(window.here.first), label="moves LEFT")
        stays = build.one_of(stay, at_end, label="moves STAY")
        return {Move.LEFT: goes_left, Move.STAY: stays, Move.RIGHT: goes_right}, full
    no_cell = build.all_of(at_end, negated(window.before.free), label="no cell")
    goes_left = build.all_of(left, negated(no_cell), label="moves LEFT")
    over = build.one_of(full, no_cell, label="over")
    return {Move.LEFT: goes_left, Move.STAY: stay, Move.RIGHT: goes_right}, over


def after(
    build: Builder, window: Window, acts: tuple[Act, ...], boots: Literal
) -> tuple[Cell, Cell, Cell]:
    """Return the three cells after this token: written, heads moved, free cells taken."""
    lefts = tuple(act.moves[Move.LEFT] for act in acts)
    rights = tuple(build.one_of(act.moves[Move.RIGHT], boots, label="enters") for act in acts)
    leaves = build.any_of(*lefts, label="a head goes left")
    grows = build.all_of(leaves, window.here.first, label="new first")
    before = _entered(build, window.before, lefts, leaves, grows)
    enters = build.any_of(*rights, label="a head goes right")
    following = _entered(build, window.following, rights, enters, boots)
    return before, _left(build, window.here, acts, grows), following


def _left(build: Builder, here: Cell, acts: tuple[Act, ...], grows: Literal) -> Cell:
    """Return the cell under the window after all heads on it have written and moved."""
    symbols = tuple(
        {
            symbol: build.one_of(
                build.all_of(act.writes[symbol], act.made, label=f"write {symbol}"),
                build.all_of(literal, negated(act.made), label=f"keep {symbol}"),
                label=f"written {symbol}",
            )
            for symbol, literal in known.items()
        }
        for known, act in zip(here.symbols, acts, strict=True)
    )
    heads = tuple(
        build.all_of(
            head, negated(act.moves[Move.LEFT]), negated(act.moves[Move.RIGHT]), label="head stays"
        )
        for head, act in zip(here.heads, acts, strict=True)
    )
    first = build.all_of(here.first, negated(grows), label="here is first")
    return Cell(symbols, heads, first, here.free)


def _entered(
    build: Builder, cell: Cell, enters: tuple[Literal, ...], taken: Literal, first: Literal
) -> Cell:
    """Return a neighbour that heads may enter: then it is no longer free."""
    heads = tuple(
        build.one_of(head, comes, label="has the head")
        for head, comes in zip(cell.heads, enters, strict=True)
    )
    return Cell(
        symbols=cell.symbols,
        heads=heads,
        first=build.one_of(cell.first, first, label="is first"),
        free=build.all_of(cell.free, negated(taken), label="is free"),
    )
