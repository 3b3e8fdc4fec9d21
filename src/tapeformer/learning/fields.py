"""The factors of a token, sorted into what belongs to a stack's level, to a level's clock, to the control."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

QUEUES = ("main", "delay")
CELL = re.compile(r"(?P<stack>[^/]+)/(?P<kind>main|delay|top)(?P<level>\d*)(?P<rest>\.track.+)")
STACK_REGISTER = re.compile(r"(?P<stack>[^/]+)/(?P<kind>op|full)(?P<level>\d+)")
CLOCK = re.compile(
    r"(?:[^/]+/(?P<kind>main|delay)|(?P<register>started|load))(?P<level>\d+)(?P<rest>\.\w+)?"
)


@dataclass(frozen=True)
class Factor:
    """One factor of a token: its name, the number of its values, and how far back its queue's front is.

    A register has no queue: its `look_back` is None, and its value is that of the current token.
    """

    name: str
    size: int
    look_back: int | None = None


@dataclass(frozen=True)
class Slot:
    """A factor where a block reads it: its column in a token (none where it does not exist)."""

    column: int
    size: int
    look_back: int | None


class TokenFields:
    """The factors of a model's tokens by role; a role is the same for all levels and stacks."""

    def __init__(self, factors: Sequence[Factor], levels: int) -> None:
        self.factors, self.levels = tuple(factors), levels
        self.cells: dict[tuple[str, int, str], int] = {}
        self.clock: dict[tuple[int, str], int] = {}
        self.control: list[int] = []
        for column, factor in enumerate(self.factors):
            self._sort(column, factor.name)

    def _sort(self, column: int, name: str) -> None:
        if (cell := CELL.fullmatch(name)) and cell["kind"] != "top":
            self.cells[cell["stack"], int(cell["level"]), cell["kind"] + cell["rest"]] = column
        elif cell:
            for kind in QUEUES:
                self.cells[cell["stack"], 0, kind + cell["rest"]] = column
            self.control.append(column)
        elif register := STACK_REGISTER.fullmatch(name):
            self.cells[register["stack"], int(register["level"]), register["kind"]] = column
        elif clock := CLOCK.fullmatch(name):
            role = clock["register"] or clock["kind"] + (clock["rest"] or "")
            self.clock[int(clock["level"]), role] = column
        else:
            self.control.append(column)

    @cached_property
    def stacks(self) -> tuple[str, ...]:
        """The stacks, in the order of the factors."""
        return tuple(dict.fromkeys(stack for stack, _, _ in self.cells))

    @cached_property
    def cell_roles(self) -> tuple[str, ...]:
        """What a stack has on each level: the cells of two columns, and two registers."""
        return tuple(dict.fromkeys(role for _, level, role in self.cells if level > 0))

    @cached_property
    def clock_roles(self) -> tuple[str, ...]:
        """What all stacks share on a level: marks, the prompt read back, whether it is started."""
        return tuple(dict.fromkeys(role for level, role in self.clock))

    def cell(self, stack: str, level: int, role: str) -> Slot:
        """Return where a stack's role on a level is."""
        return self._slot(self.cells.get((stack, level, role)), self._cell_size(role))

    def tick(self, level: int, role: str) -> Slot:
        """Return where a clock's role on a level is."""
        return self._slot(self.clock.get((level, role)), self._clock_size(role))

    def register(self, column: int) -> Slot:
        """Return a factor of the control, as the current token has it."""
        return Slot(column, self.factors[column].size, None)

    def named(self, name: str) -> Slot:
        """Return a factor of the control by its name."""
        return self.register([factor.name for factor in self.factors].index(name))

    def _slot(self, column: int | None, size: int) -> Slot:
        if column is None:
            return Slot(-1, size, None)
        return Slot(column, size, self.factors[column].look_back)

    def _cell_size(self, role: str) -> int:
        found = (column for (_, _, r), column in self.cells.items() if r == role)
        return max(self.factors[column].size for column in found)

    def _clock_size(self, role: str) -> int:
        found = (column for (_, r), column in self.clock.items() if r == role)
        return max(self.factors[column].size for column in found)
