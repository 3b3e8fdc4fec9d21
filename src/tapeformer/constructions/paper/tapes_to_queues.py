"""Step I (Theorem 2): from a k-tape Turing machine to a synchronous machine with 6kk' queues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.record import Circuit, Literal
from tapeformer.circuit.simplify import simplify
from tapeformer.constructions.paper.clock import LevelClock, level_clock
from tapeformer.constructions.paper.control import control, control_outputs, orders_for
from tapeformer.constructions.paper.fields import Fields
from tapeformer.constructions.paper.layout import NAME
from tapeformer.constructions.paper.stack import stack_outputs
from tapeformer.constructions.paper.view import stack_view
from tapeformer.machine.record import TuringMachine
from tapeformer.queues.record import QueueMachine


def queue_machine(machine: TuringMachine, levels: int) -> QueueMachine:
    """Return the queue machine of a Turing machine; it depends on the levels, not on the base."""
    fields = Fields(machine, levels)
    return QueueMachine(
        name=machine.name,
        construction=NAME,
        queues=fields.queues(),
        registers=fields.registers(),
        step=step_circuit(fields),
        prompt_queue=fields.stacks[0].queue("L", levels),
        prompt_start=fields.bottom,
        prompt_symbols={s: s for s in machine.symbols if s in machine.word_symbols},
        reading=reading(fields),
        loading=("phase", ("wait", "fill", "load")),
    )


def reading(fields: Fields) -> dict[str, object]:
    """Return what the decoder must know, as plain data."""
    names = [queue.name for queue in fields.queues()]
    names += [register.name for register in fields.registers()]
    return {
        "construction": NAME,
        "tapes": fields.machine.tapes,
        "levels": fields.levels,
        "blank": fields.blank,
        "dummy": fields.dummy,
        "bottom": fields.bottom,
        "hole": fields.hole,
        "mark": fields.mark,
        "none": fields.none,
        "factors": names,
    }


def step_circuit(fields: Fields) -> Circuit:
    """Return one step of all stacks, the clock and the control."""
    build = Builder()
    inputs = {queue.name: build.input(queue.name, queue.alphabet) for queue in fields.queues()}
    inputs |= {r.name: build.input(r.name, r.alphabet) for r in fields.registers()}
    clocks = _clocks(build, fields, inputs)
    views = []
    for stack in fields.stacks:
        with build.scope(stack.name):
            views.append(stack_view(build, fields, stack, inputs, clocks))
    with build.scope("control"):
        decided = control(build, fields, inputs, views, clocks)
        outputs = dict(control_outputs(build, fields, decided, inputs, views, clocks))
    for view in views:
        with build.scope(view.stack.name):
            orders = orders_for(build, fields, decided, view, inputs)
            written = inputs[f"tape{view.stack.tape}/write"]
            outputs |= stack_outputs(build, fields, view, orders, inputs, written)
    outputs |= _with_marks(build, fields, outputs, clocks, decided.boot)
    for name, wire in inputs.items():
        build.output(name, Wire({value: outputs[name][value] for value in wire.values}))
    return simplify(build.circuit())


def _clocks(build: Builder, fields: Fields, inputs: Mapping[str, Wire]) -> tuple[LevelClock, ...]:
    """Return the clock of each level, from the marks in the input stack's left queues."""
    found = []
    for number in range(1, fields.levels + 1):
        wire = inputs[fields.stacks[0].queue("L", number)]
        marked = [
            literal for value, literal in wire.literals.items() if value.endswith(fields.mark)
        ]
        with build.scope(f"clock/level{number}"):
            mark = build.one_of(*marked, label="mark")
            found.append(level_clock(build, mark, inputs[f"half{number}"]))
    return tuple(found)


def _with_marks(
    build: Builder,
    fields: Fields,
    outputs: Mapping[str, Wire],
    clocks: Sequence[LevelClock],
    boot: Literal,
) -> dict[str, Wire]:
    """Return the input stack's left queues with their marks: set at boot, then carried round for ever."""
    marked = {}
    for number, clock in enumerate(clocks, 1):
        name = fields.stacks[0].queue("L", number)
        with build.scope(f"clock/level{number}"):
            mark = build.one_of(clock.mark, boot, label="mark after")
            marked[name] = _marked(build, fields, outputs[name], mark)
    return marked


def _marked(build: Builder, fields: Fields, cells: Wire, mark: Literal) -> Wire:
    """Return each cell with and without the mark. Dummies carry it too: without, the left end is lost."""
    with_mark = {
        value + fields.mark: build.all_of(literal, mark, label=f"{value} marked")
        for value, literal in cells.literals.items()
    }
    without = {
        value: build.all_of(literal, negated(mark), label=f"{value} unmarked")
        for value, literal in cells.literals.items()
    }
    return Wire({**without, **with_mark})
