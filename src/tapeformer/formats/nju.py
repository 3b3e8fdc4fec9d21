"""The Nanjing course format `.tm`: `#Q #S #G #q0 #B #F #N` settings, then one rule a line.

A rule is `state old-symbols new-symbols directions new-state` with one character per tape in the
middle three. `*` as an old symbol matches any symbol but the blank, as a new one it keeps the
symbol. A missing rule rejects. Comments start with `;`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from tapeformer.faults import did_you_mean, quoted
from tapeformer.formats.conventions import Conventions
from tapeformer.formats.patterns import Pattern, ReadPattern, anything, exactly
from tapeformer.formats.reading import (
    Collector,
    Draft,
    Source,
    finish,
    moves_from,
    numbered_lines,
)
from tapeformer.machine.record import Move, TuringMachine

NAME = "nju"
TITLE = "Nanjing University course format (.tm)"
ANY = "*"
MOVES = {"l": Move.LEFT, "r": Move.RIGHT, "*": Move.STAY}
MOST_TAPES = 16
SETTINGS = ("Q", "S", "G", "T", "q0", "q", "B", "F", "N")
PASSED_OVER = ("TIME", "SPACE")
_SETTING = re.compile(r"#\s*(q0|[A-Za-z]+)\s*=\s*(.*)")


def recognises(text: str) -> bool:
    """Return whether there are settings such as `#q0 = ...`."""
    lines = (line for _, line in numbered_lines(text, ";") if line.startswith("#"))
    return any("=" in line and line[1:].split("=", 1)[0].strip() in SETTINGS for line in lines)


@dataclass(frozen=True)
class _Settings:
    """What is declared before the rules; braces may be left out around a single name."""

    states: tuple[str, ...]
    input_symbols: tuple[str, ...]
    tape_symbols: tuple[str, ...]
    start: str
    blank: str
    final: tuple[str, ...]
    tapes: int | None


def read(source: Source, conventions: Conventions) -> TuringMachine:
    """Read the machine of a file; it accepts on entering a final state."""
    faults = Collector(source)
    found: dict[str, tuple[int, str]] = {}
    rules: list[tuple[int, list[str]]] = []
    for line, text in numbered_lines(source.text, ";"):
        match = _SETTING.fullmatch(text)
        if match:
            found[match[1]] = (line, match[2].strip())
        else:
            rules.append((line, text.split()))
    for name, (line, _) in found.items():
        if name not in SETTINGS + PASSED_OVER:
            faults.add(f"unknown setting #{name}", line, "one of " + ", ".join(SETTINGS))
    settings = _settings(found, faults)
    return _machine(settings, rules, source, conventions, faults)


def _machine(
    settings: _Settings,
    rules: list[tuple[int, list[str]]],
    source: Source,
    conventions: Conventions,
    faults: Collector,
) -> TuringMachine:
    tapes = settings.tapes or _tapes_of(rules)
    wildcard = anything(but=[] if conventions.wildcard_matches_blank else [settings.blank])
    patterns = [_pattern(fields, line, tapes, wildcard, faults) for line, fields in rules]
    if not rules:
        faults.add("no rules", expected="lines such as `q0 01 10 rr q1`")
    _check_names(settings, rules, faults)
    draft = Draft(
        name=source.stem,
        tapes=tapes,
        blank=settings.blank,
        start=settings.start,
        patterns=tuple(pattern for pattern in patterns if pattern is not None),
        states=settings.states,
        symbols=settings.tape_symbols,
        input_symbols=settings.input_symbols,
    )
    machine = finish(draft, faults, conventions, NAME)
    accepting = frozenset(settings.final)
    stuck = frozenset(settings.states) - machine.rules_of.keys() - accepting
    machine = replace(machine, accepting=accepting, rejecting=stuck, no_rule_rejects=True)
    faults.raise_if_any(machine)
    return machine


def _settings(found: dict[str, tuple[int, str]], faults: Collector) -> _Settings:
    def names(key: str) -> tuple[str, ...]:
        _, text = found.get(key, (0, ""))
        return tuple(part.strip() for part in text.strip("{} \t").split(",") if part.strip())

    start = names("q0") or names("q")
    if len(start) != 1:
        faults.add("no start state", expected="a line `#q0 = STATE`", got=" ".join(start))
    blank = names("B") or ("_",)
    tapes = None
    if "N" in found:
        line, text = found["N"]
        if re.fullmatch(r"[0-9]{1,2}", text) and 1 <= int(text) <= MOST_TAPES:
            tapes = int(text)
        else:
            faults.add("the number of tapes", line, f"1 to {MOST_TAPES}", quoted(text))
    tape_symbols = names("G") or names("T")
    return _Settings(
        names("Q"), names("S"), tape_symbols, "".join(start), blank[0], names("F"), tapes
    )


def _tapes_of(rules: list[tuple[int, list[str]]]) -> int:
    """Return the number of tapes of the first rule, for a file that does not state it."""
    return next((len(fields[1]) for _, fields in rules if len(fields) == 5), 1)


def _check_names(
    settings: _Settings, rules: list[tuple[int, list[str]]], faults: Collector
) -> None:
    """Check that names are declared, if the file declares any: this finds misspelt ones."""
    states = frozenset(settings.states)
    symbols = frozenset((*settings.tape_symbols, settings.blank, ANY))
    for line, fields in (rule for rule in rules if len(rule[1]) == 5):
        if settings.states:
            _check_declared((fields[0], fields[4]), states, "state", "Q", line, faults)
        if settings.tape_symbols:
            _check_declared((*fields[1], *fields[2]), symbols, "symbol", "G", line, faults)
    if settings.states:
        _check_declared((settings.start, *settings.final), states, "state", "Q", None, faults)


def _check_declared(
    names: Iterable[str],
    declared: frozenset[str],
    kind: str,
    setting: str,
    line: int | None,
    faults: Collector,
) -> None:
    for name in names:
        if name not in declared:
            what = f"{kind} {quoted(name)} is not in #{setting}"
            nearest = did_you_mean(name, sorted(declared)) if kind == "state" else ""
            faults.add(what, line, remedy=nearest or "add it there")


def _pattern(
    fields: list[str], line: int, tapes: int, wildcard: ReadPattern, faults: Collector
) -> Pattern | None:
    if len(fields) != 5 or {len(part) for part in fields[1:4]} != {tapes}:
        expected = f"`state old new directions state` with {tapes} characters in the middle three"
        faults.add("not a rule", line, expected, quoted(" ".join(fields)))
        return None
    state, old, new, directions, goal = fields
    return Pattern(
        state=state,
        read=tuple(wildcard if symbol == ANY else exactly(symbol) for symbol in old),
        write=tuple(None if symbol == ANY else symbol for symbol in new),
        moves=moves_from(directions.lower(), MOVES, faults, line),
        next_state=goal,
        location=faults.source.location(line),
    )
