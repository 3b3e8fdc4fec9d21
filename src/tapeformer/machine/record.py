"""The Turing machine: k tapes, deterministic rules, and what it means to stop."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from functools import cached_property

from tapeformer.faults import SourceLocation


class Move(IntEnum):
    """Where a head goes after writing; the value is the change of its position."""

    LEFT = -1
    STAY = 0
    RIGHT = 1

    @property
    def letter(self) -> str:
        """L, S or R."""
        return "LSR"[self + 1]


class TapeKind(Enum):
    """Bounded on the left (a left move from the first cell stays there), or infinite both ways."""

    ONE_WAY = "one-way"
    TWO_WAY = "two-way"


class AcceptOn(Enum):
    """When an accepting state accepts: as soon as it is entered, or only where no rule applies."""

    ENTRY = "entry"
    HALT = "halt"


@dataclass(frozen=True)
class Rule:
    """In `state`, reading `read` (one symbol a tape): write, move, go to `next_state`."""

    state: str
    read: tuple[str, ...]
    write: tuple[str, ...]
    moves: tuple[Move, ...]
    next_state: str
    location: SourceLocation | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Case:
    """A worked case: an input and what the machine must make of it (None: not stated)."""

    word: tuple[str, ...]
    outcome: str
    state: str | None = None
    steps: int | None = None
    tapes: tuple[tuple[str, ...], ...] | None = None


@dataclass(frozen=True)
class TuringMachine:
    """A deterministic k-tape machine; every tape may be read and written.

    It stops on entering a halting or rejecting state, on entering an accepting state (unless
    `accept_on` says only where no rule applies), and where no rule applies.
    """

    name: str
    tapes: int
    blank: str
    start: str
    rules: tuple[Rule, ...]
    accepting: frozenset[str] = frozenset()
    rejecting: frozenset[str] = frozenset()
    halting: frozenset[str] = frozenset()
    tape_kind: TapeKind = TapeKind.TWO_WAY
    accept_on: AcceptOn = AcceptOn.ENTRY
    no_rule_rejects: bool = False
    more_symbols: tuple[str, ...] = ()
    input_symbols: tuple[str, ...] = ()
    default_word: tuple[str, ...] | None = None
    description: str = ""
    origin: str = field(default="", compare=False)
    cases: tuple[Case, ...] = ()
    location: SourceLocation | None = field(default=None, compare=False)

    @cached_property
    def states(self) -> tuple[str, ...]:
        """Every state, the start first, then in order of appearance."""
        named = sorted(self.accepting) + sorted(self.rejecting) + sorted(self.halting)
        in_rules = (state for rule in self.rules for state in (rule.state, rule.next_state))
        return _distinct([self.start, *in_rules, *named])

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """Every tape symbol, the blank first, then in order of appearance."""
        in_rules = (symbol for rule in self.rules for symbol in (*rule.read, *rule.write))
        return _distinct([self.blank, *in_rules, *self.input_symbols, *self.more_symbols])

    @cached_property
    def word_symbols(self) -> frozenset[str]:
        """The symbols an input may have: those declared for input, else all of them."""
        return frozenset(self.input_symbols or self.symbols)

    @cached_property
    def rule_for(self) -> dict[tuple[str, tuple[str, ...]], Rule]:
        """The rule for a state and the symbols read; the first one where a rule is repeated."""
        return {(rule.state, rule.read): rule for rule in reversed(self.rules)}

    @cached_property
    def stopping(self) -> frozenset[str]:
        """The states that stop the machine as soon as they are entered."""
        on_entry = self.accepting if self.accept_on is AcceptOn.ENTRY else frozenset()
        return self.halting | self.rejecting | on_entry

    @cached_property
    def single_characters(self) -> bool:
        """Whether a tape can be written with one character per symbol."""
        return all(len(symbol) == 1 for symbol in self.symbols)

    def spell(self, symbols: Iterable[str]) -> str:
        """Symbols as one string: glued if each is one character, else separated by spaces."""
        return ("" if self.single_characters else " ").join(symbols)

    @cached_property
    def rules_of(self) -> dict[str, list[Rule]]:
        """The rules of each state that has any, in order."""
        rows: dict[str, list[Rule]] = {}
        for rule in self.rules:
            rows.setdefault(rule.state, []).append(rule)
        return rows


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
