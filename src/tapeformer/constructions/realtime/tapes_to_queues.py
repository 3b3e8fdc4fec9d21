"""From a k-tape Turing machine to the synchronous queue machine that makes steps in every token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tapeformer.circuit.build import Builder, Wire, bit_wire, negated
from tapeformer.circuit.record import Circuit, Literal
from tapeformer.circuit.simplify import simplify
from tapeformer.constructions.open_table import table_constants, table_entries
from tapeformer.constructions.realtime.code import Cell
from tapeformer.constructions.realtime.column import (
    Column,
    Operation,
    StackOrder,
    column_of,
    put,
    shifted,
    top_cells,
    wires_of,
    without,
)
from tapeformer.constructions.realtime.control import control, control_outputs, orders
from tapeformer.constructions.realtime.fields import Fields
from tapeformer.constructions.realtime.layout import NAME, check_levels
from tapeformer.constructions.realtime.level import (
    LevelClock,
    StackView,
    decide,
    full_after,
    level_clock,
    level_view,
    move,
)
from tapeformer.constructions.realtime.lookup import TapeView, head_of, tape_view
from tapeformer.constructions.realtime.names import HIGH, NO_MARK, Stack
from tapeformer.constructions.realtime.speedup.control import several_steps
from tapeformer.machine.record import TuringMachine
from tapeformer.queues.record import QueueMachine


def queue_machine(
    machine: TuringMachine, levels: int, steps: int = 1, open_table: bool = False
) -> QueueMachine:
    """Return the queue machine of a Turing machine; it depends on levels and steps, not on the base."""
    check_levels(levels)
    fields = Fields(machine, levels, steps, open_table)
    first, *copies = fields.input_queues()
    return QueueMachine(
        name=machine.name,
        construction=NAME,
        queues=fields.queues(),
        registers=fields.registers(),
        step=step_circuit(fields),
        prompt_queue=first,
        prompt_start=fields.bottom,
        prompt_symbols={symbol: symbol for symbol in fields.prompt_symbols},
        reading=reading(fields),
        prompt_copies=tuple(copies),
        grow="grow",
        loading=("phase", ("start", "wait", "load")),
        constants=table_constants(table_entries(machine), machine) if open_table else {},
    )


def reading(fields: Fields) -> dict[str, object]:
    """Return what the decoder must know, as plain data."""
    codes = [fields.code(tape) for tape in fields.tapes]
    names = [queue.name for queue in fields.queues()]
    names += [register.name for register in fields.registers()]
    several = {"steps_per_token": fields.steps} if fields.steps > 1 else {}
    return {
        **several,
        "construction": NAME,
        "tapes": fields.machine.tapes,
        "levels": fields.levels,
        "blank": fields.blank,
        "dummy": fields.dummy,
        "bottom": fields.bottom,
        "coded": [[] if code.one_hot else list(code.symbols) for code in codes],
        "factors": names,
    }


def step_circuit(fields: Fields) -> Circuit:
    """Return one step of the clock, all levels of all stacks, and the control."""
    build = Builder()
    inputs = {queue.name: build.input(queue.name, queue.alphabet) for queue in fields.queues()}
    inputs |= {r.name: build.input(r.name, r.alphabet) for r in fields.registers()}
    table = {port: build.input(port, values) for port, values in fields.constants.items()}
    clocks = _clocks(build, fields, inputs)
    views = [_stack_view(fields, stack, clocks, inputs) for stack in fields.stacks]
    controlled = _one_step if fields.steps == 1 else several_steps
    decided, told = controlled(build, fields, inputs | table, views)
    outputs = {"grow": bit_wire(_grow(build, views))}
    outputs |= {**dict(_clock_outputs(build, fields, clocks, views, inputs)), **decided}
    for view, order in zip(views, told, strict=True):
        with build.scope(view.stack.name):
            outputs |= _stack_outputs(build, fields, view, order)
    for name, wire in inputs.items():
        build.output(name, Wire({value: outputs[name][value] for value in wire.values}))
    return simplify(build.circuit())


def _one_step(
    build: Builder, fields: Fields, inputs: Mapping[str, Wire], views: Sequence[StackView]
) -> tuple[dict[str, Wire], list[StackOrder]]:
    """Return the control that makes a step in every token: its registers, and what each stack is told."""
    tapes = tuple(_tape(build, fields, views, inputs, number) for number in fields.tapes)
    with build.scope("control"):
        decided = control(build, fields, inputs, tapes)
        outputs = dict(control_outputs(build, fields, decided, inputs))
        return outputs, list(orders(build, fields, decided, tapes))


def _clocks(build: Builder, fields: Fields, inputs: Mapping[str, Wire]) -> tuple[LevelClock, ...]:
    """Level i's block boundaries are where level i-1 is at position 0; level 0 always is."""
    found = []
    boundary = build.true
    for number in range(1, fields.levels + 1):
        found.append(level_clock(fields.stacks[0], number, inputs, boundary))
        boundary = found[-1].mark
    return tuple(found)


def _stack_view(
    fields: Fields, stack: Stack, clocks: Sequence[LevelClock], inputs: Mapping[str, Wire]
) -> StackView:
    top = below = column_of(inputs, stack.top, fields.code(stack.tape), fields.dummy)
    levels = []
    for clock in clocks:
        levels.append(level_view(fields, stack, clock, inputs, below))
        below = levels[-1].previous
    return StackView(stack, top, tuple(levels))


def _tape(
    build: Builder,
    fields: Fields,
    views: Sequence[StackView],
    inputs: Mapping[str, Wire],
    number: int,
) -> TapeView:
    left, right = views[2 * number - 2 : 2 * number]
    full = (left.levels[0].full, right.levels[0].full)
    head = head_of(fields, inputs, number)
    with build.scope(f"tape{number}"):
        return tape_view(build, fields, number, (left.top, right.top), full, head)


def _grow(build: Builder, views: Sequence[StackView]) -> Literal:
    """Return whether a level above the highest would start now."""
    highest = [view.levels[-1] for view in views]
    high = build.any_of(*(level.previous[HIGH - 1].filled for level in highest), label="high")
    return build.all_of(highest[0].clock.mark, high, label="grow")


def _clock_outputs(
    build: Builder,
    fields: Fields,
    clocks: Sequence[LevelClock],
    views: Sequence[StackView],
    inputs: Mapping[str, Wire],
) -> Iterator[tuple[str, Wire]]:
    """Send the marks round; a level starts, at position 0, when a stack first has units for it."""
    stack = fields.stacks[0]
    for number, clock in enumerate(clocks, 1):
        with build.scope(f"clock/level{number}"):
            high = [view.levels[number - 1].below_high for view in views]
            wanted = build.any_of(*high, label="wanted")
            starts = build.all_of(clock.boundary, negated(clock.started), wanted, label="starts")
            started = build.one_of(clock.started, starts, label="started")
            mark = build.one_of(clock.mark, starts, label="mark")
            between = negated(build.one_of(mark, negated(started), label="mark or not started"))
        yield f"started{number}", bit_wire(started)
        if number > 1:
            yield (
                stack.input(number),
                build.constant(fields.dummy, inputs[stack.input(number)].values),
            )
        yield stack.mark("main", number), inputs[stack.mark("delay", number)]
        marks = Wire({NO_MARK: negated(started), "0": between, "1": mark})
        yield stack.mark("delay", number), marks


def _stack_outputs(
    build: Builder, fields: Fields, view: StackView, order: StackOrder
) -> Iterator[tuple[str, Wire]]:
    """Yield all levels from the highest down, each handing the pulled cell to the next; then level 0."""
    stack, ops = view.stack, _operations(build, view)
    code = fields.code(stack.tape)
    pulled: Cell = {}
    above_full = build.true
    for number in range(len(view.levels), 0, -1):
        level = view.levels[number - 1]
        below = view.levels[number - 2].current if number > 1 else view.top
        with build.scope(f"level{number}"):
            lowest = below[0].cell
            moved = move(build, level, ops[number], ops[number + 1], pulled, lowest)
            full = full_after(build, level, above_full)
        pulled, above_full = moved.down, level.full
        yield from wires_of(moved.main, stack.tracks("main", number), code, fields.dummy)
        yield from wires_of(moved.delay, stack.tracks("delay", number), code, fields.dummy)
        yield stack.register(f"op{number}"), _operation_wire(ops[number])
        yield stack.register(f"full{number}"), bit_wire(full)
    with build.scope("level0"):
        top = _top_after(build, fields, view, ops[1], pulled, order)
    yield from wires_of(top, stack.top, code, fields.dummy)


def _operations(build: Builder, view: StackView) -> dict[int, Operation]:
    """Return the new operation of each level; above the highest nothing moves."""
    idle = Operation(build.false, build.false, build.true)
    ops = {len(view.levels) + 1: idle}
    above = idle
    for number in range(len(view.levels), 0, -1):
        level = view.levels[number - 1]
        with build.scope(f"level{number}"):
            ops[number] = decide(build, level, above)
        above = level.op
    return ops


def _top_after(
    build: Builder,
    fields: Fields,
    view: StackView,
    op: Operation,
    pulled: Cell,
    order: StackOrder,
) -> Column:
    """Level 0: shifted by level 1's operation, then popped or pushed by the control."""
    column = shifted(build, view.top, op, pulled, build.true)
    taken = [
        {v: bit for v, bit in cell.items() if v != fields.bottom}
        for cell in top_cells(build, column, order.pop)
    ]
    return without(build, put(build, column, order.push), taken)


def _operation_wire(op: Operation) -> Wire:
    return Wire({"none": op.none, "push": op.push, "pull": op.pull})
