"""Why a base b > 2 needs at most b tokens per step: the lemmas, each checked exhaustively.

`python -m tapeformer.constructions.realtime.proofs.larger_base` prints them for b = 4, 6, 8, 10.

S_j is the number of symbols below level j, M_j the most there can be. Lemma 1 (`check_level`): a
level that is asked for a block at its end has one, unless all above it is empty; and a level that
gave a unit up is not full again at the next end of the level above. Lemma 2 (`check_margins`):
after an exchange of level j, b^(j-1) <= S_j <= M_j - b^(j-1). So a token in which the machine
waits ends a window of tokens in which at least one in b was a step (`check_windows`); such
windows can be chosen disjoint, and every token outside them is a step. The text of the proof
is in docs/theory.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from tapeformer.constructions.realtime.model import blocks_up
from tapeformer.constructions.realtime.names import HIGH, TRACKS
from tapeformer.constructions.realtime.proofs.exploring import Checked, explored

BASES = (4, 6, 8, 10)
LEVELS = 8

Above = Literal["nothing", "unstarted", "empty", "some", "full"]
Act = Literal["push", "pull", "refuse", "none"]


@dataclass(frozen=True)
class Rule:
    """The constants of a level: the base, X tracks, and how many units are `high`."""

    base: int
    tracks: int = TRACKS
    high: int = HIGH

    def most_below(self, level: int) -> int:
        """M_j: the symbols that fit below a level."""
        columns: int = sum(self.base**i for i in range(level))
        return self.tracks * columns


@dataclass(frozen=True)
class LevelState:
    """A level at a block boundary, and what is above it.

    `late`: the boundaries of the level above that pass before its end is met; `last`: what that
    level did at its last end.
    """

    blocks: int
    boundary: int
    started: bool
    above: Above
    late: int = 0
    last: Act = "none"


def check_level(rule: Rule) -> Checked:
    """Lemma 1: one level against every behaviour of its neighbours, from not started on."""
    above: tuple[Above, ...] = ("unstarted", "nothing")
    first = [LevelState(0, 0, False, state) for state in above]
    return explored(first, lambda state: _level_steps(rule, state))


def _level_steps(rule: Rule, state: LevelState) -> Iterator[tuple[LevelState, str]]:
    """Yield every step of a level to its next boundary; another stack may start it."""
    for below_high, started in product((False, True), repeat=2):
        change = blocks_up(rule.base, state.blocks, state.boundary, below_high, rule.tracks)
        if started or not (state.started or change):
            boundary = (state.boundary + 1) % rule.base if started else 0
            for units, met in _answers(rule, state):
                blocks = state.blocks + change - rule.base * units
                after = replace(met, blocks=blocks, boundary=boundary, started=started)
                yield after, _level_fault(rule, state, after, below_high)


def _answers(rule: Rule, state: LevelState) -> Iterator[tuple[int, LevelState]]:
    """Yield what the level above does, at position 0 of this one: units up, and how it stands then."""
    if state.boundary or not state.started:
        yield 0, state
    elif state.late:
        yield 0, replace(state, late=state.late - 1)
    else:
        yield from _at_its_end(rule, state, state.blocks // rule.base >= rule.high)


def _at_its_end(rule: Rule, state: LevelState, high: bool) -> Iterator[tuple[int, LevelState]]:
    """Yield what follows where the end of the level above is here. After a pull it comes b - 1 boundaries later."""
    refused = replace(state, late=rule.base - 1, last="refuse")
    if state.above == "unstarted" and not high:
        yield 0, state
        yield 0, replace(refused, above="empty")
    elif state.above == "nothing" or state.above == ("full" if high else "empty"):
        yield 0, refused
    elif high:
        ways: tuple[Above, ...] = ("some", "full")
        yield from ((1, replace(state, above=above, last="push")) for above in ways)
        if state.above == "some":
            yield 0, refused
    else:
        left: tuple[Above, ...] = ("some", "empty")
        pulled = replace(state, late=rule.base - 2, last="pull")
        yield from ((-1, replace(pulled, above=above)) for above in left)


def _level_fault(rule: Rule, before: LevelState, after: LevelState, below_high: bool) -> str:
    full = rule.base * rule.tracks
    at_end = before.started and before.blocks % rule.base == before.boundary
    if not 0 <= after.blocks <= full:
        return "content lost"
    if at_end and not below_high and not before.blocks and before.above in ("some", "full"):
        return "nothing to give below content"
    if before.blocks == full and before.above == "unstarted":
        return "full below a level that was never started"
    if _meets_end(before) and before.last == "push" and before.blocks == full:
        return "full again where the level above meets its end"
    return ""


def _meets_end(state: LevelState) -> bool:
    return state.started and not state.boundary and not state.late and state.above != "unstarted"


def check_margins(rule: Rule) -> Checked:
    """Lemma 2: what an exchange of level j leaves below it, for every content of level j - 1.

    S_j grows with what is below level j - 1, so that its least and most suffice.
    """
    found = [text for level in range(1, LEVELS + 1) for text in _margin_faults(rule, level)]
    cases = [case for level in range(1, LEVELS + 1) for case in _exchanges(rule, level)]
    return Checked(len(cases), len(cases), tuple(found))


@dataclass(frozen=True)
class Exchange:
    """What is below level j before (`held`) and after (`left`) it meets its end, and if that is `high`."""

    what: Act
    high: bool
    held: int
    left: int


def _exchanges(rule: Rule, level: int) -> Iterator[Exchange]:
    """Yield every exchange of a level, with whatever the client does in the same token."""
    unit, most = rule.base ** (level - 1), rule.most_below(level)
    for held, units in _contents(rule, level):
        high = units >= rule.high
        for client in (-1, 0, 1):
            if 0 <= held + client <= most:
                left = held + client + (-unit if high else unit)
                yield Exchange("push" if high else "pull", high, held, left)
                yield Exchange("refuse", high, held, held + client)


def _contents(rule: Rule, level: int) -> Iterator[tuple[int, int]]:
    """S_j and the units of level j - 1, at its every content with the least and the most below that."""
    if level == 1:
        yield from ((symbols, symbols) for symbols in range(rule.tracks + 1))
        return
    block = rule.base ** (level - 2)
    for blocks in range(rule.base * rule.tracks + 1):
        for below in (0, rule.most_below(level - 1)):
            yield blocks * block + below, blocks // rule.base


def _margin_faults(rule: Rule, level: int) -> Iterator[str]:
    unit, most = rule.base ** (level - 1), rule.most_below(level)
    for case in _exchanges(rule, level):
        if case.what != "refuse" and not unit <= case.left <= most - unit:
            yield f"level {level}: after {case.what} at {case.held} below, {case.left} are left"


@dataclass(frozen=True)
class Window:
    """The tokens from the exchange that a wait goes back to, at most, and its steps, at least."""

    why: str
    tokens: int
    steps: int


def windows(rule: Rule) -> Iterator[Window]:
    """Yield every kind of window: the client waits for level j, which goes back to level m >= j."""
    for top in range(1, LEVELS + 1):
        turn, unit = rule.base**top, rule.base ** (top - 1)
        yield Window(f"a pop waits for level {top}, which gave", turn - unit, unit)
        kept = rule.high * unit - 1
        yield Window(f"a pop waits for level {top}, which was full", turn, kept)
        least = {what: _fewest_pushes(rule, top, what) for what in ("pull", "refuse")}
        for level in range(1, top + 1):
            refusals = sum(rule.base**i for i in range(level, top))
            why = f"a push waits for level {level}, held up by level {top}, which"
            yield Window(f"{why} gave", turn - unit + refusals, least["pull"])
            yield Window(f"{why} was empty", turn + refusals, least["refuse"])


def _fewest_pushes(rule: Rule, level: int, what: str) -> int:
    """Return the pushes that fill all below a level after it gave, or refused since it was empty."""
    most = rule.most_below(level)
    low = (e for e in _exchanges(rule, level) if e.what == what and not e.high)
    return min(most - exchange.left for exchange in low)


def check_windows(rule: Rule) -> Checked:
    """In every window at least one token in b is a step."""
    cases = list(windows(rule))
    wrong = (w for w in cases if w.tokens > rule.base * w.steps)
    return Checked(len(cases), len(cases), tuple(map(str, wrong)))


def checks(rule: Rule) -> dict[str, Checked]:
    """Return all lemmas for one base."""
    return {
        "one level against its neighbours": check_level(rule),
        "margins after an exchange": check_margins(rule),
        "windows before a wait": check_windows(rule),
    }


def main() -> int:
    """Print the lemmas for each base, and that other constants fail; 1 if anything is not so."""
    failed = False
    for base in BASES:
        for name, found in checks(Rule(base)).items():
            print(found.told(f"base {base}, {name}"))
            failed |= bool(found.violations)
    for tracks, high in ((4, 2), (4, 3), (5, 2), (5, 4)):
        wrong = sum(len(found.violations) for found in checks(Rule(4, tracks, high)).values())
        print(f"base 4 with X = {tracks}, high = {high}: {wrong} violations, as it should have")
        failed |= not wrong
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
