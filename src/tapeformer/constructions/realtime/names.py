"""The names of columns, clock marks, cells and their bits, as decoders find them in a token.

A tape is two stacks. A stack is level 0, one column in the registers, and levels 1..k', each a
ring of two queues of columns, `main` and `delay`. A column is X cells (tracks), each in queues
of its own; they share a length, so one head can fetch a whole column.
"""

from __future__ import annotations

from tapeformer.constructions.realtime.code import SymbolCode
from tapeformer.constructions.stacks import TapeStack
from tapeformer.dataclass import dataclass

TRACKS = 5
"""X: the cells of a column."""
HIGH = 3
"""A level with this many whole units sends one up; with fewer it asks for one."""

PHASES = ("start", "wait", "load", "rewind", "run")
OPERATIONS = ("none", "push", "pull")
BEHIND = {"push": 1, "none": 0, "pull": -1}
"""How many tracks lower a column is, once the level above has shifted it in this turn."""
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
