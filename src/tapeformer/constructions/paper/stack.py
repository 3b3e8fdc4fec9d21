"""One stack: all its queues, the marker, the program counter and the other registers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tapeformer.circuit.build import Builder, Wire, bit_wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.paper.clock import parity
from tapeformer.constructions.paper.fields import MARK, NO_MARK, OPERATIONS, Fields
from tapeformer.constructions.paper.halves import queue_outputs
from tapeformer.constructions.paper.transfer import transitions
from tapeformer.constructions.paper.view import Orders, StackView


def stack_outputs(
    build: Builder,
    fields: Fields,
    view: StackView,
    orders: Orders,
    inputs: Mapping[str, Wire],
    written: Wire,
) -> Iterator[tuple[str, Wire]]:
    """Yield the new value of each queue and register of one stack, by name."""
    for level in view.levels:
        with build.scope(f"level{level.number}"):
            yield from queue_outputs(build, fields, view, orders, level, written)
    yield view.stack.queue("M", 1), _marker(build, view, inputs)
    yield from _register_outputs(build, fields, view, orders, inputs)


def _marker(build: Builder, view: StackView, inputs: Mapping[str, Wire]) -> Wire:
    """Return the marker queue: a mark at T_1's first dummy is back two cells before it, one turn later."""
    behind = negated(inputs[view.stack.register("behind")]["dummy"])
    at_rest = build.one_of(*view.op.where(OPERATIONS), label="at rest")
    first = view.levels[0]
    dummy = build.all_of(behind, negated(first.real), negated(view.pushed), label="first dummy")
    freed = build.all_of(behind, view.popped, negated(view.bottom), label="freed")
    full = build.false if view.transfers else first.clock.left_end
    turned = build.all_of(behind, full, first.real, label="one level, full")
    found = build.one_of(
        build.all_of(dummy, at_rest, label="first dummy at rest"), freed, turned, label="mark"
    )
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
        swapped = parity(
            build,
            transfer.lower.swap,
            transfer.copied,
            label=f"new swap{transfer.lower.number}",
        )
        yield stack.register(f"swap{transfer.lower.number}"), bit_wire(swapped)
    if fields.knows_bottom(stack):
        before = inputs[stack.register("behind")]["bottom"]
        above = build.all_of(view.popped, before, label="popped above the bottom")
        changed = (negated(view.popped), negated(view.pushed))
        kept = build.all_of(view.at_bottom, *changed, label="still at the bottom")
        at_bottom = build.one_of(above, view.bottom, kept, label="at bottom")
        yield stack.register("at_bottom"), bit_wire(at_bottom)


def _operation(build: Builder, fields: Fields, view: StackView, orders: Orders) -> Wire:
    """Return the program counter; idle where nothing else is said."""
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
    return build.select(cases, op.values, "idle", "new op")


def _full(build: Builder, view: StackView) -> Literal:
    """Return whether the top level is full: then a push is refused, because PUSH(k') might not be doable."""
    if view.transfers:
        top = view.transfers[-1]
        filled = top.filled
        freed = build.all_of(top.stage("wait"), top.taking, label="room again")
    else:
        filled = build.all_of(view.op["check"], view.levels[0].clock.left_end, label="filled")
        freed = build.all_of(view.popped, negated(view.bottom), label="room again")
    kept = build.all_of(view.full, negated(freed), label="still full")
    return build.one_of(filled, kept, label="full")


def _behind(build: Builder, fields: Fields, view: StackView) -> Wire:
    """Return what T_1's head leaves behind, so that the next step knows a first dummy when it sees one."""
    at_rest = build.one_of(*view.op.where(OPERATIONS), label="at rest")
    first = view.levels[0]
    bottom = build.all_of(at_rest, first.cell[fields.bottom], label="bottom behind")
    other = negated(first.cell[fields.bottom])
    kept = build.all_of(at_rest, first.real, other, negated(view.popped), label="symbol behind")
    real = build.one_of(kept, view.pushed, label="real behind")
    dummy = negated(build.one_of(bottom, real, label="behind"))
    return Wire({"dummy": dummy, "real": real, "bottom": bottom})
