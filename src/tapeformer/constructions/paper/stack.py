"""One stack: push and pop at level 1, and what every queue and register of the stack becomes.

The rules are written once and used for every level of every stack. A step first yields the
stack's *view* (what happens by itself); the control then adds *orders*; then the outputs follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.paper.clock import LevelClock, bit_wire, parity
from tapeformer.constructions.paper.fields import MARK, NO_MARK, OPERATIONS, Fields, Stack
from tapeformer.constructions.paper.levels import Cell, Level, level_view
from tapeformer.constructions.paper.transfer import Transfer, transfer_view, transitions


@dataclass(frozen=True)
class StackView:
    """What a stack does in the present step, before the control's orders.

    `pushed`: the written symbol enters T_1's first dummy; `popped`: the last symbol of T_1 is
    under the head and wanted; `bottom`: but it is the bottom and stays; `done`: no operation is
    under way, so the barrier may open.
    """

    stack: Stack
    levels: tuple[Level, ...]
    transfers: tuple[Transfer, ...]
    op: Wire
    pushed: Literal
    popped: Literal
    bottom: Literal
    done: Literal
    full: Literal
    at_bottom: Literal


@dataclass(frozen=True)
class Orders:
    """What the control tells a stack: a new operation, and at the beginning how to boot.

    `boot`: put the bottom into T_1; `hole`: put a hole into the input queue; `load`: begin the
    POPs that bring the input down; `loading`: these POPs are under way.
    """

    push: Literal
    pop: Literal
    boot: Literal
    hole: Literal
    load: Literal
    loading: Literal


def stack_view(
    build: Builder,
    fields: Fields,
    stack: Stack,
    inputs: Mapping[str, Wire],
    clocks: tuple[LevelClock, ...],
) -> StackView:
    """The view of one stack."""
    op, last = inputs[stack.register("op")], inputs[stack.register("last")]
    levels = []
    for number, clock in enumerate(clocks, 1):
        with build.scope(f"level{number}"):
            levels.append(level_view(build, fields, stack, number, inputs, clock))
    transfers = []
    for lower, upper in pairwise(levels):
        with build.scope(f"level{upper.number}"):
            transfers.append(transfer_view(build, op, upper, lower, fields.bottom))
    first = levels[0]
    behind = negated(inputs[stack.register("behind")]["dummy"])
    popped = build.all_of(op["pop"], last["1"], label="popped")
    checked = build.all_of(op["check"], negated(first.clock.left_end), label="not full")
    known = fields.knows_bottom(stack)
    return StackView(
        stack=stack,
        levels=tuple(levels),
        transfers=tuple(transfers),
        op=op,
        pushed=build.all_of(op["push"], behind, negated(first.real), label="pushed"),
        popped=popped,
        bottom=build.all_of(popped, first.cell[fields.bottom], label="bottom stays"),
        done=build.one_of(op["idle"], checked, label="done"),
        full=inputs[stack.register("full")]["1"],
        at_bottom=inputs[stack.register("at_bottom")]["1"] if known else build.false,
    )


def stack_outputs(
    build: Builder,
    fields: Fields,
    view: StackView,
    orders: Orders,
    inputs: Mapping[str, Wire],
    written: Wire,
) -> Iterator[tuple[str, Wire]]:
    """The new value of each queue and register of one stack, by name."""
    for level in view.levels:
        with build.scope(f"level{level.number}"):
            yield from _queue_outputs(build, fields, view, orders, level, written)
    yield view.stack.queue("M", 1), _marker(build, view, inputs)
    yield from _register_outputs(build, fields, view, orders, inputs)


def _queue_outputs(
    build: Builder,
    fields: Fields,
    view: StackView,
    orders: Orders,
    level: Level,
    written: Wire,
) -> Iterator[tuple[str, Wire]]:
    """The two half queues of a level and, above level 1, its buffer."""
    own, above = _transfer_of(view, level.number), _transfer_of(view, level.number + 1)
    removed = _removed(build, view, own)
    inserted = _inserted(build, view, level, own, written)
    for kind in "LR":
        gone = build.one_of(
            build.all_of(removed, level.head_in(kind), label=f"out of {kind}"),
            build.all_of(_lower_work(build, above), level.is_left(kind), label=f"{kind} is lower"),
            label=f"{kind} changes",
        )
        cells = {}
        for value, front in level.queues[kind].items():
            terms = [build.all_of(front, negated(gone), label=f"{kind} keeps {value}")]
            terms.append(build.all_of(inserted[value], level.head_in(kind), label=f"into {kind}"))
            if above:
                down = (above.taking, above.upper.cell[value], level.is_left(kind))
                terms.append(build.all_of(*down, label=f"down into {kind}"))
            terms += _boot_terms(fields, view.stack, orders, level, kind, value)
            cells[value] = build.one_of(*terms, label=f"{kind}={value}")
        yield view.stack.queue(kind, level.number), _cell_wire(build, fields, cells)
    if own:
        lower = own.lower.left_cell.items()
        diverted = {v: build.all_of(own.taking, c, label=f"divert {v}") for v, c in lower}
        yield view.stack.queue("B", level.number), _cell_wire(build, fields, diverted)


def _transfer_of(view: StackView, number: int) -> Transfer | None:
    """The transfer whose upper level is `number`."""
    found = [t for t in view.transfers if t.upper.number == number]
    return found[0] if found else None


def _removed(build: Builder, view: StackView, own: Transfer | None) -> Literal:
    """Whether the cell under T_i's head goes away: down by POP(i), or out by pop."""
    if own:
        return own.taking
    return build.all_of(view.popped, negated(view.bottom), label="taken out")


def _lower_work(build: Builder, above: Transfer | None) -> Literal:
    """Whether the level above takes or replaces the front of the logical left half."""
    return build.one_of(above.copying, above.taking, label="lower") if above else build.false


def _inserted(
    build: Builder, view: StackView, level: Level, own: Transfer | None, written: Wire
) -> Cell:
    """What enters the cell under T_i's head: from below, from the buffer, or the pushed symbol."""
    if not own:
        pushed = {v: build.all_of(view.pushed, written[v], label="push") for v in written.values}
        return {v: pushed.get(v, build.false) for v in level.cell}
    return {
        value: build.one_of(
            build.all_of(own.copying, own.lower.left_cell[value], label=f"up {value}"),
            build.all_of(level.buffer[value], negated(own.taking), label=f"back {value}"),
            label=f"in {value}",
        )
        for value in level.cell
    }


def _boot_terms(
    fields: Fields, stack: Stack, orders: Orders, level: Level, kind: str, value: str
) -> list[Literal]:
    """The bottom of every other stack, and the holes behind the input."""
    if kind == "L" and not stack.is_input and level.number == 1 and value == fields.bottom:
        return [orders.boot]
    if kind == "L" and stack.is_input and level.number == fields.levels and value == fields.hole:
        return [orders.hole]
    return []


def _cell_wire(build: Builder, fields: Fields, cells: Cell) -> Wire:
    dummy = negated(build.one_of(*cells.values(), label="real after"))
    return Wire({fields.dummy: dummy, **cells})


def _marker(build: Builder, view: StackView, inputs: Mapping[str, Wire]) -> Wire:
    """The marker queue: a mark at T_1's first dummy is back two cells before it, one turn later."""
    behind = negated(inputs[view.stack.register("behind")]["dummy"])
    at_rest = build.one_of(*view.op.where(OPERATIONS), label="at rest")
    first = view.levels[0]
    dummy = build.all_of(behind, negated(first.real), negated(view.pushed), label="first dummy")
    freed = build.all_of(behind, view.popped, negated(view.bottom), label="freed")
    full = build.false if view.transfers else first.clock.left_end
    turned = build.all_of(behind, full, first.real, label="one level, full")
    found = build.one_of(build.all_of(dummy, at_rest, label="at rest"), freed, turned, label="mark")
    return Wire({NO_MARK: negated(found), MARK: found})


def _register_outputs(
    build: Builder,
    fields: Fields,
    view: StackView,
    orders: Orders,
    inputs: Mapping[str, Wire],
) -> Iterator[tuple[str, Wire]]:
    stack = view.stack
    yield stack.register("op"), _operation(build, fields, view, orders)
    yield stack.register("full"), bit_wire(_full(build, view))
    yield stack.register("behind"), _behind(build, fields, view)
    yield stack.register("last"), bit_wire(inputs[stack.queue("M", 1)][MARK])
    for transfer in view.transfers:
        swapped = parity(build, transfer.lower.swap, transfer.copied, label="swap")
        yield stack.register(f"swap{transfer.lower.number}"), bit_wire(swapped)
    if fields.knows_bottom(stack):
        before = inputs[stack.register("behind")]["bottom"]
        above = build.all_of(view.popped, before, label="popped above the bottom")
        changed = (negated(view.popped), negated(view.pushed))
        kept = build.all_of(view.at_bottom, *changed, label="still at the bottom")
        at_bottom = build.one_of(above, view.bottom, kept, label="at bottom")
        yield stack.register("at_bottom"), bit_wire(at_bottom)


def _operation(build: Builder, fields: Fields, view: StackView, orders: Orders) -> Wire:
    """The program counter; idle where nothing else is said."""
    op, left_end = view.op, view.levels[0].clock.left_end
    cases: list[tuple[Literal, str]] = [
        (orders.push, "push"),
        (orders.pop, "pop"),
        (build.all_of(op["push"], negated(view.pushed), label="push waits"), "push"),
        (view.pushed, "check"),
        (build.all_of(op["pop"], negated(view.popped), label="pop waits"), "pop"),
    ]
    if fields.levels > 1:
        emptied = build.all_of(view.popped, left_end, negated(view.bottom), label="T_1 empty")
        cases.append((build.all_of(op["check"], left_end, label="T_1 full"), "seek2"))
        cases.append((emptied, "wait2"))
        cases.append((orders.load, f"wait{fields.levels}"))
    for transfer in view.transfers:
        cases += transitions(build, transfer, fields.levels, orders.loading)
    return build.select(cases, op.values, "idle", "op")


def _full(build: Builder, view: StackView) -> Literal:
    """Whether the top level is full: then a push is refused, because PUSH(k') might not be doable."""
    if view.transfers:
        top = view.transfers[-1]
        filled = top.filled
        freed = build.all_of(top.stage("wait"), top.taking, label="room again")
    else:
        filled = build.all_of(view.op["check"], view.levels[0].clock.left_end, label="filled")
        freed = build.all_of(view.popped, negated(view.bottom), label="room again")
    return build.one_of(filled, build.all_of(view.full, negated(freed)), label="full")


def _behind(build: Builder, fields: Fields, view: StackView) -> Wire:
    """What T_1's head leaves behind, so that the next step knows a first dummy when it sees one."""
    at_rest = build.one_of(*view.op.where(OPERATIONS), label="at rest")
    first = view.levels[0]
    bottom = build.all_of(at_rest, first.cell[fields.bottom], label="bottom behind")
    other = negated(first.cell[fields.bottom])
    kept = build.all_of(at_rest, first.real, other, negated(view.popped), label="symbol behind")
    real = build.one_of(kept, view.pushed, label="real behind")
    dummy = negated(build.one_of(bottom, real, label="behind"))
    return Wire({"dummy": dummy, "real": real, "bottom": bottom})
