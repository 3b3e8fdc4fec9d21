"""The one-queue baseline: a one-tape machine as a Post machine (the row above ours in Table 1).

The queue and two cells in the control (`before`, `here`) are the tape as a ring. Each step pops
`next`, works on `here` if the head is there, appends `before` and moves on by one cell. A right
move costs one step; a left move or a stay waits for the ring to come round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.record import Circuit, Literal
from tapeformer.circuit.simplify import simplify
from tapeformer.constructions.post.cells import CellBits, Cells, cells_of, read_cell, write_cell
from tapeformer.constructions.post.layout import NAME, check
from tapeformer.constructions.reach import live_rules, rule_numbers, verdict_of
from tapeformer.machine.record import Move, Rule, TapeKind, TuringMachine
from tapeformer.queues.record import Queue, QueueMachine, Register
from tapeformer.queues.verdicts import VERDICTS

Met = list[tuple[Literal, Rule]]


def queue_machine(machine: TuringMachine, levels: int = 1) -> QueueMachine:
    """Return the one-queue machine of a one-tape Turing machine."""
    check(levels)
    cells = cells_of(machine)
    queues = (Queue("ring", (*cells.names, cells.bottom), cells.free, "ring"),)
    registers = _registers(machine, cells)
    return QueueMachine(
        name=machine.name,
        construction=NAME,
        queues=queues,
        registers=registers,
        step=_step_circuit(machine, cells, queues[0], registers),
        prompt_queue="ring",
        prompt_start=cells.bottom,
        prompt_symbols={s: s for s in machine.symbols if s in machine.word_symbols},
        reading={
            "construction": NAME,
            "blank": machine.blank,
            "free": cells.free,
            "bottom": cells.bottom,
            "first": cells.first,
            "head": cells.head,
            "factors": ["ring", *(register.name for register in registers)],
        },
    )


def _registers(machine: TuringMachine, cells: Cells) -> tuple[Register, ...]:
    return (
        Register("phase", ("wait", "first", "run"), "wait"),
        Register("verdict", VERDICTS, "run"),
        Register("stepped", ("0", "1"), "0"),
        Register("state", machine.states, machine.start),
        Register("before", cells.names, cells.free),
        Register("here", cells.names, cells.free),
    )


@dataclass(frozen=True)
class QueueRing:
    """Three neighbouring cells, and the rule that applies in the middle one.

    `moves` are the moves that are made; one is refused (`over`) where no free cell is left.
    """

    before: CellBits
    here: CellBits
    following: CellBits
    looking: Literal
    met: Met
    moves: Mapping[Move, Literal]
    over: Literal


def _step_circuit(
    machine: TuringMachine, cells: Cells, queue: Queue, registers: tuple[Register, ...]
) -> Circuit:
    build = Builder()
    inputs = {queue.name: build.input(queue.name, queue.alphabet)}
    inputs |= {
        register.name: build.input(register.name, register.alphabet) for register in registers
    }
    ring = _ring(build, machine, cells, inputs)
    after = _after(build, machine, ring, inputs["phase"])
    outputs = {
        name: write_cell(build, cells, cell, f"new {name}")
        for name, cell in zip(("ring", "before", "here"), after, strict=True)
    }
    with build.scope("control"):
        outputs |= _control(build, machine, ring, inputs)
    bottom = {cells.bottom: build.false}
    outputs["ring"] = Wire({**outputs["ring"].literals, **bottom})
    for name, wire in inputs.items():
        build.output(name, Wire({value: outputs[name][value] for value in wire.values}))
    return simplify(build.circuit())


def _ring(
    build: Builder, machine: TuringMachine, cells: Cells, inputs: Mapping[str, Wire]
) -> QueueRing:
    names = ("before", "here", "ring")
    before, here, following = (read_cell(build, cells, inputs[name], name) for name in names)
    looking = build.all_of(inputs["verdict"]["run"], here.head, label="looking")
    numbers = rule_numbers(machine)
    met = [
        (_met(build, looking, inputs["state"], here, rule, numbers[rule.state, rule.read]), rule)
        for rule in live_rules(machine)
    ]
    wanted = {
        move: build.one_of(*_where(met, moves=move), label=f"wants {move.name}") for move in Move
    }
    at_end = build.all_of(wanted[Move.LEFT], here.first, label="left of the first")
    bounded = machine.tape_kind is TapeKind.ONE_WAY
    no_left = (
        build.false if bounded else build.all_of(at_end, negated(before.free), label="no cell")
    )
    over = build.one_of(
        build.all_of(wanted[Move.RIGHT], following.first, label="ring full"), no_left, label="over"
    )
    stays = build.one_of(wanted[Move.STAY], at_end if bounded else build.false, label="moves STAY")
    left = build.all_of(
        wanted[Move.LEFT], negated(at_end if bounded else no_left), label="moves LEFT"
    )
    right = build.all_of(wanted[Move.RIGHT], negated(following.first), label="moves RIGHT")
    moves = {Move.LEFT: left, Move.STAY: stays, Move.RIGHT: right}
    return QueueRing(before, here, following, looking, met, moves, over)


def _met(
    build: Builder, looking: Literal, state: Wire, here: CellBits, rule: Rule, number: int
) -> Literal:
    """Return whether the state and the symbol under the head are those of a rule."""
    tests = (looking, state[rule.state], here.symbol[rule.read[0]])
    label = f"applies in {rule.state} {rule.read[0]}"
    return build.all_of(*tests, label=label, rules=[number])


def _writes(build: Builder, ring: QueueRing, symbol: str) -> Literal:
    return build.one_of(*_where(ring.met, write=symbol), label=f"writes {symbol}")


def _where(met: Met, **wanted: object) -> list[Literal]:
    """Return the rules with a given move or written symbol, as literals."""
    move, write = wanted.get("moves"), wanted.get("write")
    return [
        literal
        for literal, rule in met
        if (move is None or rule.moves[0] is move) and (write is None or rule.write[0] == write)
    ]


def _after(
    build: Builder, machine: TuringMachine, ring: QueueRing, phase: Wire
) -> tuple[CellBits, CellBits, CellBits]:
    """Return the three cells after the step."""
    here, left, right = ring.here, ring.moves[Move.LEFT], ring.moves[Move.RIGHT]
    done = build.one_of(*ring.moves.values(), label="done")
    written = {
        symbol: build.one_of(
            build.all_of(_writes(build, ring, symbol), done, label=f"write {symbol}"),
            build.all_of(literal, negated(done), label=f"keep {symbol}"),
            label=f"written {symbol}",
        )
        for symbol, literal in here.symbol.items()
    }
    grows = build.all_of(left, here.first, label="new first")
    middle = CellBits(
        symbol=written,
        first=build.all_of(here.first, negated(grows), label="here is first"),
        head=build.all_of(here.head, negated(left), negated(right), label="here has the head"),
        free=here.free,
    )
    before = _entered(build, machine, ring.before, left, grows, "before")
    boots = phase["first"]
    enters = build.one_of(right, boots, label="enters")
    return before, middle, _entered(build, machine, ring.following, enters, boots, "next")


def _entered(
    build: Builder,
    machine: TuringMachine,
    cell: CellBits,
    enters: Literal,
    first: Literal,
    name: str,
) -> CellBits:
    """Return a neighbour that the head may enter: a free cell becomes a blank one."""
    taken = build.all_of(enters, cell.free, label=f"{name} is taken")
    blank = build.one_of(cell.symbol[machine.blank], taken, label=f"{name} is blank")
    return replace(
        cell,
        symbol={**cell.symbol, machine.blank: blank},
        first=build.one_of(cell.first, first, label=f"{name} is first"),
        head=build.one_of(cell.head, enters, label=f"{name} has the head"),
        free=build.all_of(cell.free, negated(enters), label=f"{name} is free"),
    )


def _control(
    build: Builder, machine: TuringMachine, ring: QueueRing, inputs: Mapping[str, Wire]
) -> dict[str, Wire]:
    """Phase, state, verdict: the verdict looks at the new state and the new symbol at once."""
    phase, state = inputs["phase"], inputs["state"]
    done = build.one_of(*ring.moves.values(), label="done")
    states = {
        name: build.one_of(
            *(m for m, rule in ring.met if rule.next_state == name), label=f"to {name}"
        )
        for name in machine.states
    }
    waiting = build.all_of(phase["wait"], negated(_bottom(inputs)), label="waiting")
    booted = build.all_of(phase["wait"], _bottom(inputs), label="booted")
    cases = [(waiting, "wait"), (booted, "first")]
    return {
        "phase": build.select(cases, phase.values, "run", "phase"),
        "verdict": _verdict(build, machine, ring, inputs, states, done),
        "stepped": Wire({"0": negated(done), "1": done}),
        "state": build.hold(state, [(done, Wire(states))], machine.start, "state"),
    }


def _bottom(inputs: Mapping[str, Wire]) -> Literal:
    return list(inputs["ring"].literals.values())[-1]


def _verdict(
    build: Builder,
    machine: TuringMachine,
    ring: QueueRing,
    inputs: Mapping[str, Wire],
    states: Mapping[str, Literal],
    done: Literal,
) -> Wire:
    """Stopped before the first step, after this one, or for want of a free cell."""
    symbols = _arrival(build, machine, ring)
    applies = build.one_of(*(literal for literal, _ in ring.met), label="applies")
    unmoved = build.all_of(ring.looking, negated(applies), label="no rule at the start")
    stops: dict[str, list[Literal]] = {verdict: [] for verdict in VERDICTS[1:]}
    for name in machine.states:
        verdict = verdict_of(machine, name)
        stops[verdict].append(
            build.all_of(unmoved, inputs["state"][name], label=f"starts in {name}")
        )
        ends = _stopping_symbols(build, machine, name, symbols)
        stops[verdict].append(build.all_of(states[name], done, ends, label=f"stops in {name}"))
    stops["out_of_space"].append(ring.over)
    held = [(inputs["verdict"][verdict], verdict) for verdict in VERDICTS[1:]]
    found = [(build.one_of(*ends, label=f"ends with {v}"), v) for v, ends in stops.items()]
    return build.select([*found, *held], VERDICTS, "run", "verdict")


def _stopping_symbols(
    build: Builder, machine: TuringMachine, state: str, symbols: Mapping[str, Literal]
) -> Literal:
    if state in machine.stopping:
        return build.true
    without = [s for s in symbols if (state, (s,)) not in machine.rule_for]
    return build.one_of(*(symbols[symbol] for symbol in without), label=f"no rule in {state}")


def _arrival(build: Builder, machine: TuringMachine, ring: QueueRing) -> dict[str, Literal]:
    """Return the symbol that the head reads after the step."""
    stays = ring.moves[Move.STAY]
    sources = [(Move.LEFT, ring.before), (Move.RIGHT, ring.following)]
    found = {}
    for symbol in ring.here.symbol:
        writes = _writes(build, ring, symbol)
        terms = [build.all_of(writes, stays, label=f"stays on {symbol}")]
        for move, cell in sources:
            free = [cell.free] if symbol == machine.blank else []
            there = build.one_of(cell.symbol[symbol], *free, label=f"{symbol} is {move.name}")
            came = build.all_of(ring.moves[move], there, label=f"{move.name} to {symbol}")
            terms.append(came)
        found[symbol] = build.one_of(*terms, label=f"reads {symbol}")
    return found
