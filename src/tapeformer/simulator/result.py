"""What a run of a Turing machine is worth: configurations on the way, a result at the end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tapeformer.machine.record import TuringMachine


class Outcome(Enum):
    """How a run ended. `limit` and `out_of_space` are never answers."""

    ACCEPT = "accept"
    REJECT = "reject"
    HALT = "halt"
    LIMIT = "limit"
    OUT_OF_SPACE = "out_of_space"


@dataclass(frozen=True)
class Tape:
    """The content from the first to the last non-blank cell, and the head counted from that first cell.

    On an empty tape the head is 0.
    """

    content: tuple[str, ...]
    head: int


@dataclass(frozen=True)
class Configuration:
    """The machine after `step` steps; `outcome` is None while it can go on."""

    step: int
    state: str
    tapes: tuple[Tape, ...]
    outcome: Outcome | None = None


@dataclass(frozen=True)
class Result:
    """The last configuration, and the number of distinct cells visited on each tape.

    `positions` has the position of each head, counted from the cell where the word starts.
    """

    outcome: Outcome
    state: str
    steps: int
    tapes: tuple[Tape, ...]
    cells: tuple[int, ...]
    positions: tuple[int, ...]

    @property
    def space(self) -> int:
        """Distinct cells visited over all tapes (the paper's s)."""
        return sum(self.cells)


def verdict(machine: TuringMachine, state: str) -> Outcome:
    """The outcome of a machine that stops in `state`."""
    if state in machine.accepting:
        return Outcome.ACCEPT
    if state in machine.rejecting or machine.accepting:
        return Outcome.REJECT
    if machine.no_rule_rejects and state not in machine.halting:
        return Outcome.REJECT
    return Outcome.HALT


def trimmed(cells: list[str], first: int, head: int, blank: str) -> Tape:
    """The tape of `cells`, whose first is at position `first`, without blanks at its ends."""
    start, end = 0, len(cells)
    while end > start and cells[end - 1] == blank:
        end -= 1
    while start < end and cells[start] == blank:
        start += 1
    if start == end:
        return Tape((), 0)
    return Tape(tuple(cells[start:end]), head - first - start)
