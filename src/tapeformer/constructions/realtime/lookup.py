"""The Turing machine's rules on level 0: which one applies, whether it can fire, what it then does.

Everything is read from level 0 as the last token left it: in base 2 it never is empty above the
bottom, nor full below capacity. So the rules do not wait for what the levels do in this step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.reach import live_rules, verdict_of
from tapeformer.constructions.realtime.column import Cell, Column, merged, top_cells
from tapeformer.constructions.realtime.fields import Fields
from tapeformer.machine.record import Move, Rule

Met = list[tuple[Literal, Rule]]


@dataclass(frozen=True)
class TapeView:
    """Level 0 of a tape's two stacks, their top symbols, and the symbol under the head.

    `at_end`: only the bottom is left in the left stack; `full`: of each stack, nothing fits.
    """

    left: Column
    right: Column
    left_top: Cell
    right_top: Cell
    at_end: Literal
    full: tuple[Literal, Literal]
    head: Wire


def tape_view(
    build: Builder,
    fields: Fields,
    columns: tuple[Column, Column],
    full: tuple[Literal, Literal],
    head: Wire,
) -> TapeView:
    """The view of one tape; `full` says that all levels of a stack are."""
    left, right = columns
    tops = [merged(build, top_cells(build, column), "top") for column in columns]
    return TapeView(
        left=left,
        right=right,
        left_top=tops[0],
        right_top=tops[1],
        at_end=tops[0][fields.bottom],
        full=(
            build.all_of(full[0], left[-1].filled, label="left full"),
            build.all_of(full[1], right[-1].filled, label="right full"),
        ),
        head=head,
    )


@dataclass(frozen=True)
class TapeAction:
    """What the fired rule does on one tape: its move, and for each move the symbol it writes."""

    moves: Mapping[Move, Literal]
    writes: Mapping[Move, Cell]


@dataclass(frozen=True)
class Fired:
    """The rule that is carried out now, if any.

    `applies`: there is a rule, whether it can fire or not; `refused`: it would push on a full
    stack; `arrived`: for each state, whether a step into it is made.
    """

    applies: Literal
    refused: Literal
    fire: Literal
    actions: tuple[TapeAction, ...]
    arrived: Mapping[str, Literal]


def fired(
    build: Builder, fields: Fields, state: Wire, views: tuple[TapeView, ...], running: Literal
) -> Fired:
    """Looks up the rule and carries it out where every stack that it uses is ready."""
    ready = tuple(_ready(build, fields, view) for view in views)
    met: Met = []
    made: Met = []
    for rule in live_rules(fields.machine):
        match = [state[rule.state], *(v.head[s] for v, s in zip(views, rule.read, strict=True))]
        needs = [need for r, m in zip(ready, rule.moves, strict=True) for need in r[m]]
        name = f"{rule.state} {' '.join(rule.read)}"
        met.append((build.all_of(*match, label=f"rule {name}"), rule))
        made.append((build.all_of(running, *match, *needs, label=f"{name} fires"), rule))
    return Fired(
        applies=build.one_of(*(literal for literal, _ in met), label="applies"),
        refused=_refused(build, fields, met, views, running),
        fire=build.one_of(*(literal for literal, _ in made), label="fire"),
        actions=tuple(_action(build, fields, made, tape) for tape in range(len(views))),
        arrived={
            q: build.one_of(*(m for m, rule in made if rule.next_state == q), label=f"to {q}")
            for q in fields.machine.states
        },
    )


def _ready(build: Builder, fields: Fields, view: TapeView) -> dict[Move, list[Literal]]:
    """What a move needs: a symbol to pop and room to push; at a bounded tape's end nothing."""
    room = [negated(column[-1].filled) for column in (view.left, view.right)]
    left = [view.left[0].filled, room[1]]
    if fields.bounded:
        bottom = view.left[0].cell[fields.bottom]
        several = build.all_of(view.left[1].filled, room[1], label="several")
        single = [view.left[0].filled, negated(bottom), negated(view.left[1].filled)]
        one = build.all_of(*single, room[1], label="one")
        left = [build.one_of(view.at_end, several, one, label="can go left")]
    return {Move.LEFT: left, Move.STAY: [], Move.RIGHT: [view.right[0].filled, room[0]]}


def _refused(
    build: Builder, fields: Fields, met: Met, views: tuple[TapeView, ...], running: Literal
) -> Literal:
    """Whether the rule that applies would push on a stack that is full in all its levels."""
    found = []
    for tape, view in enumerate(views):
        moves = _moves(build, met, tape)
        inside = [negated(view.at_end)] if fields.bounded else []
        right, left = moves[Move.RIGHT], moves[Move.LEFT]
        found.append(build.all_of(running, right, view.full[0], label="left refuses"))
        found.append(build.all_of(running, left, view.full[1], *inside, label="right refuses"))
    return build.any_of(*found, label="out of space")


def _moves(build: Builder, met: Met, tape: int) -> dict[Move, Literal]:
    return {
        move: build.one_of(*(m for m, rule in met if rule.moves[tape] is move), label=move.name)
        for move in Move
    }


def _action(build: Builder, fields: Fields, made: Met, tape: int) -> TapeAction:
    def writing(move: Move, symbol: str) -> Literal:
        chosen = (m for m, r in made if r.moves[tape] is move and r.write[tape] == symbol)
        return build.one_of(*chosen, label=f"{move.name} writes {symbol}")

    symbols = fields.symbols(tape + 1)
    writes = {move: {symbol: writing(move, symbol) for symbol in symbols} for move in Move}
    return TapeAction(_moves(build, made, tape), writes)


def stops(
    build: Builder, fields: Fields, arrived: Mapping[str, Literal], heads: tuple[Wire, ...]
) -> dict[str, Literal]:
    """For each verdict, whether the step just made is the last: by the new state and symbols."""
    found: dict[str, list[Literal]] = {}
    for state in fields.machine.states:
        if arrived[state] != build.false:
            verdict = verdict_of(fields.machine, state)
            found.setdefault(verdict, []).append(
                _stuck(build, fields, state, arrived[state], heads)
            )
    return {v: build.one_of(*literals, label=v) for v, literals in found.items()}


def _stuck(
    build: Builder, fields: Fields, state: str, arrived: Literal, heads: tuple[Wire, ...]
) -> Literal:
    """Whether a step is made into the state and none can follow; the shorter list is looked up."""
    machine = fields.machine
    if state in machine.stopping:
        return arrived
    known = [rule.read for rule in live_rules(machine) if rule.state == state]
    symbols = [fields.symbols(tape) for tape in fields.tapes]
    if 2 * len(known) < prod(map(len, symbols)):
        go_on = [_reading(build, arrived, heads, read) for read in known]
        return negated(build.one_of(negated(arrived), *go_on, label=f"{state} ends"))
    missing = set(product(*symbols)).difference(known)
    end = [_reading(build, arrived, heads, read) for read in sorted(missing)]
    return build.one_of(*end, label=f"{state} ends")


def _reading(
    build: Builder, arrived: Literal, heads: tuple[Wire, ...], read: tuple[str, ...]
) -> Literal:
    symbols = (head[symbol] for head, symbol in zip(heads, read, strict=True))
    return build.all_of(arrived, *symbols, label="reads")
