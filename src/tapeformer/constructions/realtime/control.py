"""The finite control: the prompt, rewinding, one step of the Turing machine, the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tapeformer.circuit.build import Builder, Wire, bit_wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.reach import verdict_of
from tapeformer.constructions.realtime.boot import Boot, phase_after
from tapeformer.constructions.realtime.boot import boot as make_boot
from tapeformer.constructions.realtime.code import SOME, Cell
from tapeformer.constructions.realtime.column import StackOrder, merged
from tapeformer.constructions.realtime.fields import Fields
from tapeformer.constructions.realtime.lookup import Fired, TapeAction, TapeView, fired, stops
from tapeformer.constructions.realtime.names import bit_names
from tapeformer.constructions.realtime.open_lookup import open_fired, open_stops
from tapeformer.machine.record import Move
from tapeformer.queues.verdicts import VERDICTS


@dataclass(frozen=True)
class Control:
    """What the control decides in the present step."""

    boot: Boot
    fired: Fired
    heads: tuple[Cell, ...]
    verdicts: Mapping[str, Literal]


def control(
    build: Builder, fields: Fields, inputs: Mapping[str, Wire], views: tuple[TapeView, ...]
) -> Control:
    """Return all decisions of the control."""
    boot = make_boot(build, fields, inputs, views[0])
    on = build.all_of(inputs["phase"]["run"], inputs["verdict"]["run"], label="on")
    running = build.one_of(on, boot.begin, label="running")
    if fields.open_table:
        rule = open_fired(build, fields, inputs, views[0], running)
    else:
        rule = fired(build, fields, inputs["state"], views, running)
    heads = tuple(
        _head(build, fields, view, action, rule.fire, boot if tape == 1 else None, tape)
        for tape, (view, action) in enumerate(zip(views, rule.actions, strict=True), 1)
    )
    if fields.open_table:
        ended = open_stops(build, fields, inputs, rule.arrived, heads[0])
    else:
        ended = stops(build, fields, rule.arrived, heads)
    idle = build.all_of(boot.begin, negated(rule.applies), label="no first step")
    first = verdict_of(fields.machine, fields.machine.start)
    ended[first] = build.one_of(ended.get(first, build.false), idle, label=f"now {first}")
    return Control(boot, rule, heads, {**ended, "out_of_space": rule.refused})


def _head(
    build: Builder,
    fields: Fields,
    view: TapeView,
    action: TapeAction,
    fire: Literal,
    boot: Boot | None,
    tape: int,
) -> Cell:
    """Return the symbol under the head: popped, written and left there, or as it was."""
    booting = [boot.over, boot.back] if boot else []
    left_bottom = None if fields.bounded else fields.blank
    name = f"tape{tape} head"
    moved = build.one_of(fire, *booting, label=f"{name} moved")
    left, right = action.moves[Move.LEFT], action.moves[Move.RIGHT]
    cells = [
        _popped(build, fields, view, view.left_top, left, left_bottom, f"{name} from left"),
        _popped(build, fields, view, view.right_top, right, fields.blank, f"{name} from right"),
        {plane: action.writes[Move.STAY][plane] for plane in view.head},
        {
            p: build.all_of(b, negated(moved), label=f"{name} kept={p}")
            for p, b in view.head.items()
        },
    ]
    if booting:
        back = build.one_of(*booting, label="booting")
        label = f"{name} rewound"
        cells.append(_popped(build, fields, view, view.left_top, back, fields.blank, label))
    if fields.bounded:
        written = ((plane, action.writes[Move.LEFT][plane]) for plane in view.head)
        label = f"{name} stays at end"
        cells.append({p: build.all_of(b, view.at_end, label=f"{label}={p}") for p, b in written})
    return merged(build, cells, name)


def _popped(
    build: Builder,
    fields: Fields,
    view: TapeView,
    top: Cell,
    pop: Literal,
    bottom_reads: str | None,
    label: str,
) -> Cell:
    """Return what a pop brings under the head; the bottom may read as a symbol, or as nothing."""
    cell = {p: build.all_of(top[p], pop, label=f"{label}={p}") for p in view.head}
    for plane in view.code.planes(bottom_reads).intersection(cell) if bottom_reads else ():
        end = build.all_of(top[fields.bottom], pop, label=f"{label} end")
        cell[plane] = build.one_of(cell[plane], end, label=f"{label} or end={plane}")
    return cell


def orders(
    build: Builder, fields: Fields, decided: Control, views: tuple[TapeView, ...]
) -> Iterator[StackOrder]:
    """Yield what each stack is told, left and right of tape 1, of tape 2, ..."""
    for tape, (view, action) in enumerate(zip(views, decided.fired.actions, strict=True)):
        back = action.writes[Move.LEFT]
        if fields.bounded:
            back = {
                p: build.all_of(bit, negated(view.at_end), label=f"tape{tape + 1}.right push={p}")
                for p, bit in back.items()
            }
        left = StackOrder(action.moves[Move.LEFT], action.writes[Move.RIGHT])
        right = StackOrder(action.moves[Move.RIGHT], back)
        yield _booting_left(build, left, decided.boot) if tape == 0 else left
        yield _booting_right(build, right, decided.boot, view) if tape == 0 else right


def _booting_left(build: Builder, order: StackOrder, boot: Boot) -> StackOrder:
    """Let the input's stack also receive the prompt, and give it to the head again."""
    pop = build.one_of(order.pop, boot.over, boot.back, label="tape1.left pop or rewind")
    return StackOrder(pop, merged(build, [order.push, boot.symbol], "tape1.left push or load"))


def _booting_right(build: Builder, order: StackOrder, boot: Boot, view: TapeView) -> StackOrder:
    """Let the rewind push the head's symbol to the right."""
    head = view.head.items()
    back: Cell = {p: build.all_of(b, boot.back, label=f"rewind={p}") for p, b in head}
    some: Cell = {SOME: boot.back} if view.code.bits else {}
    return StackOrder(
        order.pop, merged(build, [order.push, back, some], "tape1.right push or rewind")
    )


def control_outputs(
    build: Builder, fields: Fields, decided: Control, inputs: Mapping[str, Wire]
) -> Iterator[tuple[str, Wire]]:
    """Yield the new value of each register that belongs to no level and no stack, by name."""
    state, boot, fire = inputs["state"], decided.boot, decided.fired.fire
    kept = {q: build.all_of(state[q], negated(fire), label=f"stays in {q}") for q in state.values}
    yield "phase", phase_after(build, inputs["phase"], boot)
    yield "verdict", verdict_after(build, inputs["verdict"], decided.verdicts)
    yield "stepped", bit_wire(fire)
    yield "state", Wire(merged(build, [decided.fired.arrived, kept], "state"))
    for tape, head in zip(fields.tapes, decided.heads, strict=True):
        yield from _head_outputs(fields, tape, head)
    for level, chosen in boot.chosen.items():
        yield f"load{level}", bit_wire(chosen)


def _head_outputs(fields: Fields, tape: int, head: Cell) -> Iterator[tuple[str, Wire]]:
    code, name = fields.code(tape), f"tape{tape}/head"
    if code.bits:
        names = enumerate(bit_names(name, code))
        yield from ((bit_name, bit_wire(head[number])) for number, bit_name in names)
    else:
        yield name, Wire({symbol: head[symbol] for symbol in code.symbols})


def verdict_after(build: Builder, verdict: Wire, found: Mapping[str, Literal]) -> Wire:
    """Once given, a verdict stays."""
    ended = {
        name: build.one_of(verdict[name], found.get(name, build.false), label=f"new verdict={name}")
        for name in VERDICTS[1:]
    }
    return Wire({"run": negated(build.one_of(*ended.values(), label="ended")), **ended})
