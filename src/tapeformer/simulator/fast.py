"""The direct simulation at speed: runs to the end, counting steps and distinct cells.

The inner loop is written once and unrolled for the number of tapes. Symbols are numbers; a cell
that was never visited holds a number of its own that no rule reads, so the loop needs no test for
the ends of a tape: it falls out, the cell is entered, and it goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from tapeformer.machine.record import TapeKind, TuringMachine
from tapeformer.simulator.result import Outcome, Result, Tape, trimmed, verdict

CHUNK = 1 << 17
MOST_STEPS = 10**9
MOST_CELLS = 10**8

_LOOP = """
def loop(action_of, steps, base, {cells}, {places}):
    for step in range(steps):
        action = action_of(base + {key})
        if action is None:
            return step, base, ({places},)
        {writes}, {moves}, base = action
        {shifts}
    return steps, base, ({places},)
"""


@lru_cache(maxsize=16)
def _loop(tapes: int) -> Callable[..., tuple[int, int, tuple[int, ...]]]:
    """The inner loop for a number of tapes: up to `steps` steps, fewer where no action applies."""

    def each(form: str, glue: str = ", ") -> str:
        return glue.join(form.format(i=index) for index in range(tapes))

    source = _LOOP.format(
        cells=each("t{i}"),
        places=each("p{i}"),
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
    """A growing list of symbol numbers; `unvisited` marks cells that the head was never on."""

    def __init__(self, word: Sequence[int], blank: int, unvisited: int, head: int, bounded: bool):
        self.word, self.blank, self.unvisited, self.bounded = word, blank, unvisited, bounded
        self.origin, self.visited = 8, 0
        self.cells = [unvisited] * (16 + head)
        self.start = self.origin + head

    def enter(self, place: int) -> int:
        """Makes the cell at `place` one that rules can read; answers where the head now is."""
        if self.bounded and place < self.origin:
            place = self.origin
        if self.cells[place] != self.unvisited:
            return place
        at = place - self.origin
        self.cells[place] = self.word[at] if 0 <= at < len(self.word) else self.blank
        self.visited += 1
        return self._with_room(place)

    def _with_room(self, place: int) -> int:
        more = len(self.cells)
        if place == more - 1:
            self.cells.extend([self.unvisited] * more)
        elif place == 0:
            self.cells[:0] = [self.unvisited] * more
            self.origin += more
            place += more
        return place

    def content(self) -> tuple[int, list[int]]:
        """The position of the first cell relative to the word's first, and all cells from there."""
        end = self.origin + len(self.word)
        padded = self.cells + [self.unvisited] * (end - len(self.cells))
        known = [self.blank if cell == self.unvisited else cell for cell in padded]
        for at, symbol in enumerate(self.word, self.origin):
            if padded[at] == self.unvisited:
                known[at] = symbol
        return -self.origin, known


class _Run:
    """A machine in numbers, and its tapes, between two calls of the inner loop."""

    def __init__(self, machine: TuringMachine, word: Sequence[str], head: int) -> None:
        self.machine = machine
        self.radix = len(machine.symbols) + 1
        self.state_weight = self.radix**machine.tapes
        self.code = {symbol: number for number, symbol in enumerate(machine.symbols)}
        self.state_code = {state: number for number, state in enumerate(machine.states)}
        self.actions = self._actions()
        self.tapes = [self._tape(index, word, head) for index in range(machine.tapes)]
        self.places = tuple(tape.enter(tape.start) for tape in self.tapes)
        self.base = self.state_code[machine.start] * self.state_weight
        self.steps = 0

    def _tape(self, index: int, word: Sequence[str], head: int) -> _Tape:
        weight = self.radix**index
        symbols = [self.code[symbol] * weight for symbol in word] if index == 0 else []
        bounded = self.machine.tape_kind is TapeKind.ONE_WAY
        blank, unvisited = self.code[self.machine.blank] * weight, (self.radix - 1) * weight
        return _Tape(symbols, blank, unvisited, head if index == 0 else 0, bounded)

    def _numbers(self, symbols: Sequence[str]) -> list[int]:
        return [self.code[symbol] * self.radix**index for index, symbol in enumerate(symbols)]

    def _actions(self) -> dict[int, tuple[int, ...]]:
        """From state and symbols in numbers to what is written, the moves and the next state."""
        actions = {}
        for (state, read), rule in self.machine.rule_for.items():
            if state in self.machine.stopping:
                continue
            key = self.state_code[state] * self.state_weight + sum(self._numbers(read))
            following = self.state_code[rule.next_state] * self.state_weight
            actions[key] = (*self._numbers(rule.write), *map(int, rule.moves), following)
        return actions

    def advance(self, steps: int) -> bool:
        """Up to `steps` steps; False once no rule applies."""
        loop = _loop(self.machine.tapes)
        goal = self.steps + steps
        while self.steps < goal:
            cells = (tape.cells for tape in self.tapes)
            done, self.base, self.places = loop(
                self.actions.get, goal - self.steps, self.base, *cells, *self.places
            )
            self.steps += done
            if self.steps < goal and not self._enter_cells():
                return False
        self._enter_cells()
        return True

    def _enter_cells(self) -> bool:
        """Enters the cells that heads have just reached; False if all were entered before."""
        before = self.places
        visited = sum(tape.visited for tape in self.tapes)
        self.places = tuple(
            tape.enter(place) for tape, place in zip(self.tapes, before, strict=True)
        )
        return self.places != before or sum(tape.visited for tape in self.tapes) != visited

    def can_step(self) -> bool:
        """Whether a rule applies where the run stands."""
        cells = zip(self.tapes, self.places, strict=True)
        return self.base + sum(tape.cells[place] for tape, place in cells) in self.actions

    def result(self, outcome: Outcome | None) -> Result:
        state = self.machine.states[self.base // self.state_weight]
        return Result(
            outcome=outcome or verdict(self.machine, state),
            state=state,
            steps=self.steps,
            tapes=tuple(self._content(index) for index in range(self.machine.tapes)),
            cells=tuple(tape.visited for tape in self.tapes),
        )

    def _content(self, index: int) -> Tape:
        first, numbers = self.tapes[index].content()
        weight = self.radix**index
        symbols = [self.machine.symbols[number // weight] for number in numbers]
        at = self.places[index] - self.tapes[index].origin
        return trimmed(symbols, first, at, self.machine.blank)


def simulate(
    machine: TuringMachine,
    word: Sequence[str] = (),
    *,
    head: int = 0,
    max_steps: int = MOST_STEPS,
    max_cells: int = MOST_CELLS,
    watch: Callable[[int], bool] | None = None,
) -> Result:
    """Runs a machine until it stops or a limit is reached.

    `watch` is told the number of steps now and then; if it answers False the run ends there, as
    at a step limit.
    """
    run = _Run(machine, word, head)
    while True:
        going = run.advance(min(CHUNK, max_steps - run.steps))
        if not going:
            return run.result(None)
        if sum(tape.visited for tape in run.tapes) > max_cells:
            return run.result(Outcome.OUT_OF_SPACE)
        if run.steps >= max_steps or (watch is not None and not watch(run.steps)):
            return run.result(Outcome.LIMIT if run.can_step() else None)
