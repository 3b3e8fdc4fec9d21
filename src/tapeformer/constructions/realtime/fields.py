"""The names of everything a token carries: columns, clock marks and registers.

A tape is two stacks. A stack is level 0, one column in the registers, and levels 1..k', each a
ring of two queues of columns, `main` and `delay`. A column is X cells (tracks), each in a queue
of its own; they share a length, so one head can fetch a whole column.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tapeformer.constructions.reach import tape_symbols
from tapeformer.machine.record import TapeKind, TuringMachine
from tapeformer.queues.record import Queue, Register
from tapeformer.queues.verify import VERDICTS

TRACKS = 5
"""X: the cells of a column."""
HIGH = 3
"""A level with this many whole units sends one up; with fewer it asks for one."""

PHASES = ("start", "wait", "load", "rewind", "run")
OPERATIONS = ("none", "push", "pull")
NO_MARK = "-"
MARKS = (NO_MARK, "0", "1")
"""Not started when written; started; started and at position 0."""
KINDS = ("main", "delay")
CURRENT_TOKEN = "one"
"""The length rule of delay_1: its only column is in the current token."""


@dataclass(frozen=True)
class Stack:
    """One of the two stacks of a tape (tapes count from 1); the first of all receives the input."""

    tape: int
    side: str

    @property
    def name(self) -> str:
        """Such as `tape1.left`."""
        return f"tape{self.tape}.{self.side}"

    @property
    def is_input(self) -> bool:
        """Whether the prompt is loaded here; the clock's marks ride with this stack."""
        return self.tape == 1 and self.side == "left"

    def column(self, kind: str, level: int) -> str:
        """The name of a column queue, such as `tape1.left/main2`."""
        return f"{self.name}/{kind}{level}"

    def tracks(self, kind: str, level: int) -> tuple[str, ...]:
        """The names of a column's cells, such as `tape1.left/main2.track0`."""
        return tuple(f"{self.column(kind, level)}.track{t}" for t in range(TRACKS))

    def mark(self, kind: str, level: int) -> str:
        """The name of the clock mark that rides with a column."""
        return f"{self.column(kind, level)}.mark"

    @property
    def top(self) -> tuple[str, ...]:
        """The names of level 0's cells, such as `tape1.left/top.track0`."""
        return tuple(f"{self.name}/top.track{t}" for t in range(TRACKS))

    def register(self, what: str) -> str:
        """The name of a register, such as `tape1.left/op2`."""
        return f"{self.name}/{what}"


@dataclass(frozen=True)
class Fields:
    """All names for one machine and number of levels; none depends on the base.

    A further level appends queues after all queues and registers after all registers.
    """

    machine: TuringMachine
    levels: int

    @cached_property
    def stacks(self) -> tuple[Stack, ...]:
        """Left and right of tape 1, of tape 2, ..."""
        return tuple(Stack(tape, side) for tape in self.tapes for side in ("left", "right"))

    @property
    def tapes(self) -> range:
        """The numbers of the tapes."""
        return range(1, self.machine.tapes + 1)

    @property
    def bounded(self) -> bool:
        """Whether a left move from a tape's first cell stays there."""
        return self.machine.tape_kind is TapeKind.ONE_WAY

    @cached_property
    def dummy(self) -> str:
        """The cell that holds nothing."""
        return self._fresh(".")

    @cached_property
    def bottom(self) -> str:
        """END, the deepest cell of every stack, never popped; it is only ever in track 0."""
        return self._fresh("$")

    @property
    def blank(self) -> str:
        """The tape's blank."""
        return self.machine.blank

    def symbols(self, tape: int) -> tuple[str, ...]:
        """The symbols that can be on a tape, counted from 1."""
        return tape_symbols(self.machine, tape - 1)

    def cells(self, stack: Stack, track: int) -> tuple[str, ...]:
        """What a cell of a track can hold, the dummy first."""
        bottom = () if track else (self.bottom,)
        return (self.dummy, *bottom, *self.symbols(stack.tape))

    def queues(self) -> tuple[Queue, ...]:
        """All queues, level by level: the marks, then the columns of each stack."""
        levels = range(1, self.levels + 1)
        return tuple(queue for level in levels for queue in self._queues_of(level))

    def registers(self) -> tuple[Register, ...]:
        """The finite control, level 0, and what each level latches."""
        levels = range(1, self.levels + 1)
        return (
            Register("phase", PHASES, "start"),
            Register("verdict", VERDICTS, "run"),
            Register("stepped", ("0", "1"), "0"),
            Register("state", self.machine.states, self.machine.start),
            Register("grow", ("0", "1"), "0"),
            *(Register(f"tape{t}/head", self.symbols(t), self.blank) for t in self.tapes),
            *(register for stack in self.stacks for register in self._top(stack)),
            *(register for level in levels for register in self._registers_of(level)),
        )

    def input_queues(self) -> tuple[str, ...]:
        """Where a prompt symbol is written: into each delay that may read it back."""
        levels = range(2, self.levels + 1)
        return tuple(self.stacks[0].tracks("delay", level)[0] for level in levels)

    def _queues_of(self, level: int) -> Iterator[Queue]:
        for kind in KINDS:
            yield self._mark_queue(kind, level)
        for stack in self.stacks:
            for kind in KINDS:
                yield from self._column(stack, kind, level)

    def _mark_queue(self, kind: str, level: int) -> Queue:
        """Only a main queue can be read before its beginning after its level has started."""
        first = self.stacks[0]
        tested = kind == "main" and level > 1
        rule, column = length_rule(kind, level), first.column(kind, level)
        return Queue(first.mark(kind, level), MARKS, NO_MARK, rule, tested, column)

    def _column(self, stack: Stack, kind: str, level: int) -> Iterator[Queue]:
        """The cells need no test, as the marks tell which to trust; the input's queues do."""
        rule, column = length_rule(kind, level), stack.column(kind, level)
        tested = self.input_queues()
        for track, name in enumerate(stack.tracks(kind, level)):
            yield Queue(name, self.cells(stack, track), self.dummy, rule, name in tested, column)

    def _top(self, stack: Stack) -> Iterator[Register]:
        """Level 0; every stack but the input's has its bottom from the beginning."""
        for track, name in enumerate(stack.top):
            holds_bottom = track == 0 and not stack.is_input
            yield Register(
                name, self.cells(stack, track), self.bottom if holds_bottom else self.dummy
            )

    def _registers_of(self, level: int) -> Iterator[Register]:
        bits = ("0", "1")
        yield Register(f"started{level}", bits, "0")
        if level > 1:
            yield Register(f"load{level}", bits, "0")
        for stack in self.stacks:
            yield Register(stack.register(f"op{level}"), OPERATIONS, "none")
            yield Register(stack.register(f"full{level}"), bits, "0")

    def _fresh(self, name: str) -> str:
        while name in self.machine.symbols:
            name += "'"
        return name


def length_rule(kind: str, level: int) -> str:
    """main_i and delay_i have a rule each, but delay_1 is the current token in every base."""
    return CURRENT_TOKEN if (kind, level) == ("delay", 1) else f"{kind}{level}"
