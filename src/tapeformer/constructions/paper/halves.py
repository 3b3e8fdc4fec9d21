"""What every queue of a stack becomes, but for the marker; written once for all levels."""

from __future__ import annotations

from collections.abc import Iterator

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.paper.fields import Fields, Stack
from tapeformer.constructions.paper.levels import Cell, Level
from tapeformer.constructions.paper.transfer import Transfer
from tapeformer.constructions.paper.view import Orders, StackView


def queue_outputs(
    build: Builder,
    fields: Fields,
    view: StackView,
    orders: Orders,
    level: Level,
    written: Wire,
) -> Iterator[tuple[str, Wire]]:
    """Yield the two half queues of a level and, above level 1, its buffer."""
    own, above = _transfer_of(view, level.number), _transfer_of(view, level.number + 1)
    removed = _removed(build, view, own)
    inserted = _inserted(build, view, level, own, written)
    for kind in "LR":
        cells = _half(build, level, above, kind, removed, inserted)
        _add_boot(build, fields, view.stack, orders, level, kind, cells)
        yield view.stack.queue(kind, level.number), _cell_wire(build, fields, cells, kind)
    if own:
        lower = own.lower.left_cell.items()
        diverted = {v: build.all_of(own.taking, c, label=f"divert {v}") for v, c in lower}
        yield view.stack.queue("B", level.number), _cell_wire(build, fields, diverted, "B")


def _half(
    build: Builder,
    level: Level,
    above: Transfer | None,
    kind: str,
    removed: Literal,
    inserted: Cell,
) -> dict[str, Literal]:
    """Return one half queue: what stays, what enters under the head, what comes down from above."""
    here, left = level.head_in(kind), level.is_left(kind)
    gone = build.one_of(
        build.all_of(removed, here, label=f"out of {kind}"),
        build.all_of(_lower_work(build, above), left, label=f"{kind} is lower"),
        label=f"{kind} changes",
    )
    cells = {}
    for value, front in level.queues[kind].items():
        terms = [
            build.all_of(front, negated(gone), label=f"{kind} keeps {value}"),
            build.all_of(inserted[value], here, label=f"{kind} receives {value}"),
        ]
        if above:
            down = (above.taking, above.upper.cell[value], left)
            terms.append(build.all_of(*down, label=f"{kind} takes down {value}"))
        cells[value] = build.one_of(*terms, label=f"new {kind}={value}")
    return cells


def _transfer_of(view: StackView, number: int) -> Transfer | None:
    """Return the transfer whose upper level is `number`."""
    found = [t for t in view.transfers if t.upper.number == number]
    return found[0] if found else None


def _removed(build: Builder, view: StackView, own: Transfer | None) -> Literal:
    """Return whether the cell under T_i's head goes away: down by POP(i), or out by pop."""
    if own:
        return own.taking
    return build.all_of(view.popped, negated(view.bottom), label="taken out")


def _lower_work(build: Builder, above: Transfer | None) -> Literal:
    """Return whether the level above takes or replaces the front of the logical left half."""
    return build.one_of(above.copying, above.taking, label="lower") if above else build.false


def _inserted(
    build: Builder, view: StackView, level: Level, own: Transfer | None, written: Wire
) -> Cell:
    """Return what enters the cell under T_i's head: from below, from the buffer, or the pushed symbol."""
    if not own:
        pushed = {
            v: build.all_of(view.pushed, written[v], label=f"push {v}") for v in written.values
        }
        return {v: pushed.get(v, build.false) for v in level.cell}
    return {
        value: build.one_of(
            build.all_of(own.copying, own.lower.left_cell[value], label=f"up {value}"),
            build.all_of(level.buffer[value], negated(own.taking), label=f"back {value}"),
            label=f"in {value}",
        )
        for value in level.cell
    }


def _add_boot(
    build: Builder,
    fields: Fields,
    stack: Stack,
    orders: Orders,
    level: Level,
    kind: str,
    cells: dict[str, Literal],
) -> None:
    """Add the bottom of every stack but the input's, and the holes behind the input."""
    if kind == "L" and not stack.is_input and level.number == 1:
        cells[fields.bottom] = build.one_of(cells[fields.bottom], orders.boot, label="bottom")
    if kind == "L" and stack.is_input and level.number == fields.levels > 1:
        cells[fields.hole] = build.one_of(cells[fields.hole], orders.hole, label="hole")


def _cell_wire(build: Builder, fields: Fields, cells: Cell, name: str) -> Wire:
    dummy = negated(build.one_of(*cells.values(), label=f"new {name} is real"))
    return Wire({fields.dummy: dummy, **cells})
