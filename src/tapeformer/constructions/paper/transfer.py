"""PUSH(i) and POP(i): blocks move between level i-1 and level i (Algorithms 1 and 2, repaired).

PUSH(i): seek T_i's first dummy; there the lower halves are at their left end (Claim (b)); copy
the lower *left* half, clearing it; swap the lower halves' roles.
POP(i): wait for T_i's left end; while its cell is real, take it down into the lower left half,
diverting what is there to the buffer. The buffer returns it in T_i's next turn, without waiting.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.paper.levels import Level


@dataclass(frozen=True)
class Transfer:
    """What PUSH(i) and POP(i) do in the present step, for i = `upper.number`.

    `copying`: a cell goes up; `copied`: PUSH(i) has ended; `taking`: a cell goes down; `taken`:
    POP(i) has ended; `emptied`: and T_i is now empty; `holds_bottom`: the block that went down
    begins with the bottom, so that all levels above are empty (Claim (d)).
    """

    upper: Level
    lower: Level
    op: Wire
    start: Literal
    copying: Literal
    copied: Literal
    filled: Literal
    taking: Literal
    taken: Literal
    emptied: Literal
    lower_real: Literal
    holds_bottom: Literal

    def stage(self, name: str) -> Literal:
        """Return whether the stack's program counter is at this stage of this transfer."""
        return self.op[f"{name}{self.upper.number}"]


def transfer_view(build: Builder, op: Wire, upper: Level, lower: Level, bottom: str) -> Transfer:
    """Return the signals of the transfer between two neighbouring levels."""
    i, left_end, dummy = upper.number, upper.clock.left_end, negated(upper.real)
    at_left = build.all_of(op[f"seek{i}"], left_end, label="at the left end")
    start = build.all_of(
        build.one_of(op[f"armed{i}"], at_left, label="armed"), dummy, label="start"
    )
    further = build.all_of(op[f"copy{i}"], negated(lower.clock.mark), label="copy")
    copied = build.all_of(op[f"copy{i}"], lower.clock.mark, label="copied")
    scanning = build.one_of(op[f"scan{i}"], op[f"more{i}"], label="scanning")
    inside = build.all_of(upper.real, negated(left_end), label="inside")
    first = build.all_of(op[f"wait{i}"], left_end, label="first taken")
    return Transfer(
        upper=upper,
        lower=lower,
        op=op,
        start=start,
        copying=build.one_of(start, further, label="copying"),
        copied=copied,
        filled=build.all_of(copied, left_end, label="filled"),
        taking=build.one_of(
            first, build.all_of(scanning, inside, label="next taken"), label="taking"
        ),
        taken=build.all_of(scanning, negated(inside), label="taken"),
        emptied=build.all_of(op[f"scan{i}"], negated(inside), label="emptied"),
        lower_real=build.one_of(*lower.left_cell.values(), label="lower real"),
        holds_bottom=lower.left_cell[bottom],
    )


def transitions(
    build: Builder, transfer: Transfer, levels: int, loading: Literal
) -> Iterator[tuple[Literal, str]]:
    """Yield the program counter's next values during a transfer; where none is given it is idle.

    After PUSH(i) filled T_i comes PUSH(i+1); after POP(i) emptied it, POP(i+1) unless the bottom
    went down. While `loading`, POP(i) is followed by POP(i-1) instead.
    """
    i, upper = transfer.upper.number, transfer.upper
    left_end, real = upper.clock.left_end, upper.real
    seek, armed, wait = (transfer.stage(name) for name in ("seek", "armed", "wait"))
    yield _to(build, f"seek{i}", seek, negated(real), negated(left_end))
    yield _to(build, f"armed{i}", build.one_of(seek, armed, label="seeking"), real)
    yield transfer.copying, f"copy{i}"
    yield _to(build, f"wait{i}", wait, negated(left_end))
    yield _to(build, f"more{i}", transfer.taking, transfer.lower_real)
    yield _to(build, f"scan{i}", transfer.taking, negated(transfer.lower_real))
    if i < levels:
        yield transfer.filled, f"seek{i + 1}"
        deeper = negated(transfer.holds_bottom)
        yield _to(build, f"wait{i + 1}", transfer.emptied, deeper, negated(loading))
    if i > 2:
        yield _to(build, f"wait{i - 1}", transfer.taken, loading)


def _to(build: Builder, stage: str, *literals: Literal) -> tuple[Literal, str]:
    return build.all_of(*literals, label=f"to {stage}"), stage
