"""All queues and registers of a machine: what a token carries.

With M steps in a token, a cell of a column is a block of M tape cells, and the head's symbol becomes
a window of three blocks (left, centre, right) with the head somewhere in the centre.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from tapeformer.constructions.open_table import table_ports
from tapeformer.constructions.reach import tape_symbols
from tapeformer.constructions.realtime.code import SymbolCode
from tapeformer.constructions.realtime.names import (
    BITS,
    KINDS,
    MARKS,
    NO_MARK,
    OPERATIONS,
    PHASES,
    Stack,
    bit_names,
    length_rule,
    position,
    window_bits,
)
from tapeformer.constructions.stacks import StackFields
from tapeformer.dataclass import dataclass
from tapeformer.queues.record import Queue, Register
from tapeformer.queues.verdicts import VERDICTS


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
