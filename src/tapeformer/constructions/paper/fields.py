"""The names of everything a token carries: cells, queues and registers of Step I (Theorem 2).

A tape is two stacks; a stack is levels 1..k'; a level is two half queues `L`, `R` and a third
queue: a buffer `B` from level 2 on, and at level 1, which has nothing to buffer, a marker `M`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from tapeformer.constructions.reach import tape_symbols
from tapeformer.constructions.stacks import StackFields, TapeStack
from tapeformer.dataclass import dataclass
from tapeformer.queues.record import Queue, Register
from tapeformer.queues.verdicts import VERDICTS

PHASES = ("wait", "fill", "load", "rewind", "begin", "run")
OPERATIONS = ("idle", "push", "check", "pop")
TRANSFERS = ("seek", "armed", "copy", "wait", "scan", "more")
NO_MARK, MARK = "-", "last"


@dataclass(frozen=True)
class Stack(TapeStack):
    """One of the two stacks of a tape, with its queues."""

    def queue(self, kind: str, level: int) -> str:
        """Return the name of a queue, such as `tape1.left/L2`."""
        return f"{self.name}/{kind}{level}"


@dataclass(frozen=True)
class Fields(StackFields):
    """All names for one machine and number of levels; none depends on the base."""

    @cached_property
    def stacks(self) -> tuple[Stack, ...]:
        """Left and right of tape 1, of tape 2, ..."""
        return tuple(Stack(tape, side) for tape in self.tapes for side in ("left", "right"))

    @cached_property
    def hole(self) -> str:
        """Fills the input's last block; popped and forgotten before the machine starts."""
        return self._fresh("#")

    @cached_property
    def none(self) -> str:
        """No symbol: nothing is left to write, or nothing is under the head yet."""
        return self._fresh("none")

    @cached_property
    def mark(self) -> str:
        """What a cell's name ends with if it is the left end of a half queue."""
        cells = {*self.machine.symbols, self.dummy, self.bottom, self.hole}
        mark = "^"
        while any(cell.endswith(mark) for cell in cells):
            mark += "^"
        return mark

    def symbols(self, tape: int) -> tuple[str, ...]:
        """Return the symbols that can be on a tape, counted from 1."""
        return tape_symbols(self.machine, tape - 1)

    def cells(self, stack: Stack) -> tuple[str, ...]:
        """Return what a cell of a stack can hold, the dummy first."""
        holes = (self.hole,) if stack.is_input and self.levels > 1 else ()
        return (self.dummy, self.bottom, *holes, *self.symbols(stack.tape))

    def knows_bottom(self, stack: Stack) -> bool:
        """Return whether the control must know in advance that only the bottom is left."""
        return stack.is_input or (self.bounded and stack.side == "left")

    def queues(self) -> tuple[Queue, ...]:
        """Return all 6kk' queues, stack by stack, level by level."""
        return tuple(queue for stack in self.stacks for queue in self._queues_of(stack))

    def registers(self) -> tuple[Register, ...]:
        """Return the finite control."""
        states, bits = self.machine.states, ("0", "1")
        return (
            Register("phase", PHASES, "wait"),
            Register("verdict", VERDICTS, "run"),
            Register("stepped", bits, "0"),
            Register("state", states, self.machine.start),
            Register("next", states, self.machine.start),
            *(Register(f"half{level}", bits, "0") for level in self._levels()),
            *(r for tape in self.tapes for r in self._tape_registers(tape)),
            *(register for stack in self.stacks for register in self._registers_of(stack)),
        )

    def operations(self) -> tuple[str, ...]:
        """Return the program counter of a stack: one operation, or a transfer between two levels."""
        transfers = (f"{name}{i}" for i in self._levels()[1:] for name in TRANSFERS)
        return (*OPERATIONS, *transfers)

    def _queues_of(self, stack: Stack) -> Iterator[Queue]:
        plain = self.cells(stack)
        marked = (*plain, *(cell + self.mark for cell in plain)) if stack.is_input else plain
        for i in self._levels():
            yield Queue(stack.queue("L", i), marked, self.dummy, f"half{i}")
            yield Queue(stack.queue("R", i), plain, self.dummy, f"half{i}")
            if i == 1:
                yield Queue(stack.queue("M", i), (NO_MARK, MARK), NO_MARK, "marker")
            else:
                yield Queue(stack.queue("B", i), plain, self.dummy, f"buffer{i}")

    def _tape_registers(self, tape: int) -> Iterator[Register]:
        symbols = self.symbols(tape)
        first = tape == 1
        yield Register(
            f"tape{tape}/head",
            (self.none, *symbols) if first else symbols,
            self.none if first else self.blank,
        )
        yield Register(f"tape{tape}/write", (self.none, *symbols), self.none)

    def _registers_of(self, stack: Stack) -> Iterator[Register]:
        bits = ("0", "1")
        yield Register(stack.register("op"), self.operations(), "idle")
        yield Register(stack.register("full"), bits, "0")
        yield Register(stack.register("behind"), ("dummy", "real", "bottom"), "dummy")
        yield Register(stack.register("last"), bits, "0")
        for i in self._levels()[:-1]:
            yield Register(stack.register(f"swap{i}"), bits, "0")
        if self.knows_bottom(stack):
            yield Register(stack.register("at_bottom"), bits, "0" if stack.is_input else "1")

    def _levels(self) -> range:
        return range(1, self.levels + 1)
