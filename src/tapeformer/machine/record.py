"""The Turing machine: k tapes, deterministic rules, and when it stops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from enum import Enum, IntEnum
from functools import cached_property

from tapeformer.dataclass import dataclass
from tapeformer.faults import Fault, SourceLocation, counted, quoted
from tapeformer.machine.fields import FieldCheck


class Move(IntEnum):
    """Where a head goes after writing; the value is the change of its position."""

    LEFT = -1
    STAY = 0
    RIGHT = 1

    @property
    def letter(self) -> str:
        """Return L, S or R."""
        return "LSR"[self + 1]


class TapeKind(Enum):
    """Bounded on the left (a left move from the first cell stays there), or infinite both ways."""

    ONE_WAY = "one-way"
    TWO_WAY = "two-way"


class AcceptOn(Enum):
    """When an accepting state accepts: as soon as it is entered, or only where no rule applies."""

    ENTRY = "entry"
    HALT = "halt"


@dataclass(frozen=True, repr=False)
class Rule:
    """In `state`, reading `read` (one symbol per tape): write, move, go to `next_state`."""

    state: str
    read: tuple[str, ...]
    write: tuple[str, ...]
    moves: tuple[Move, ...]
    next_state: str
    location: SourceLocation | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self._has_plain_types():
            return
        check = FieldCheck(self)
        check.of_type(str, "state", "next_state")
        check.tuple_of(str, '("0",), one symbol per tape', "read", "write")
        check.tuple_of(Move, "(tf.Move.RIGHT,), one move per tape", "moves")
        check.done()

    def _has_plain_types(self) -> bool:
        """Return whether all types are exactly right: a quick test for files with many rules."""
        if {type(self.read), type(self.write), type(self.moves)} != {tuple}:
            return False
        texts = {*map(type, self.read), *map(type, self.write), type(self.state)}
        return texts | {type(self.next_state)} == {str} and {*map(type, self.moves)} <= {Move}

    def __repr__(self) -> str:
        read, write = (" ".join(map(quoted, part)) for part in (self.read, self.write))
        moves = "".join(move.letter for move in self.moves)
        return (
            f"<Rule {quoted(self.state)}: {read} -> {write} {moves}, to {quoted(self.next_state)}>"
        )


@dataclass(frozen=True, repr=False)
class Case:
    """A worked case: an input and what the machine must make of it (None: not stated)."""

    word: tuple[str, ...]
    outcome: str
    state: str | None = None
    steps: int | None = None
    tapes: tuple[tuple[str, ...], ...] | None = None

    def __post_init__(self) -> None:
        check = FieldCheck(self)
        check.of_type(str, "outcome")
        check.of_type(str, "state", optional=True)
        check.of_type(int, "steps", optional=True)
        check.tuple_of(str, '("a", "b") or tuple("ab")', "word")
        check.tuple_of(tuple, '(("a", "b"),), one word per tape', "tapes", optional=True)
        check.done()

    def __repr__(self) -> str:
        steps = "" if self.steps is None else f" after {self.steps:,} steps"
        return f"<Case {shortened(self.word)}: {self.outcome}{steps}>"


@dataclass(frozen=True, repr=False)
class TuringMachine:
    """A deterministic k-tape machine; every tape may be read and written.

    It stops on entering a halting or rejecting state, on entering an accepting state (unless
    `accept_on` says only where no rule applies), and where no rule applies. `origin` is the format
    it was read from, empty for a machine built in Python.
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

    def __post_init__(self) -> None:
        check = FieldCheck(self)
        check.of_type(str, "name", "blank", "start", "description", "origin")
        check.of_type(int, "tapes")
        check.of_type(bool, "no_rule_rejects")
        check.of_type(TapeKind, "tape_kind")
        check.of_type(AcceptOn, "accept_on")
        check.tuple_of(Rule, '(tf.Rule("q0", ("0",), ("1",), (tf.Move.RIGHT,), "q1"),)', "rules")
        check.tuple_of(Case, "(tf.Case(...),)", "cases")
        check.tuple_of(str, '("a", "b")', "more_symbols", "input_symbols")
        check.tuple_of(str, '("a", "b")', "default_word", optional=True)
        check.set_of_names("accepting", "rejecting", "halting")
        check.done()

    def __repr__(self) -> str:
        sizes = {"tape": self.tapes, "state": len(self.states), "symbol": len(self.symbols)}
        sizes["rule"] = len(self.rules)
        return f"<TuringMachine {quoted(self.name)}: {', '.join(counted(n, what) for what, n in sizes.items())}>"

    def _repr_html_(self) -> str:
        from tapeformer.display import machine_html

        return machine_html(self)

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """Return all faults of the machine, errors first; they are looked for once."""
        from tapeformer.machine.verify import verify

        return verify(self)

    @cached_property
    def states(self) -> tuple[str, ...]:
        """Return every state: the start first, then in order of appearance."""
        named = sorted(self.accepting) + sorted(self.rejecting) + sorted(self.halting)
        in_rules = (state for rule in self.rules for state in (rule.state, rule.next_state))
        return _distinct([self.start, *in_rules, *named])

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """Return every tape symbol: the blank first, then in order of appearance."""
        in_rules = (symbol for rule in self.rules for symbol in (*rule.read, *rule.write))
        return _distinct([self.blank, *in_rules, *self.input_symbols, *self.more_symbols])

    @cached_property
    def word_symbols(self) -> frozenset[str]:
        """Return the symbols that an input may have: those declared for input, else all."""
        return frozenset(self.input_symbols or self.symbols)

    @cached_property
    def rule_for(self) -> dict[tuple[str, tuple[str, ...]], Rule]:
        """Return the rule for a state and the symbols read; the first where a rule is repeated."""
        return {(rule.state, rule.read): rule for rule in reversed(self.rules)}

    @cached_property
    def stopping(self) -> frozenset[str]:
        """Return the states that stop the machine as soon as they are entered."""
        on_entry = self.accepting if self.accept_on is AcceptOn.ENTRY else frozenset()
        return self.halting | self.rejecting | on_entry

    @cached_property
    def single_characters(self) -> bool:
        """Return whether every symbol is one character."""
        return all(len(symbol) == 1 for symbol in self.symbols)

    def spell(self, symbols: Iterable[str]) -> str:
        """Return symbols as one text: with spaces between them if some have several characters."""
        return ("" if self.single_characters else " ").join(symbols)

    @cached_property
    def rules_of(self) -> dict[str, list[Rule]]:
        """Return the rules of each state that has any, in order."""
        rows: dict[str, list[Rule]] = {}
        for rule in self.rules:
            rows.setdefault(rule.state, []).append(rule)
        return rows


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def shortened(symbols: Sequence[str], most: int = 40) -> str:
    """Return symbols as a short quoted text, with their number where some are left out."""
    shown = symbols[:most]
    glue = "" if all(len(symbol) == 1 for symbol in shown) else " "
    more = f" ({len(symbols):,} symbols)" if len(symbols) > most else ""
    return quoted(glue.join(shown)) + more
