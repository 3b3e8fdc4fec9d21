"""What a row is given: a machine with two-way tapes, a total step function, and a trace to reproduce.

No normal form is asked for. Where a row needs steps before the machine's own, they are a plain
wrapper machine, and its steps are counted apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import TypeAlias

from tapeformer.faults import Fault, TapeformerError
from tapeformer.machine.record import Move, Rule, TapeKind, TuringMachine
from tapeformer.simulator.stepwise import Stepper

STOP = "<stop>"
"""One more state: where no rule applies, or in a stopping state, the machine goes there and stays."""

Symbols: TypeAlias = tuple[str, ...]
Moves: TypeAlias = tuple[int, ...]
StepMade: TypeAlias = tuple[str, Symbols, Moves]
"""The next state, the symbols written, the moves."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A machine as a row takes it.

    For a word's length, `prefix` counts the steps before the machine's own and `head` says where
    the head of tape 1 starts. `plain` spells symbols that were added.
    """

    machine: TuringMachine
    plain: Mapping[str, str] = field(default_factory=dict)
    prefix: Callable[[int], int] = lambda _: 0
    head: Callable[[int], int] = lambda _: 0

    @cached_property
    def states(self) -> tuple[str, ...]:
        """Every state, and STOP."""
        return (*self.machine.states, STOP)

    @cached_property
    def delta(self) -> dict[tuple[str, Symbols], StepMade]:
        """The total step function."""
        machine = self.machine
        reads = list(product(machine.symbols, repeat=machine.tapes))
        return {(state, read): self._step(state, read) for state in self.states for read in reads}

    def _step(self, state: str, read: Symbols) -> StepMade:
        machine = self.machine
        found = None if state in machine.stopping else machine.rule_for.get((state, read))
        if found is None:
            return STOP, read, (0,) * machine.tapes
        return found.next_state, found.write, tuple(int(move) for move in found.moves)

    def symbols(self, read: Symbols) -> Symbols:
        """Return symbols as the machine that was given spells them."""
        return tuple(self.plain.get(symbol, symbol) for symbol in read)


@dataclass(frozen=True)
class Trace:
    """A direct simulation: what was seen before every step, and what every step did."""

    seen: tuple[tuple[str, Symbols], ...]
    steps: tuple[StepMade, ...]

    @property
    def stopped(self) -> bool:
        """Whether the machine came to its end."""
        return bool(self.steps) and self.steps[-1][0] == STOP


def traced(machine: TuringMachine, word: Symbols, limit: int, head: int = 0) -> Trace:
    """Simulate up to a number of steps; a run that ends has one more step, to STOP."""
    stepper = Stepper(machine, word)
    stepper.heads[0] = head
    seen, steps = [], []
    for _ in range(limit + 1):
        pairs = zip(stepper.cells, stepper.heads, strict=True)
        read = tuple(tape.get(at, machine.blank) for tape, at in pairs)
        seen.append((stepper.state, read))
        rule, before = stepper.rule(), tuple(stepper.heads)
        if rule is None:
            steps.append((STOP, read, (0,) * machine.tapes))
            break
        if len(steps) == limit:
            break
        stepper.step()
        moves = tuple(now - then for now, then in zip(stepper.heads, before, strict=True))
        steps.append((stepper.state, rule.write, moves))
    return Trace(tuple(seen), tuple(steps))


def two_way(machine: TuringMachine) -> Prepared:
    """Make one-way tapes two-way: the first step marks cell 0, and marked cells turn left into stay."""
    if machine.tape_kind is TapeKind.TWO_WAY:
        return Prepared(machine)
    lead = "|"
    while any(symbol.startswith(lead) for symbol in machine.symbols):
        lead += "|"
    marked = {symbol: lead + symbol for symbol in machine.symbols}
    start = fresh("mark", machine)
    rules = [_marking(machine, start, symbol, marked) for symbol in machine.symbols]
    for rule in machine.rules:
        rules += _at_edges(rule, marked)
    made = replace(
        machine,
        start=start,
        rules=tuple(rules),
        tape_kind=TapeKind.TWO_WAY,
        cases=(),
        more_symbols=(*machine.symbols, *marked.values()),
        input_symbols=machine.input_symbols or machine.symbols,
    )
    return Prepared(made, {mark: symbol for symbol, mark in marked.items()}, lambda _: 1)


def _marking(machine: TuringMachine, start: str, symbol: str, marked: Mapping[str, str]) -> Rule:
    others = machine.tapes - 1
    read = (symbol, *[machine.blank] * others)
    write = tuple(marked[one] for one in read)
    return Rule(start, read, write, (Move.STAY,) * machine.tapes, machine.start)


def _at_edges(rule: Rule, marked: Mapping[str, str]) -> list[Rule]:
    """Return a rule for every choice of tapes whose head is on cell 0."""
    rules = []
    for edges in product((False, True), repeat=len(rule.read)):
        read = tuple(marked[a] if e else a for a, e in zip(rule.read, edges, strict=True))
        write = tuple(marked[a] if e else a for a, e in zip(rule.write, edges, strict=True))
        moves = tuple(
            Move.STAY if e and m is Move.LEFT else m for m, e in zip(rule.moves, edges, strict=True)
        )
        rules.append(replace(rule, read=read, write=write, moves=moves))
    return rules


def scanned(machine: TuringMachine) -> Prepared:
    """Start on the blank before the word, scan to its end and come back: 2n + 3 steps."""
    prepared = two_way(machine)
    inner = prepared.machine
    init, read, back = (fresh(name, inner) for name in ("init", "read", "back"))
    sweep = Sweep(inner)
    rules = [sweep.rule(init, inner.blank, Move.RIGHT, read), *sweep.all(read, Move.RIGHT)]
    rules += [sweep.rule(read, inner.blank, Move.LEFT, back), *sweep.back(back)]
    before = prepared.prefix
    return replace(
        prepared,
        machine=replace(inner, start=init, rules=(*rules, *inner.rules), cases=()),
        prefix=lambda n: 2 * n + 3 + before(n),
        head=lambda _: -1,
    )


@dataclass(frozen=True)
class Sweep:
    """Rules that carry the head of tape 1 over the word and change nothing."""

    machine: TuringMachine

    def rule(self, state: str, symbol: str, move: Move, to: str) -> Rule:
        """Return the rule for one symbol."""
        others = self.machine.tapes - 1
        read = (symbol, *[self.machine.blank] * others)
        return Rule(state, read, read, (move, *[Move.STAY] * others), to)

    def all(self, state: str, move: Move) -> list[Rule]:
        """Return the rules that pass over every letter."""
        letters = [a for a in self.machine.symbols if a != self.machine.blank]
        return [self.rule(state, letter, move, state) for letter in letters]

    def back(self, state: str) -> list[Rule]:
        """Return the rules that go left to the blank before the word, then start the machine."""
        last = self.rule(state, self.machine.blank, Move.RIGHT, self.machine.start)
        return [*self.all(state, Move.LEFT), last]


def fresh(name: str, machine: TuringMachine) -> str:
    """Return a name that no state has."""
    while name in machine.states:
        name += "'"
    return name


def refuse_blank_in_word(machine: TuringMachine, word: Symbols) -> None:
    """Refuse a word with a blank inside, where a row scans it to the first blank."""
    if machine.blank in word:
        raise TapeformerError(
            Fault("this row scans the word to its first blank", got="a word with a blank inside")
        )
