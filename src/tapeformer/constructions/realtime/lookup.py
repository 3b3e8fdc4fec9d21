"""The Turing machine's rules on level 0: which one applies, whether it can fire, what it then does.

Everything is read from level 0 as the last token left it: in base 2 it never is empty above the
bottom, nor full below capacity. So the rules do not wait for what the levels do in this step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.reach import live_rules, rule_numbers, verdict_of
from tapeformer.constructions.realtime.code import Cell, Plane, SymbolCode
from tapeformer.constructions.realtime.column import Column, merged, top_cells
from tapeformer.constructions.realtime.fields import Fields
from tapeformer.constructions.realtime.names import bit_names
from tapeformer.machine.record import Move, Rule

Met = list[tuple[Literal, Rule]]
Reads = tuple[str, ...]


@dataclass(frozen=True)
class TapeView:
    """Level 0 of a tape's two stacks, their top symbols, and the symbol under the head.

    `at_end`: only the bottom is left in the left stack; `full`: of each stack, nothing fits.
    """

    code: SymbolCode
    left: Column
    right: Column
    left_top: Cell
    right_top: Cell
    at_end: Literal
    full: tuple[Literal, Literal]
    head: Cell


def head_of(fields: Fields, inputs: Mapping[str, Wire], tape: int) -> Cell:
    """Return the symbol under a head."""
    code, name = fields.code(tape), f"tape{tape}/head"
    if code.bits:
        return {number: inputs[b]["1"] for number, b in enumerate(bit_names(name, code))}
    return {symbol: inputs[name][symbol] for symbol in code.symbols}


def tape_view(
    build: Builder,
    fields: Fields,
    tape: int,
    columns: tuple[Column, Column],
    full: tuple[Literal, Literal],
    head: Cell,
) -> TapeView:
    """Return the view of one tape; `full` says that all levels of a stack are."""
    left, right = columns
    tops = []
    for side, column in zip(("left", "right"), columns, strict=True):
        with build.scope(side):
            tops.append(merged(build, top_cells(build, column), "top"))
    return TapeView(
        code=fields.code(tape),
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
    """Look up the rule and carry it out where every stack that it uses is ready."""
    ready = tuple(ready_for(build, fields, view, f"tape{t}") for t, view in enumerate(views, 1))
    met: Met = []
    made: Met = []
    numbers = rule_numbers(fields.machine)
    for rule in live_rules(fields.machine):
        read = zip(views, rule.read, strict=True)
        match = [state[rule.state], *(t for v, s in read for t in tests(v.code, s, v.head))]
        needs = [need for r, m in zip(ready, rule.moves, strict=True) for need in r[m]]
        name, own = f"{rule.state} {' '.join(rule.read)}", [numbers[rule.state, rule.read]]
        met.append((build.all_of(*match, label=f"applies in {name}", rules=own), rule))
        fires = build.all_of(running, *match, *needs, label=f"fires in {name}", rules=own)
        made.append((fires, rule))
    return carried_out(build, fields, met, made, views, running)


def carried_out(
    build: Builder,
    fields: Fields,
    met: Met,
    made: Met,
    views: tuple[TapeView, ...],
    running: Literal,
) -> Fired:
    """Return what follows from the rules that apply (`met`), and those of them that fire (`made`)."""
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


def ready_for(
    build: Builder, fields: Fields, view: TapeView, name: str
) -> dict[Move, list[Literal]]:
    """Return what a move needs: a symbol to pop and room to push; at a bounded tape's end nothing."""
    room = [negated(column[-1].filled) for column in (view.left, view.right)]
    left = [view.left[0].filled, room[1]]
    if fields.bounded:
        bottom = view.left[0].cell[fields.bottom]
        several = build.all_of(view.left[1].filled, room[1], label=f"{name} several left")
        single = [view.left[0].filled, negated(bottom), negated(view.left[1].filled)]
        one = build.all_of(*single, room[1], label=f"{name} one left")
        left = [build.one_of(view.at_end, several, one, label=f"{name} can go left")]
    return {Move.LEFT: left, Move.STAY: [], Move.RIGHT: [view.right[0].filled, room[0]]}


def _refused(
    build: Builder, fields: Fields, met: Met, views: tuple[TapeView, ...], running: Literal
) -> Literal:
    """Return whether the rule that applies would push on a stack that is full in all its levels."""
    found = []
    for tape, view in enumerate(views):
        name = f"tape{tape + 1}"
        moves = _moves(build, met, tape, "wants")
        inside = [negated(view.at_end)] if fields.bounded else []
        right, left = moves[Move.RIGHT], moves[Move.LEFT]
        found.append(build.all_of(running, right, view.full[0], label=f"{name}.left refuses"))
        refuses = build.all_of(running, left, view.full[1], *inside, label=f"{name}.right refuses")
        found.append(refuses)
    return build.any_of(*found, label="out of space")


def _moves(build: Builder, met: Met, tape: int, verb: str) -> dict[Move, Literal]:
    name = f"tape{tape + 1} {verb}"
    return {
        move: build.one_of(
            *(m for m, rule in met if rule.moves[tape] is move), label=f"{name} {move.name}"
        )
        for move in Move
    }


def _action(build: Builder, fields: Fields, made: Met, tape: int) -> TapeAction:
    code = fields.code(tape + 1)

    def writing(move: Move, plane: Plane) -> Literal:
        moving = ((m, r) for m, r in made if r.moves[tape] is move)
        chosen = (m for m, r in moving if plane in code.planes(r.write[tape]))
        return build.one_of(*chosen, label=f"tape{tape + 1} {move.name} writes {plane}")

    planes = dict.fromkeys((*code.values, *code.head_planes))
    writes = {move: {plane: writing(move, plane) for plane in planes} for move in Move}
    return TapeAction(_moves(build, made, tape, "moves"), writes)


def stops(
    build: Builder, fields: Fields, arrived: Mapping[str, Literal], heads: tuple[Cell, ...]
) -> dict[str, Literal]:
    """Return for each verdict whether the last step brings it: by the new state and symbols."""
    known: dict[str, list[Reads]] = {}
    for rule in live_rules(fields.machine):
        known.setdefault(rule.state, []).append(rule.read)

    def stuck(state: str) -> Literal:
        return _stuck(build, fields, arrived[state], heads, known.get(state, []), state)

    return verdicts(build, fields, arrived, stuck)


def verdicts(
    build: Builder,
    fields: Fields,
    arrived: Mapping[str, Literal],
    stuck: Callable[[str], Literal],
) -> dict[str, Literal]:
    """Return `stops`, given whether a step is made into a state and none can follow."""
    found: dict[str, list[Literal]] = {}
    for state in fields.machine.states:
        if arrived[state] != build.false:
            last = arrived[state] if state in fields.machine.stopping else stuck(state)
            found.setdefault(verdict_of(fields.machine, state), []).append(last)
    return {v: build.one_of(*literals, label=f"ends with {v}") for v, literals in found.items()}


def _stuck(
    build: Builder,
    fields: Fields,
    arrived: Literal,
    heads: tuple[Cell, ...],
    known: Sequence[Reads],
    state: str,
) -> Literal:
    """Return whether a step is made into a state and none can follow; the shorter list is looked up."""
    symbols = [fields.code(tape).symbols for tape in fields.tapes]
    if 2 * len(known) < prod(map(len, symbols)):
        go_on = [_reading(build, fields, arrived, heads, read, state) for read in known]
        return negated(build.one_of(negated(arrived), *go_on, label=f"goes on in {state}"))
    missing = set(product(*symbols)).difference(known)
    end = [_reading(build, fields, arrived, heads, read, state) for read in sorted(missing)]
    return build.one_of(*end, label=f"ends in {state}")


def _reading(
    build: Builder,
    fields: Fields,
    arrived: Literal,
    heads: tuple[Cell, ...],
    read: Reads,
    state: str,
) -> Literal:
    places = zip(fields.tapes, heads, read, strict=True)
    met = (test for tape, head, s in places for test in tests(fields.code(tape), s, head))
    return build.all_of(arrived, *met, label=f"comes to {state} {' '.join(read)}")


def tests(code: SymbolCode, symbol: str, cell: Cell) -> tuple[Literal, ...]:
    """Return the literals that all hold iff a cell that is not empty holds the symbol."""
    if code.one_hot:
        return (cell[symbol],)
    held = code.planes(symbol)
    return tuple(cell[b] if b in held else negated(cell[b]) for b in range(code.width))
