"""Why base 2 never waits, checked exhaustively, and what was found for other bases.

`python -m tapeformer.constructions.realtime.proofs.base_two` prints both.

A level deals with the level above it only at its own position 0, where it has a whole number of
units. What it may meet there is the automaton `ABOVE`: everything above is empty, holds something,
or is full; an empty or full level may be out of phase, and then refuses once. The check assumes
`ABOVE` of the neighbour above and every behaviour of the neighbour below, and shows that the level
itself shows nothing but `ABOVE` to the neighbour below. The highest level has nothing above it, or
levels that were never started, which are empty. By induction from there down, level 0 meets
`ABOVE` too; there the client is the Turing machine, and it never has to wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal

from tapeformer.constructions.realtime.model import blocks_up
from tapeformer.constructions.realtime.names import HIGH, TRACKS
from tapeformer.constructions.realtime.proofs.exploring import Checked, explored
from tapeformer.constructions.realtime.proofs.search import LEVELS, Worst, worst_found

Above = Literal["nothing", "empty", "empty, late", "some", "full", "full, late"]
Answer = tuple[int, Above]
"""The units that go up (+1), come down (-1) or neither, and what is above afterwards."""

BASE = 2

ABOVE: dict[tuple[Above, bool], frozenset[Answer]] = {
    ("nothing", True): frozenset({(0, "nothing")}),
    ("nothing", False): frozenset({(0, "nothing")}),
    ("empty", True): frozenset({(1, "some")}),
    ("empty", False): frozenset({(0, "empty"), (0, "empty, late")}),
    ("empty, late", True): frozenset({(0, "empty")}),
    ("empty, late", False): frozenset({(0, "empty")}),
    ("some", True): frozenset({(1, "some"), (1, "full")}),
    ("some", False): frozenset({(-1, "some"), (-1, "empty")}),
    ("full", True): frozenset({(0, "full"), (0, "full, late")}),
    ("full", False): frozenset({(-1, "some")}),
    ("full, late", True): frozenset({(0, "full")}),
    ("full, late", False): frozenset({(0, "full")}),
}
"""What is above a level, and whether the level is high: what may happen."""


@dataclass(frozen=True)
class LevelState:
    """A level at a block boundary: blocks held, number of the boundary in the turn, what is above."""

    blocks: int
    boundary: int
    started: bool
    above: Above

    def shown(self) -> Above:
        """Return what the level below meets."""
        at_end = not self.started or self.blocks % BASE == self.boundary
        if self.blocks == 0 and self.above.startswith(("empty", "nothing")):
            return "empty" if at_end else "empty, late"
        if self.blocks == BASE * TRACKS and self.above.startswith(("full", "nothing")):
            return "full" if at_end else "full, late"
        return "some"


@dataclass(frozen=True)
class TopState:
    """Level 0 between two tokens: the symbols it holds, and what is above."""

    symbols: int
    above: Above


def check_level() -> Checked:
    """Check one level against every behaviour of its neighbours, from not started on; also the highest."""
    above: tuple[Above, ...] = ("empty", "nothing")
    return explored([LevelState(0, 0, False, state) for state in above], _level_steps)


def check_top() -> Checked:
    """Hold level 0 against every behaviour of level 1 and of the Turing machine; it holds END at first."""
    return explored([TopState(count, "empty") for count in (0, 1)], _top_steps)


def _level_steps(state: LevelState) -> Iterator[tuple[LevelState, str]]:
    """Yield every step of a level to its next block boundary, with what would break the induction.

    All stacks have one clock, so another stack may start the level while this one holds nothing.
    """
    for below_high, started in product((False, True), repeat=2):
        change = blocks_up(BASE, state.blocks, state.boundary, below_high, TRACKS)
        if started or not (state.started or change):
            boundary = (state.boundary + 1) % BASE if started else 0
            for units, above in _answers(state):
                blocks = state.blocks + change - BASE * units
                after = LevelState(blocks, boundary, started, above)
                yield after, _level_fault(state, after, below_high, change)


def _answers(state: LevelState) -> frozenset[Answer]:
    """Return what the level above may do: it acts only where this level is at position 0, once started."""
    if state.boundary or not state.started:
        return frozenset({(0, state.above)})
    return ABOVE[state.above, state.blocks // BASE >= HIGH]


def _level_fault(before: LevelState, after: LevelState, below_high: bool, change: int) -> str:
    if not 0 <= after.blocks <= BASE * TRACKS:
        return "content lost"
    if after.boundary == 0 and after.blocks % BASE:
        return "half a unit at position 0"
    if (change, after.shown()) not in ABOVE[before.shown(), below_high]:
        return f"from {before.shown()!r} it moves {change} and shows {after.shown()!r}"
    return ""


def _top_steps(state: TopState) -> Iterator[tuple[TopState, str]]:
    """Yield what each token may do: level 1 acts by what level 0 held, and the client pushes, pops or does neither."""
    for units, above in ABOVE[state.above, state.symbols >= HIGH]:
        for want in (-1, 0, 1):
            if state.symbols + want < 0 and state.above.startswith("empty"):
                continue
            after = TopState(state.symbols - units + want, above)
            waits = (want < 0 and state.symbols < 1) or (want > 0 and state.symbols >= TRACKS)
            allowed = want > 0 and state.above.startswith("full")
            if not (waits and allowed):
                yield after, "the client waits" if waits else _top_fault(after)


def _top_fault(after: TopState) -> str:
    if not 0 <= after.symbols <= TRACKS:
        return "a symbol is lost"
    if after.symbols == 0 and not after.above.startswith("empty"):
        return "empty below content"
    if after.symbols == TRACKS and not after.above.startswith("full"):
        return "full below room"
    return ""


def main(tries: int = 400) -> int:
    """Print both checks and the search; the exit status is 1 if a check fails."""
    checks = {"one level": check_level(), "level 0 and the Turing machine": check_top()}
    for name, found in checks.items():
        print(found.told(f"base 2, {name}"))
    for base, levels in LEVELS.items():
        print(_told(worst_found(base, levels, tries)))
    return int(any(found.violations for found in checks.values()))


def _told(worst: Worst) -> str:
    return (
        f"base {worst.base}, {worst.levels} levels: at worst {worst.average:.3f} tokens an operation"
        f" ({worst.average_by}), one waits {worst.longest_wait} ({worst.longest_wait_by})"
    )


if __name__ == "__main__":
    raise SystemExit(main())
