"""What every reader shares: the source, the conventions asked for, and the faults found so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tapeformer.faults import Fault, SourceLocation, TapeformerError, quoted
from tapeformer.formats.conventions import Conventions
from tapeformer.formats.patterns import Pattern, expand
from tapeformer.machine.record import Move, TuringMachine
from tapeformer.machine.verify import role_conflicts, rule_conflicts

MOST_FAULTS = 20


@dataclass(frozen=True)
class Source:
    """The text of a machine, its name in messages, and `stem`, a name for the machine."""

    text: str
    name: str
    stem: str = "machine"

    def location(self, line: int | None = None) -> SourceLocation:
        """Return a location in this source."""
        return SourceLocation(self.name, line)


@dataclass
class Collector:
    """Collects faults while a file is read, so that all are reported at once."""

    source: Source
    faults: list[Fault] = field(default_factory=list)

    def add(
        self,
        what: str,
        line: int | None = None,
        expected: str = "",
        got: str = "",
        remedy: str = "",
    ) -> None:
        """Add a fault; raise all of them when there are too many to be of use."""
        self.faults.append(Fault(what, self.source.location(line), expected, got, remedy))
        if len(self.faults) >= MOST_FAULTS:
            self.raise_if_any()

    def raise_if_any(self, machine: TuringMachine | None = None) -> None:
        """Raise all faults in order of their lines, with those of the rules that could be read."""
        if machine is not None and self.faults:
            self.faults += [*role_conflicts(machine), *rule_conflicts(machine)][:MOST_FAULTS]
        if self.faults:
            raise TapeformerError(sorted(self.faults, key=_line_of))


def _line_of(fault: Fault) -> int:
    line = None if fault.location is None else fault.location.line
    return line or 0


@dataclass(frozen=True)
class Draft:
    """A machine as a file states it, before its wildcards are expanded.

    Where input symbols are declared, no other symbol is on tape 1 at the start.
    """

    name: str
    tapes: int
    blank: str
    start: str
    patterns: tuple[Pattern, ...]
    states: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    input_symbols: tuple[str, ...] = ()


def finish(draft: Draft, faults: Collector, conventions: Conventions, origin: str) -> TuringMachine:
    """Return the machine of a draft: wildcards expanded over all states and symbols named."""
    symbols = _named_symbols(draft, conventions)
    states = _named_states(draft)
    in_words = (*draft.input_symbols, *conventions.symbols) if draft.input_symbols else symbols
    try:
        rules = expand(draft.patterns, states, symbols, draft.blank, in_words)
    except TapeformerError as error:
        faults.faults += error.faults
        rules = ()
    order = {state: number for number, state in enumerate(states)}
    rules = tuple(sorted(rules, key=lambda rule: order[rule.state]))
    in_rules = {symbol for rule in rules for symbol in (*rule.read, *rule.write)}
    return TuringMachine(
        name=draft.name,
        tapes=draft.tapes,
        blank=draft.blank,
        start=draft.start,
        rules=rules,
        more_symbols=tuple(s for s in symbols if s not in in_rules and s != draft.blank),
        input_symbols=(*draft.input_symbols, *conventions.symbols) if draft.input_symbols else (),
        origin=origin,
        location=faults.source.location(),
    )


def _named_symbols(draft: Draft, conventions: Conventions) -> tuple[str, ...]:
    named: list[str] = [draft.blank, *draft.symbols, *draft.input_symbols]
    for pattern in draft.patterns:
        for read, write in zip(pattern.read, pattern.write, strict=True):
            named += sorted(read.symbols)
            named += [] if write is None else [write]
    return tuple(dict.fromkeys([*named, *conventions.symbols]))


def _named_states(draft: Draft) -> tuple[str, ...]:
    """Return every state that the draft names: a wildcard for the state stands for these."""
    in_patterns = (
        name for pattern in draft.patterns for name in (pattern.state, pattern.next_state)
    )
    named: Iterable[str | None] = [draft.start, *draft.states, *in_patterns]
    return tuple(name for name in dict.fromkeys(named) if name is not None)


def moves_from(
    letters: Sequence[str], meaning: dict[str, Move], faults: Collector, line: int | None
) -> tuple[Move, ...]:
    """Return the moves for a format's own letters; an unknown letter is a fault."""
    moves = []
    for letter in letters:
        if letter not in meaning:
            known = ", ".join(meaning)
            faults.add(f"unknown move {quoted(letter)}", line, expected=f"one of {known}")
        moves.append(meaning.get(letter, Move.STAY))
    return tuple(moves)


def numbered_lines(text: str, comment: str) -> list[tuple[int, str]]:
    """Return the lines that are not empty, with their numbers, without comments and outer space."""
    lines = ((number, line.split(comment, 1)[0].strip()) for number, line in _lines(text))
    return [(number, line) for number, line in lines if line]


def _lines(text: str) -> Iterable[tuple[int, str]]:
    return enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1)
