"""What a run of a Turing machine gives: configurations on the way, a result at the end."""

from __future__ import annotations

from tapeformer.dataclass import dataclass
from tapeformer.faults import counted, quoted
from tapeformer.machine.record import TuringMachine, shortened
from tapeformer.simulator.outcome import Outcome, Tape


@dataclass(frozen=True, repr=False)
class Configuration:
    """The machine after `step` steps; `outcome` is None while it can go on."""

    step: int
    state: str
    tapes: tuple[Tape, ...]
    outcome: Outcome | None = None

    def __repr__(self) -> str:
        ending = "" if self.outcome is None else f", {self.outcome.value}"
        return f"<Configuration: step {self.step:,}, state {quoted(self.state)}, {_short(self.tapes)}{ending}>"


@dataclass(frozen=True, repr=False)
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
        """Return the number of distinct cells visited over all tapes (the paper's s)."""
        return sum(self.cells)

    def __repr__(self) -> str:
        size = f"{counted(self.steps, 'step')}, {counted(self.space, 'cell')}"
        return f"<Result {self.outcome.value}: state {quoted(self.state)}, {size}, {_short(self.tapes)}>"

    def _repr_html_(self) -> str:
        from tapeformer.display import result_html

        return result_html(self)


def _short(tapes: tuple[Tape, ...], most: int = 3) -> str:
    shown = ", ".join(shortened(tape.content) for tape in tapes[:most])
    more = f" and {len(tapes) - most} more" if len(tapes) > most else ""
    return f"tape {shown}" if len(tapes) == 1 else f"tapes {shown}{more}"


def verdict(machine: TuringMachine, state: str) -> Outcome:
    """Return the outcome of a machine that stops in `state`."""
    if state in machine.accepting:
        return Outcome.ACCEPT
    if state in machine.rejecting or machine.accepting:
        return Outcome.REJECT
    if machine.no_rule_rejects and state not in machine.halting:
        return Outcome.REJECT
    return Outcome.HALT


def trimmed(cells: list[str], first: int, head: int, blank: str) -> Tape:
    """Return the tape of `cells`, the first at position `first`, without the blanks at its ends."""
    start, end = 0, len(cells)
    while end > start and cells[end - 1] == blank:
        end -= 1
    while start < end and cells[start] == blank:
        start += 1
    if start == end:
        return Tape((), 0)
    return Tape(tuple(cells[start:end]), head - first - start)
