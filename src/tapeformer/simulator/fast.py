"""Simulate a machine fast, counting steps and distinct cells.

The inner loop is written once and unrolled for the number of tapes. Symbols are numbers. A tape
ends with a number that no rule reads, so the loop does not test for the ends: it stops there, the
tape grows to twice its length, and the loop is entered again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from tapeformer.arguments import check_count, watched
from tapeformer.machine.record import TapeKind, TuringMachine
from tapeformer.machine.verify import checked
from tapeformer.machine.word import checked_word
from tapeformer.simulator.limits import checked_head
from tapeformer.simulator.outcome import Outcome, Tape
from tapeformer.simulator.result import Result, trimmed, verdict

CHUNK = 1 << 17
MOST_STEPS = 10**9
MOST_CELLS = 5 * 10**7

_LOOP = """
def loop(action_of, steps, base, {cells}, {positions}):
    for step in range(steps):
        action = action_of(base + {key})
        if action is None:
            return step, base, ({positions},)
        {writes}, {moves}, base = action
        {shifts}
    return steps, base, ({positions},)
"""


@lru_cache(maxsize=16)
def _loop(tapes: int) -> Callable[..., tuple[int, int, tuple[int, ...]]]:
    """Return the inner loop for a number of tapes: up to `steps` steps, fewer if no rule applies."""

    def each(form: str, glue: str = ", ") -> str:
        return glue.join(form.format(i=index) for index in range(tapes))

    source = _LOOP.format(
        cells=each("t{i}"),
        positions=each("p{i}"),
        key=each("t{i}[p{i}]", " + "),
        writes=each("t{i}[p{i}]"),
        moves=each("m{i}"),
        shifts=each("p{i} += m{i}", "; "),
    )
    scope: dict[str, Any] = {}
    exec(source, scope)
    loop: Callable[..., tuple[int, int, tuple[int, ...]]] = scope["loop"]
    return loop


class _Tape:
    """A growing list of symbol numbers, times the weight of the tape.

    A cell that no head has left yet holds its symbol's *fresh* number (`size` higher), so that the
    visited cells can be counted at the end. At both ends is a number that no rule reads.
    """

    def __init__(self, word: Sequence[int], blank: int, size: int, weight: int) -> None:
        self.fresh_blank, self.edge = (blank + size) * weight, 2 * size * weight
        self.size, self.weight = size, weight
        fresh = [(symbol + size) * weight for symbol in word]
        self.cells = [self.edge, *fresh, self.fresh_blank, self.edge]
        self.origin = 1

    def with_room(self, position: int, bounded: bool, most: int) -> int:
        """Return the position of the head, after growing the tape if it has run over an end.

        The tape grows to twice its length, but by no more than `most` cells.
        """
        if self.cells[position] != self.edge:
            return position
        if position == 0 and bounded:
            return self.origin
        more = [self.fresh_blank] * max(1, min(len(self.cells), most))
        if position > 0:
            self.cells[position:position] = more
            return position
        self.cells[1:1] = more
        self.origin += len(more)
        return len(more)

    def visited(self, position: int) -> int:
        """Return how many cells the head was on; it is at `position` now.

        They are contiguous, so bisection finds their ends.
        """
        first_fresh = self.size * self.weight
        left = bisect_left(range(1, position), True, key=lambda at: self.cells[at] < first_fresh)
        after = range(position + 1, len(self.cells))
        right = bisect_left(after, True, key=lambda at: self.cells[at] >= first_fresh)
        return (position - 1 - left if position > 1 else 0) + 1 + right

    def numbers(self) -> list[int]:
        """Return the symbols of all cells; index `origin - 1` is the first cell of the word."""
        return [cell // self.weight % self.size for cell in self.cells[1:-1]]


class _Run:
    """A machine with states and symbols as numbers, and its tapes, between calls of the loop."""

    def __init__(
        self, machine: TuringMachine, word: Sequence[str], head: int, max_cells: int
    ) -> None:
        self.machine, self.max_cells = machine, max_cells
        self.bounded = machine.tape_kind is TapeKind.ONE_WAY
        self.size = len(machine.symbols)
        self.radix = 2 * self.size + 1
        self.state_weight = self.radix**machine.tapes
        self.code = {symbol: number for number, symbol in enumerate(machine.symbols)}
        self.state_code = {state: number for number, state in enumerate(machine.states)}
        self.actions = self._actions()
        self.tapes = [self._tape(index, word) for index in range(machine.tapes)]
        self.positions = (1 + head,) + (1,) * (machine.tapes - 1)
        self.base = self.state_code[machine.start] * self.state_weight
        self.steps = 0

    def _tape(self, index: int, word: Sequence[str]) -> _Tape:
        symbols = [self.code[symbol] for symbol in word] if index == 0 else []
        blank, weight = self.code[self.machine.blank], self.radix**index
        return _Tape(symbols, blank, self.size, weight)

    def _numbers(self, symbols: Sequence[str]) -> list[int]:
        return [self.code[symbol] * self.radix**index for index, symbol in enumerate(symbols)]

    def _actions(self) -> dict[int, tuple[int, ...]]:
        """Map state and symbols, as one number, to what is written, the moves and the next state."""
        actions = {}
        for (state, read), rule in self.machine.rule_for.items():
            if state in self.machine.stopping:
                continue
            key = self.state_code[state] * self.state_weight + sum(self._numbers(read))
            following = self.state_code[rule.next_state] * self.state_weight
            actions[key] = (*self._numbers(rule.write), *map(int, rule.moves), following)
        return actions

    def advance(self, steps: int) -> bool:
        """Make up to `steps` steps; return False once no rule applies."""
        loop = _loop(self.machine.tapes)
        goal = self.steps + steps
        while True:
            cells = (tape.cells for tape in self.tapes)
            done, self.base, self.positions = loop(
                self.actions.get, goal - self.steps, self.base, *cells, *self.positions
            )
            self.steps += done
            self._make_room()
            if not self.can_step():
                return False
            if self.steps == goal:
                return True

    def _make_room(self) -> None:
        pairs = zip(self.tapes, self.positions, strict=True)
        self.positions = tuple(
            tape.with_room(position, self.bounded, self.max_cells) for tape, position in pairs
        )

    def can_step(self) -> bool:
        """Return whether a rule applies, and add it for fresh cells if it was only there for visited ones."""
        reads = [tape.cells[at] for tape, at in zip(self.tapes, self.positions, strict=True)]
        plain = sum(
            cell // tape.weight % self.size * tape.weight
            for cell, tape in zip(reads, self.tapes, strict=True)
        )
        action = self.actions.get(self.base + plain)
        if action is not None:
            self.actions[self.base + sum(reads)] = action
        return action is not None

    def cells(self) -> tuple[int, ...]:
        """Return the number of distinct cells visited on each tape."""
        pairs = zip(self.tapes, self.positions, strict=True)
        return tuple(tape.visited(position) for tape, position in pairs)

    def cells_left(self) -> int:
        """Return how many more cells may be visited; negative once there were too many."""
        return self.max_cells - sum(self.cells())

    def chunk(self, max_steps: int) -> int:
        """Return the steps to make before checking the limits again."""
        by_cells = max(1, self.cells_left() // self.machine.tapes)
        return min(CHUNK, max_steps - self.steps, by_cells)

    def result(self, outcome: Outcome | None) -> Result:
        """Return the current state of the run as a result."""
        state = self.machine.states[self.base // self.state_weight]
        return Result(
            outcome=outcome or verdict(self.machine, state),
            state=state,
            steps=self.steps,
            tapes=tuple(map(self._content, self.tapes, self.positions)),
            cells=self.cells(),
            positions=tuple(
                at - tape.origin for at, tape in zip(self.positions, self.tapes, strict=True)
            ),
        )

    def _content(self, tape: _Tape, position: int) -> Tape:
        symbols = [self.machine.symbols[number] for number in tape.numbers()]
        return trimmed(symbols, 1, position, self.machine.blank)


def simulate(
    machine: TuringMachine,
    word: Sequence[str] = (),
    *,
    head: int = 0,
    max_steps: int = MOST_STEPS,
    max_cells: int = MOST_CELLS,
    watch: Callable[[int], bool | None] | None = None,
) -> Result:
    """Run a machine on a word (a str, or a list of symbols) until it stops or a limit is reached.

    `watch` is called with the number of steps now and then; if it returns False the run ends
    there, as at a step limit.
    """
    word = checked_word(checked(machine), word)
    check_count("max_steps", max_steps, 0)
    check_count("max_cells", max_cells, 1)
    goes_on = watched(watch)
    run = _Run(machine, word, checked_head(head, word), max_cells)
    while run.advance(run.chunk(max_steps)):
        if run.cells_left() < 0:
            break
        if run.steps >= max_steps or (goes_on is not None and not goes_on(run.steps)):
            return run.result(Outcome.LIMIT)
    return run.result(Outcome.OUT_OF_SPACE if run.cells_left() < 0 else None)
