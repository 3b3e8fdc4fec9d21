"""What the constructions with two stacks for each tape have in common: names and cells."""

from __future__ import annotations

from functools import cached_property

from tapeformer.dataclass import dataclass
from tapeformer.machine.record import TapeKind, TuringMachine


@dataclass(frozen=True)
class TapeStack:
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

    def register(self, what: str) -> str:
        """Return the name of a register, such as `tape1.left/op`."""
        return f"{self.name}/{what}"


@dataclass(frozen=True)
class StackFields:
    """Names for one machine and number of levels; none depends on the base."""

    machine: TuringMachine
    levels: int

    @property
    def tapes(self) -> range:
        """The numbers of the tapes."""
        return range(1, self.machine.tapes + 1)

    @property
    def bounded(self) -> bool:
        """Whether a left move from a tape's first cell stays there."""
        return self.machine.tape_kind is TapeKind.ONE_WAY

    @property
    def blank(self) -> str:
        """The tape's blank."""
        return self.machine.blank

    @cached_property
    def dummy(self) -> str:
        """The cell that holds nothing."""
        return self._fresh(".")

    @cached_property
    def bottom(self) -> str:
        """END, the deepest cell of every stack, never popped."""
        return self._fresh("$")

    def _fresh(self, name: str) -> str:
        """Return a name that no symbol of the machine has."""
        while name in self.machine.symbols:
            name += "'"
        return name
