"""The finite control: reading the prompt, rewinding, the Turing machine's steps, the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.reach import verdict_of
from tapeformer.constructions.realtime.column import Cell, merged
from tapeformer.constructions.realtime.fields import Fields
from tapeformer.constructions.realtime.lookup import Fired, TapeAction, TapeView, fired, stops
from tapeformer.machine.record import Move
from tapeformer.queues.verify import VERDICTS


@dataclass(frozen=True)
class Boot:
    """Bringing the prompt to tape 1, and its head to the first symbol.

    `chosen`: for each level from 2 on, whether it reads the prompt back from now on; `symbol`:
    what it reads; `over`: it has read all; `back`: the head goes one cell left; `begin`: it is on
    the first cell, so that the first step can be made.
    """

    chosen: Mapping[int, Literal]
    symbol: Cell
    reading: Literal
    over: Literal
    back: Literal
    begin: Literal


@dataclass(frozen=True)
class StackOrder:
    """What a stack is told: take the top symbol away, or put a symbol on it."""

    pop: Literal
    push: Cell


@dataclass(frozen=True)
class Control:
    """What the control decides in the present step."""

    boot: Boot
    fired: Fired
    heads: tuple[Wire, ...]
    verdicts: Mapping[str, Literal]


def control(
    build: Builder, fields: Fields, inputs: Mapping[str, Wire], views: tuple[TapeView, ...]
) -> Control:
    """All decisions of the control."""
    boot = _boot(build, fields, inputs, views[0])
    on = build.all_of(inputs["phase"]["run"], inputs["verdict"]["run"], label="on")
    running = build.one_of(on, boot.begin, label="running")
    rule = fired(build, fields, inputs["state"], views, running)
    heads = tuple(
        _head(build, fields, view, action, rule.fire, boot if tape == 0 else None)
        for tape, (view, action) in enumerate(zip(views, rule.actions, strict=True))
    )
    ended = stops(build, fields, rule.arrived, heads)
    idle = build.all_of(boot.begin, negated(rule.applies), label="no first step")
    first = verdict_of(fields.machine, fields.machine.start)
    ended[first] = build.one_of(ended.get(first, build.false), idle, label=first)
    return Control(boot, rule, heads, {**ended, "out_of_space": rule.refused})


def _boot(build: Builder, fields: Fields, inputs: Mapping[str, Wire], view: TapeView) -> Boot:
    phase = inputs["phase"]
    loading = build.one_of(phase["wait"], phase["load"], label="loading")
    symbol = _read_back(build, fields, inputs, loading)
    reading = build.one_of(*symbol.values(), label="reading")
    popping = (view.left[0].filled, negated(view.at_end), negated(view.right[-1].filled))
    return Boot(
        chosen=_chosen(build, fields, inputs),
        symbol=symbol,
        reading=reading,
        over=build.all_of(phase["load"], negated(reading), label="prompt over"),
        back=build.all_of(phase["rewind"], *popping, label="back"),
        begin=build.all_of(phase["rewind"], view.at_end, label="begin"),
    )


def _read_back(
    build: Builder, fields: Fields, inputs: Mapping[str, Wire], loading: Literal
) -> Cell:
    """The prompt symbol that the chosen level's delay reads back."""
    found = []
    for level, name in enumerate(fields.input_queues(), 2):
        chosen = inputs[f"load{level}"]["1"]
        cell = {v: bit for v, bit in inputs[name].literals.items() if v != fields.dummy}
        found.append(
            {v: build.all_of(bit, chosen, loading, label=f"read {v}") for v, bit in cell.items()}
        )
    return merged(build, found, "prompt symbol")


def _chosen(build: Builder, fields: Fields, inputs: Mapping[str, Wire]) -> dict[int, Literal]:
    """The smallest level whose delay reaches before the prompt, in the first generated token."""
    chosen = {}
    reached = build.true
    for level, name in enumerate(fields.input_queues(), 2):
        before = inputs[name][fields.dummy]
        now = build.all_of(inputs["phase"]["start"], before, reached, label="chosen")
        chosen[level] = build.one_of(inputs[f"load{level}"]["1"], now, label="load")
        reached = negated(before)
    return chosen


def _head(
    build: Builder,
    fields: Fields,
    view: TapeView,
    action: TapeAction,
    fire: Literal,
    boot: Boot | None,
) -> Wire:
    """The symbol under the head: popped, written and left there, or as it was."""
    booting = [boot.over, boot.back] if boot else []
    left_bottom = None if fields.bounded else fields.blank
    moved = build.one_of(fire, *booting, label="moved")
    cells = [
        _popped(build, fields, view.left_top, action.moves[Move.LEFT], left_bottom),
        _popped(build, fields, view.right_top, action.moves[Move.RIGHT], fields.blank),
        action.writes[Move.STAY],
        {s: build.all_of(view.head[s], negated(moved), label="head") for s in view.head.values},
    ]
    if booting:
        back = build.one_of(*booting, label="booting")
        cells.append(_popped(build, fields, view.left_top, back, fields.blank))
    if fields.bounded:
        written = action.writes[Move.LEFT]
        cells.append(
            {s: build.all_of(bit, view.at_end, label="stay at end") for s, bit in written.items()}
        )
    return Wire(merged(build, cells, "head"))


def _popped(
    build: Builder, fields: Fields, top: Cell, pop: Literal, bottom_reads: str | None
) -> Cell:
    """What a pop brings under the head; the bottom may read as a symbol, or as nothing."""
    cell = {s: build.all_of(top[s], pop, label="popped") for s in top if s != fields.bottom}
    if bottom_reads is not None:
        end = build.all_of(top[fields.bottom], pop, label="bottom")
        cell[bottom_reads] = build.one_of(cell[bottom_reads], end, label="popped")
    return cell


def orders(
    build: Builder, fields: Fields, decided: Control, views: tuple[TapeView, ...]
) -> Iterator[StackOrder]:
    """What each stack is told, left and right of tape 1, of tape 2, ..."""
    for tape, (view, action) in enumerate(zip(views, decided.fired.actions, strict=True)):
        back = action.writes[Move.LEFT]
        if fields.bounded:
            back = {
                s: build.all_of(bit, negated(view.at_end), label="left of head")
                for s, bit in back.items()
            }
        left = StackOrder(action.moves[Move.LEFT], action.writes[Move.RIGHT])
        right = StackOrder(action.moves[Move.RIGHT], back)
        yield _booting_left(build, left, decided.boot) if tape == 0 else left
        yield _booting_right(build, right, decided.boot, view) if tape == 0 else right


def _booting_left(build: Builder, order: StackOrder, boot: Boot) -> StackOrder:
    """The input's stack also receives the prompt, and gives it to the head again."""
    pop = build.one_of(order.pop, boot.over, boot.back, label="pop")
    return StackOrder(pop, merged(build, [order.push, boot.symbol], "push"))


def _booting_right(build: Builder, order: StackOrder, boot: Boot, view: TapeView) -> StackOrder:
    """The rewind pushes the head's symbol to the right."""
    back = {
        s: build.all_of(bit, boot.back, label="rewound") for s, bit in view.head.literals.items()
    }
    return StackOrder(order.pop, merged(build, [order.push, back], "push"))


def control_outputs(
    build: Builder, fields: Fields, decided: Control, inputs: Mapping[str, Wire]
) -> Iterator[tuple[str, Wire]]:
    """The new value of each register that belongs to no level and no stack, by name."""
    state, boot, fire = inputs["state"], decided.boot, decided.fired.fire
    kept = {q: build.all_of(state[q], negated(fire), label="state") for q in state.values}
    yield "phase", _phase(build, inputs["phase"], boot)
    yield "verdict", _verdict(build, inputs["verdict"], decided)
    yield "stepped", bit_wire(fire)
    yield "state", Wire(merged(build, [decided.fired.arrived, kept], "state"))
    for number, head in zip(fields.tapes, decided.heads, strict=True):
        yield f"tape{number}/head", head
    for level, chosen in boot.chosen.items():
        yield f"load{level}", bit_wire(chosen)


def _phase(build: Builder, phase: Wire, boot: Boot) -> Wire:
    """start, wait for the prompt to come back, load, rewind, run."""
    arrived = build.all_of(phase["wait"], boot.reading, label="arrived")
    still = negated(build.one_of(negated(phase["wait"]), arrived))
    rewinding = negated(build.one_of(negated(phase["rewind"]), boot.begin))
    return Wire(
        {
            "start": build.false,
            "wait": build.one_of(phase["start"], still, label="wait"),
            "load": boot.reading,
            "rewind": build.one_of(boot.over, rewinding, label="rewind"),
            "run": build.one_of(phase["run"], boot.begin, label="run"),
        }
    )


def _verdict(build: Builder, verdict: Wire, decided: Control) -> Wire:
    """Once given, a verdict stays."""
    ended = {
        name: build.one_of(verdict[name], decided.verdicts.get(name, build.false), label=name)
        for name in VERDICTS[1:]
    }
    return Wire({"run": negated(build.one_of(*ended.values(), label="ended")), **ended})


def bit_wire(bit: Literal) -> Wire:
    """A literal as a wire with the values 0 and 1."""
    return Wire({"0": negated(bit), "1": bit})
