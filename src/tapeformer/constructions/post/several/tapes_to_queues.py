"""The one-queue baseline for k tapes: one turn of the ring makes one step on every tape.

The queue and two cells in the control (`before`, `here`) are all tapes, as a ring. Each token pops
the next cell, works on `here`, appends `before` and moves on by one cell. The symbols that the heads
read are in the control (`read`), so the rule of a step is known in all of its tokens. A head acts
when it comes by: it writes, moves, and keeps what it reads now (`next`). When the last has acted, the
step is complete. So a step takes at most one turn, and one token where all heads go right together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.record import Circuit, Literal
from tapeformer.circuit.simplify import simplify
from tapeformer.constructions.post.layout import NAME, check
from tapeformer.constructions.post.several.acts import MADE, Act, Met, Window, act_of, after
from tapeformer.constructions.post.several.cells import Tracks, read_cell, tracks_of, write_cell
from tapeformer.constructions.post.several.names import BEFORE, HERE, NOT_YET, RING, track
from tapeformer.constructions.reach import live_rules, rule_numbers, verdict_of
from tapeformer.machine.record import TuringMachine
from tapeformer.queues.record import QueueMachine, Register
from tapeformer.queues.verdicts import VERDICTS


def queue_machine(machine: TuringMachine, levels: int = 1) -> QueueMachine:
    """Return the one-queue machine of a Turing machine with any number of tapes."""
    check(levels)
    tracks = tracks_of(machine)
    queues, registers = tracks.queues(), _registers(machine, tracks)
    names = [*(queue.name for queue in queues), *(register.name for register in registers)]
    return QueueMachine(
        name=machine.name,
        construction=NAME,
        queues=queues,
        registers=registers,
        step=_step_circuit(machine, tracks, registers),
        prompt_queue=track(RING, 0),
        prompt_start=tracks.bottom,
        prompt_symbols={s: s for s in machine.symbols if s in machine.word_symbols},
        reading={
            "construction": NAME,
            "tapes": machine.tapes,
            "blank": machine.blank,
            "free": tracks.free,
            "bottom": tracks.bottom,
            "head": tracks.head,
            "factors": names,
        },
    )


def _registers(machine: TuringMachine, tracks: Tracks) -> tuple[Register, ...]:
    tapes = range(machine.tapes)
    return (
        Register("phase", ("wait", "first", "run"), "wait"),
        Register("verdict", VERDICTS, "run"),
        Register("stepped", ("0", "1"), "0"),
        Register("state", machine.states, machine.start),
        *(Register(track("read", tape), tracks.symbols[tape], machine.blank) for tape in tapes),
        *(Register(track("next", tape), tracks.symbols[tape], machine.blank) for tape in tapes),
        *(Register(track("done", tape), (NOT_YET, *MADE.values()), NOT_YET) for tape in tapes),
        *tracks.registers(BEFORE),
        *tracks.registers(HERE),
    )


def _step_circuit(machine: TuringMachine, tracks: Tracks, registers: Sequence[Register]) -> Circuit:
    build = Builder()
    inputs = {queue.name: build.input(queue.name, queue.alphabet) for queue in tracks.queues()}
    inputs |= {r.name: build.input(r.name, r.alphabet) for r in registers}
    met = _rules_met(build, machine, inputs)
    before, here, following = (
        read_cell(build, tracks, inputs, place) for place in (BEFORE, HERE, RING)
    )
    window = Window(before, here, following, met)
    acts = []
    for tape in range(machine.tapes):
        with build.scope(f"tape {tape + 1}"):
            acts.append(act_of(build, machine, window, tape, inputs[track("done", tape)]))
    with build.scope("control"):
        outputs = _control(build, machine, window, tuple(acts), inputs)
    moved = after(build, window, tuple(acts), inputs["phase"]["first"])
    for place, cell in zip((RING, BEFORE, HERE), moved, strict=True):
        outputs |= write_cell(build, tracks, cell, place)
    for name, wire in inputs.items():
        literals = {**dict.fromkeys(wire.values, build.false), **outputs[name].literals}
        build.output(name, Wire(literals))
    return simplify(build.circuit())


def _rules_met(build: Builder, machine: TuringMachine, inputs: Mapping[str, Wire]) -> Met:
    """Return the rule of this step: the symbols read do not change until it is complete."""
    running = build.all_of(inputs["phase"]["run"], inputs["verdict"]["run"], label="running")
    numbers = rule_numbers(machine)
    return [
        (
            build.all_of(
                running,
                inputs["state"][rule.state],
                *(inputs[track("read", tape)][symbol] for tape, symbol in enumerate(rule.read)),
                label=f"applies in {rule.state} {' '.join(rule.read)}",
                rules=[numbers[rule.state, rule.read]],
            ),
            rule,
        )
        for rule in live_rules(machine)
    ]


def _control(
    build: Builder,
    machine: TuringMachine,
    window: Window,
    acts: tuple[Act, ...],
    inputs: Mapping[str, Wire],
) -> dict[str, Wire]:
    """Phase, state, verdict, and for each tape what was read, what is read next, what was done."""
    phase = inputs["phase"]
    done = [inputs[track("done", tape)] for tape in range(machine.tapes)]
    acted = [
        build.one_of(negated(before[NOT_YET]), act.made, label="has acted")
        for before, act in zip(done, acts, strict=True)
    ]
    complete = build.all_of(*acted, label="complete")
    outputs: dict[str, Wire] = {}
    following = []
    for tape, act in enumerate(acts):
        read, seen = inputs[track("read", tape)], inputs[track("next", tape)]
        now = build.hold(seen, [(act.made, Wire(act.arrival))], machine.blank, "next")
        loaded = Wire(window.following.symbols[tape])
        cases = [(phase["first"], loaded), (complete, now)]
        outputs[track("next", tape)] = now
        outputs[track("read", tape)] = build.hold(read, cases, machine.blank, "read")
        outputs[track("done", tape)] = _done(build, done[tape], act, complete)
        following.append(now)
    states = {
        name: build.one_of(*(m for m, r in window.met if r.next_state == name), label=f"to {name}")
        for name in machine.states
    }
    cases_of_state = [(complete, Wire(states))]
    return outputs | {
        "phase": _phase(build, inputs),
        "stepped": Wire({"0": negated(complete), "1": complete}),
        "state": build.hold(inputs["state"], cases_of_state, machine.start, "state"),
        "verdict": _verdict(build, machine, window, acts, inputs, states, complete, following),
    }


def _done(build: Builder, before: Wire, act: Act, complete: Literal) -> Wire:
    """Return the move that a tape has made in this step; none when the step is complete."""
    cases = [
        (
            build.all_of(
                build.one_of(act.moves[move], before[name], label=f"made {name}"),
                negated(complete),
                label=f"keeps {name}",
            ),
            name,
        )
        for move, name in MADE.items()
    ]
    return build.select(cases, before.values, NOT_YET, "done")


def _phase(build: Builder, inputs: Mapping[str, Wire]) -> Wire:
    """Wait for the bottom; the cell after it is the first one."""
    phase, bottom = inputs["phase"], list(inputs[track(RING, 0)].literals.values())[-1]
    waiting = build.all_of(phase["wait"], negated(bottom), label="waiting")
    booted = build.all_of(phase["wait"], bottom, label="booted")
    return build.select([(waiting, "wait"), (booted, "first")], phase.values, "run", "phase")


def _verdict(
    build: Builder,
    machine: TuringMachine,
    window: Window,
    acts: tuple[Act, ...],
    inputs: Mapping[str, Wire],
    states: Mapping[str, Literal],
    complete: Literal,
    following: Sequence[Wire],
) -> Wire:
    """Stopped before the first step, after this one, or for want of a free cell."""
    running = build.all_of(inputs["phase"]["run"], inputs["verdict"]["run"], label="running")
    applies = build.one_of(*(literal for literal, _ in window.met), label="applies")
    unmoved = build.all_of(running, negated(applies), label="no rule at the start")
    stops: dict[str, list[Literal]] = {verdict: [] for verdict in VERDICTS[1:]}
    for name in machine.states:
        ends = build.all_of(
            states[name],
            complete,
            _stuck(build, machine, name, following),
            label=f"stops in {name}",
        )
        starts = build.all_of(unmoved, inputs["state"][name], label=f"starts in {name}")
        stops[verdict_of(machine, name)] += [starts, ends]
    stops["out_of_space"].append(build.any_of(*(act.over for act in acts), label="over"))
    held = [(inputs["verdict"][verdict], verdict) for verdict in VERDICTS[1:]]
    found = [(build.one_of(*ends, label=f"ends with {v}"), v) for v, ends in stops.items()]
    return build.select([*found, *held], VERDICTS, "run", "verdict")


def _stuck(
    build: Builder, machine: TuringMachine, state: str, following: Sequence[Wire]
) -> Literal:
    """Return whether the machine stops in a state with the symbols that its heads read now."""
    if state in machine.stopping:
        return build.true
    rules = [
        build.all_of(*(wire[s] for wire, s in zip(following, rule.read, strict=True)))
        for rule in live_rules(machine)
        if rule.state == state
    ]
    return negated(build.one_of(*rules, label=f"a rule in {state}"))
