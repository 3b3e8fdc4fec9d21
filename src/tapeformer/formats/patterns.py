"""Rules with wildcards, and their expansion into plain rules, for every format that has them.

A pattern names a state (or any) and, for each tape, the symbols it matches. Where several
patterns match, the most specific wins; two equally specific ones that disagree are a conflict,
which the machine's own verifier reports.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tapeformer.faults import Fault, SourceLocation, TapeformerError
from tapeformer.machine.record import Move, Rule

MOST_RULES = 100_000


@dataclass(frozen=True)
class ReadPattern:
    """What a pattern matches on one tape: these symbols, or (if negated) all but these."""

    symbols: frozenset[str]
    negated: bool = False
    rank: int = 0

    def matching(self, alphabet: Sequence[str]) -> list[str]:
        """Return the symbols of an alphabet that match, in its order."""
        return [symbol for symbol in alphabet if (symbol in self.symbols) != self.negated]


def exactly(symbol: str) -> ReadPattern:
    """Match one symbol."""
    return ReadPattern(frozenset((symbol,)))


def any_of(symbols: Iterable[str]) -> ReadPattern:
    """Match each of the symbols, as if the rule were written once for each."""
    return ReadPattern(frozenset(symbols))


def anything(but: Iterable[str] = ()) -> ReadPattern:
    """Match every symbol except those named (a wildcard)."""
    return ReadPattern(frozenset(but), negated=True, rank=1)


@dataclass(frozen=True)
class Pattern:
    """A rule that may stand for many: None as a state matches any, None as a write or next state keeps it."""

    state: str | None
    read: tuple[ReadPattern, ...]
    write: tuple[str | None, ...]
    moves: tuple[Move, ...]
    next_state: str | None
    location: SourceLocation | None = None

    @property
    def rank(self) -> tuple[int, int]:
        """Return how general it is: a wildcard state is more general than any wildcard symbols."""
        return int(self.state is None), sum(read.rank for read in self.read)

    def rule(self, state: str, read: tuple[str, ...]) -> Rule:
        """Return the plain rule for one state and the symbols read."""
        write = tuple(
            old if new is None else new for old, new in zip(read, self.write, strict=True)
        )
        goal = state if self.next_state is None else self.next_state
        return Rule(state, read, write, self.moves, goal, self.location)


def expand(
    patterns: Sequence[Pattern],
    states: Sequence[str],
    symbols: Sequence[str],
    blank: str,
    in_words: Sequence[str],
) -> tuple[Rule, ...]:
    """Return plain rules in the order of the file; where several patterns match, the most specific.

    Tape 1 starts with a word over `in_words`, the others start blank; apart from these a wildcard
    stands only for the symbols that some rule writes on its tape.
    """
    if not patterns:
        return ()
    starting = [{blank, *in_words}] + [{blank}] * (len(patterns[0].read) - 1)
    possible = [first | _written(patterns, tape) for tape, first in enumerate(starting)]
    alphabets = [[symbol for symbol in symbols if symbol in tape] for tape in possible]
    _check_size(patterns, states, alphabets)
    best: dict[tuple[str, tuple[str, ...]], tuple[tuple[int, int], list[Rule]]] = {}
    for pattern in patterns:
        for rule in _instances(pattern, states, alphabets):
            rank, rules = best.setdefault((rule.state, rule.read), (pattern.rank, []))
            if pattern.rank < rank:
                best[rule.state, rule.read] = (pattern.rank, [rule])
            elif pattern.rank == rank:
                rules.append(rule)
    return tuple(rule for _, rules in best.values() for rule in rules)


def _instances(
    pattern: Pattern, states: Sequence[str], alphabets: Sequence[Sequence[str]]
) -> Iterator[Rule]:
    named = states if pattern.state is None else (pattern.state,)
    for state in named:
        for read in itertools.product(*_choices(pattern, alphabets)):
            yield pattern.rule(state, read)


def _choices(pattern: Pattern, alphabets: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return, per tape, the symbols to expand the rule over; a symbol that is named is always kept."""
    return [
        read.matching(alphabet) if read.negated else sorted(read.symbols)
        for read, alphabet in zip(pattern.read, alphabets, strict=True)
    ]


def _written(patterns: Sequence[Pattern], tape: int) -> set[str]:
    """Return the symbols that some rule writes on a tape."""
    return {symbol for pattern in patterns if (symbol := pattern.write[tape]) is not None}


def _check_size(
    patterns: Sequence[Pattern], states: Sequence[str], alphabets: Sequence[Sequence[str]]
) -> None:
    total = 0
    for pattern in patterns:
        count = len(states) if pattern.state is None else 1
        for choice in _choices(pattern, alphabets):
            count *= len(choice)
        total += count
        if total > MOST_RULES:
            raise TapeformerError(
                Fault(
                    "the wildcards stand for too many rules",
                    pattern.location,
                    expected=f"at most {MOST_RULES:,}",
                    got=f"{total:,} up to here",
                    remedy="use fewer wildcards, symbols or tapes",
                )
            )
