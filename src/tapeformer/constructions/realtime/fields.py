"""The names of everything a token carries: columns, clock marks and registers.

A tape is two stacks. A stack is level 0, one column in the registers, and levels 1..k', each a
ring of two queues of columns, `main` and `delay`. A column is X cells (tracks), each in queues
of its own; they share a length, so one head can fetch a whole column.

With M steps in a token, a cell of a column is a block of M tape cells, and the head's symbol becomes
a window of three blocks (left, centre, right) with the head somewhere in the centre.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tapeformer.constructions.open_table import table_ports
from tapeformer.constructions.reach import tape_symbols
from tapeformer.constructions.realtime.code import SymbolCode
from tapeformer.constructions.stacks import StackFields, TapeStack
from tapeformer.queues.record import VERDICTS, Queue, Register

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
BITS = ("0", "1")
CURRENT_TOKEN = "one"
"""The length rule of delay_1: its only column is in the current token."""


@dataclass(frozen=True)
class Stack(TapeStack):
    """One of the two stacks of a tape, with its columns."""

    def column(self, kind: str, level: int) -> str:
        """Return the name of a column queue, such as `tape1.left/main2`."""
        return f"{self.name}/{kind}{level}"

    def tracks(self, kind: str, level: int) -> tuple[str, ...]:
        """Return the names of a column's cells, such as `tape1.left/main2.track0`."""
        return tuple(f"{self.column(kind, level)}.track{t}" for t in range(TRACKS))

    def mark(self, kind: str, level: int) -> str:
        """Return the name of the clock mark that rides with a column."""
        return f"{self.column(kind, level)}.mark"

    @property
    def top(self) -> tuple[str, ...]:
        """The names of level 0's cells, such as `tape1.left/top.track0`."""
        return tuple(f"{self.name}/top.track{t}" for t in range(TRACKS))

    def input(self, level: int) -> str:
        """Return the name of the queue from which a level reads the prompt back."""
        return f"{self.column('delay', level)}.input"


@dataclass(frozen=True)
class Fields(StackFields):
    """All names for one machine, levels and steps in a token; none depends on the base.

    A further level appends queues after all queues and registers after all registers. The
    bottom is only ever in track 0. With an open table the machine's rules are constants of the step.
    """

    steps: int = 1
    open_table: bool = False

    @cached_property
    def stacks(self) -> tuple[Stack, ...]:
        """Left and right of tape 1, of tape 2, ..."""
        return tuple(Stack(tape, side) for tape in self.tapes for side in ("left", "right"))

    def code(self, tape: int) -> SymbolCode:
        """Return how the symbols that can be on a tape (from 1) are kept."""
        return self._codes[tape - 1]

    def factors(self, name: str, stack: Stack) -> Iterator[tuple[str, tuple[str, ...], str]]:
        """Yield the factors of a cell: name, alphabet and blank of its own, then of each of its bits."""
        code = self.code(stack.tape)
        bottom = (self.bottom,) if name.endswith("track0") else ()
        yield name, (self.dummy, *bottom, *code.values), self.dummy
        for bit_name in bit_names(name, code):
            yield bit_name, BITS, "0"

    def queues(self) -> tuple[Queue, ...]:
        """Return all queues, level by level: the marks, then the columns of each stack."""
        levels = range(1, self.levels + 1)
        return tuple(queue for level in levels for queue in self._queues_of(level))

    def registers(self) -> tuple[Register, ...]:
        """Return the finite control, level 0, and what each level latches."""
        levels = range(1, self.levels + 1)
        return (
            Register("phase", PHASES, "start"),
            Register("verdict", VERDICTS, "run"),
            Register("stepped", tuple(map(str, range(self.steps + 1))), "0"),
            Register("state", self.machine.states, self.machine.start),
            Register("grow", BITS, "0"),
            *([Register("skip", BITS, "0")] if self.steps > 1 else []),
            *(register for tape in self.tapes for register in self._head(tape)),
            *(register for stack in self.stacks for register in self._top(stack)),
            *(register for level in levels for register in self._registers_of(level)),
        )

    @property
    def constants(self) -> dict[str, tuple[str, ...]]:
        """What never changes in a run and is yet left open: the table, each entry with its values."""
        return table_ports(self.machine) if self.open_table else {}

    def input_queues(self) -> tuple[str, ...]:
        """Return where a prompt symbol is written: for each level whose delay may read it back."""
        return tuple(self.stacks[0].input(level) for level in range(2, self.levels + 1))

    def _queues_of(self, level: int) -> Iterator[Queue]:
        """Only marks and input are tested for range: a mark tells whether its column counts."""
        first = self.stacks[0]
        for kind in KINDS:
            rule, column = length_rule(kind, level), first.column(kind, level)
            tested = kind == "main" and level > 1
            yield Queue(first.mark(kind, level), MARKS, NO_MARK, rule, tested, column)
        if level > 1:
            cells = (self.dummy, self.bottom, *self.prompt_symbols)
            rule, column = length_rule("delay", level), first.column("delay", level)
            yield Queue(first.input(level), cells, self.dummy, rule, True, column)
        for stack in self.stacks:
            for kind in KINDS:
                yield from self._column(stack, kind, level)

    @property
    def prompt_symbols(self) -> tuple[str, ...]:
        """The symbols that an input may have."""
        return tuple(s for s in self.machine.symbols if s in self.machine.word_symbols)

    def _column(self, stack: Stack, kind: str, level: int) -> Iterator[Queue]:
        rule, column = length_rule(kind, level), stack.column(kind, level)
        for track in stack.tracks(kind, level):
            for name, alphabet, blank in self.factors(track, stack):
                yield Queue(name, alphabet, blank, rule, False, column)

    def _head(self, tape: int) -> Iterator[Register]:
        """Yield the symbol under a head, at first the blank; or the head's place and the window."""
        code, name = self.code(tape), f"tape{tape}/head"
        if self.steps > 1:
            yield Register(position(tape), tuple(map(str, range(self.steps))), "0")
            for names in window_bits(tape, code):
                yield from (Register(bit, BITS, "0") for bit in names)
        elif code.bits:
            yield from (Register(bit, BITS, "0") for bit in bit_names(name, code))
        else:
            yield Register(name, code.symbols, self.blank)

    def _top(self, stack: Stack) -> Iterator[Register]:
        """Level 0. All stacks have a bottom from the beginning, but one that symbols are loaded to."""
        loaded = stack.is_input and self.steps == 1
        for track in stack.top:
            for name, alphabet, blank in self.factors(track, stack):
                holds_bottom = name == stack.top[0] and not loaded
                yield Register(name, alphabet, self.bottom if holds_bottom else blank)

    def _registers_of(self, level: int) -> Iterator[Register]:
        yield Register(f"started{level}", BITS, "0")
        if level > 1:
            yield Register(f"load{level}", BITS, "0")
        for stack in self.stacks:
            yield Register(stack.register(f"op{level}"), OPERATIONS, "none")
            yield Register(stack.register(f"full{level}"), BITS, "0")

    @cached_property
    def _codes(self) -> tuple[SymbolCode, ...]:
        symbols = (tape_symbols(self.machine, tape - 1) for tape in self.tapes)
        return tuple(SymbolCode(known, self.steps) for known in symbols)


def length_rule(kind: str, level: int) -> str:
    """main_i and delay_i have a rule each, but delay_1 is the current token in every base."""
    return CURRENT_TOKEN if (kind, level) == ("delay", 1) else f"{kind}{level}"


def bit_names(name: str, code: SymbolCode) -> tuple[str, ...]:
    """Return the factors in which a cell or head keeps the bits of its symbol."""
    return tuple(f"{name}.bit{bit}" for bit in range(code.bits))


def position(tape: int) -> str:
    """Return the register that says where the head is in the centre block."""
    return f"tape{tape}/position"


def window_bits(tape: int, code: SymbolCode) -> tuple[tuple[str, ...], ...]:
    """Return the registers of the bits of each cell in a tape's window, from left to right."""
    return tuple(
        tuple(f"tape{tape}/window{cell}.bit{bit}" for bit in range(code.width))
        for cell in range(3 * code.cells)
    )
