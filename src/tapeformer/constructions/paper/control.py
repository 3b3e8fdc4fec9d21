"""The finite control: boot, the barrier that ends a step, the rules, and the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tapeformer.circuit.build import Builder, Wire, bit_wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.paper.clock import LevelClock
from tapeformer.constructions.paper.fields import Fields
from tapeformer.constructions.paper.lookup import TapeAction, lookup
from tapeformer.constructions.paper.view import Orders, StackView
from tapeformer.queues.verdicts import VERDICTS


@dataclass(frozen=True)
class Control:
    """What the control decides in the present step.

    `ready`: the barrier is open (all stacks done, nothing left to write, no verdict yet);
    `rewind`: the head of tape 1 goes one cell back towards the input's first symbol;
    `looking`: the next rule is looked up; `go`: one applies and fits.
    """

    phase: Wire
    boot: Literal
    hole: Literal
    load: Literal
    loaded: Literal
    ready: Literal
    rewind: Literal
    rewound: Literal
    looking: Literal
    go: Literal
    actions: tuple[TapeAction, ...]
    next_state: Mapping[str, Literal]
    verdicts: Mapping[str, Literal]


def control(
    build: Builder,
    fields: Fields,
    inputs: Mapping[str, Wire],
    views: Sequence[StackView],
    clocks: Sequence[LevelClock],
) -> Control:
    """Return all decisions of the control."""
    phase = inputs["phase"]
    boot, hole, load, loaded = _loading(build, fields, phase, views[0], clocks)
    ready = _ready(build, fields, inputs, views)
    found = lookup(build, fields, inputs, views)
    looking = build.all_of(
        ready, build.one_of(phase["begin"], phase["run"], label="begun"), label="looking"
    )
    over = build.all_of(looking, found.applies, negated(found.fits), label="out of space")
    stops = build.all_of(looking, negated(found.applies), label="no rule")
    verdicts = {
        v: build.all_of(stops, state, label=f"ends with {v}") for v, state in found.verdicts.items()
    }
    at_bottom = views[0].at_bottom
    return Control(
        phase=phase,
        boot=boot,
        hole=hole,
        load=load,
        loaded=loaded,
        ready=ready,
        rewind=build.all_of(ready, phase["rewind"], negated(at_bottom), label="rewind"),
        rewound=build.all_of(ready, phase["rewind"], at_bottom, label="rewound"),
        looking=looking,
        go=build.all_of(looking, found.applies, found.fits, label="go"),
        actions=found.actions,
        next_state=found.next_state,
        verdicts={**verdicts, "out_of_space": over},
    )


def orders_for(
    build: Builder, fields: Fields, decided: Control, view: StackView, inputs: Mapping[str, Wire]
) -> Orders:
    """Return what one stack is told: the rule's push or pop, or a step of the rewind, or how to boot."""
    stack, action = view.stack, decided.actions[view.stack.tape - 1]
    left = stack.side == "left"
    push, pop = (action.right, action.left) if left else (action.left, action.right)
    back_push, back_pop = build.false, build.false
    if stack.tape == 1:
        filled = negated(inputs["tape1/head"][fields.none])
        back_pop = decided.rewind if left else build.false
        back_push = build.false if left else build.all_of(decided.rewind, filled, label="rewind")
    here = stack.is_input
    return Orders(
        push=build.one_of(
            build.all_of(decided.go, push, label="rule pushes"), back_push, label="push"
        ),
        pop=build.one_of(build.all_of(decided.go, pop, label="rule pops"), back_pop, label="pop"),
        boot=decided.boot,
        hole=decided.hole if here else build.false,
        load=decided.load if here else build.false,
        loading=decided.phase["load"] if here else build.false,
    )


def control_outputs(
    build: Builder,
    fields: Fields,
    decided: Control,
    inputs: Mapping[str, Wire],
    views: Sequence[StackView],
    clocks: Sequence[LevelClock],
) -> Iterator[tuple[str, Wire]]:
    """Yield the new value of each register that belongs to no stack, by name."""
    state, following = inputs["state"], inputs["next"]
    start = fields.machine.start
    yield "phase", _phase(build, fields, decided)
    stops = [(guard, verdict) for verdict, guard in decided.verdicts.items()]
    held = [(inputs["verdict"][verdict], verdict) for verdict in VERDICTS[1:]]
    yield "verdict", build.select([*stops, *held], VERDICTS, "run", "verdict")
    yield "stepped", bit_wire(build.all_of(decided.ready, decided.phase["run"], label="stepped"))
    yield "state", build.hold(state, [(decided.looking, following)], start, "state")
    chosen = Wire(decided.next_state)
    yield "next", build.hold(following, [(decided.go, chosen)], start, "next")
    for number, clock in enumerate(clocks, 1):
        yield f"half{number}", clock.half_after
    for tape in range(1, fields.machine.tapes + 1):
        with build.scope(f"tape{tape}"):
            yield from _tape_outputs(build, fields, decided, inputs, views, tape)


def _loading(
    build: Builder,
    fields: Fields,
    phase: Wire,
    view: StackView,
    clocks: Sequence[LevelClock],
) -> tuple[Literal, Literal, Literal, Literal]:
    """Boot, hole, load, loaded: the bottom pops, the last block is filled, the POPs begin and end."""
    front = view.levels[-1].queues["L"]
    boot = build.all_of(phase["wait"], front[fields.bottom], label="boot")
    if fields.levels == 1:
        return boot, build.false, build.false, build.false
    block, turn = clocks[-2].mark, clocks[-1].mark
    real = build.one_of(*front.values(), label="input")
    over = build.any_of(negated(real), turn, label="input over")
    hole = build.all_of(phase["fill"], negated(real), negated(block), label="hole")
    load = build.all_of(phase["fill"], over, block, label="load")
    loaded = build.all_of(phase["load"], view.transfers[0].taken, label="loaded")
    return boot, hole, load, loaded


def _ready(
    build: Builder, fields: Fields, inputs: Mapping[str, Wire], views: Sequence[StackView]
) -> Literal:
    tapes = range(1, fields.machine.tapes + 1)
    written = (inputs[f"tape{tape}/write"][fields.none] for tape in tapes)
    done = (view.done for view in views)
    return build.all_of(inputs["verdict"]["run"], *written, *done, label="ready")


def _phase(build: Builder, fields: Fields, decided: Control) -> Wire:
    """wait, fill and load (with several levels), rewind, begin, run."""
    booted = "rewind" if fields.levels == 1 else "fill"
    begun = build.all_of(decided.phase["begin"], decided.ready, label="begins")
    cases = [
        (decided.boot, booted),
        (decided.load, "load"),
        (decided.loaded, "rewind"),
        (decided.rewound, "begin"),
        (begun, "run"),
    ]
    return build.hold(decided.phase, cases, "run", "phase")


def _tape_outputs(
    build: Builder,
    fields: Fields,
    decided: Control,
    inputs: Mapping[str, Wire],
    views: Sequence[StackView],
    tape: int,
) -> Iterator[tuple[str, Wire]]:
    """Yield the symbol under the head, and the symbol that is still to be written."""
    head, write = inputs[f"tape{tape}/head"], inputs[f"tape{tape}/write"]
    pair = views[2 * tape - 2 : 2 * tape]
    pushing = build.one_of(*(view.op["push"] for view in pair), label="pushing")
    stays = build.all_of(negated(write[fields.none]), negated(pushing), label="stays")
    pops = [(view.popped, _popped(build, fields, view)) for view in pair]
    rewound = [(decided.rewound, _begun(build, fields, head))] if tape == 1 else []
    otherwise = fields.none if tape == 1 else fields.blank
    cases = [*pops, (stays, write), *rewound]
    yield f"tape{tape}/head", build.hold(head, cases, otherwise, "head")
    waits = (
        build.all_of(v.op["push"], negated(v.pushed), label=f"{v.stack.side} push waits")
        for v in pair
    )
    kept = build.one_of(*waits, label="to write")
    action = decided.actions[tape - 1].write
    orders = [(decided.go, Wire(action)), (kept, write)]
    if tape == 1:
        orders.append((decided.rewind, head))
    yield f"tape{tape}/write", build.select(orders, write.values, fields.none, "write")


def _popped(build: Builder, fields: Fields, view: StackView) -> Wire:
    """Return what a pop brings to the head: at the bottom a blank, from a hole nothing."""
    cell = view.levels[0].cell
    blank = build.one_of(
        cell[fields.blank], cell[fields.bottom], label=f"{view.stack.side} gives a blank"
    )
    symbols = fields.symbols(view.stack.tape)
    return Wire({**{s: cell[s] for s in symbols}, fields.blank: blank})


def _begun(build: Builder, fields: Fields, head: Wire) -> Wire:
    """Return the head after the rewind: on the input's first symbol, or on a blank if there is none."""
    blank = build.one_of(head[fields.none], head[fields.blank], label="begins on a blank")
    return Wire({**{s: head[s] for s in fields.symbols(1)}, fields.blank: blank})
