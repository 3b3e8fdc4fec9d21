"""Read JFLAP `.jff`: XML, one to five tapes, states as `<state>` (to 6.3) or `<block>` (from 6.4).

An empty read or write is the blank, a missing move is right, transitions refer to state ids, a
final state accepts on entry. `~` reads any symbol or keeps it; on one tape `!a` reads any symbol
but a, and `a,b}w` reads a or b into the variable w, which a write may name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tapeformer.faults import SourceLocation, quoted
from tapeformer.formats.conventions import Conventions
from tapeformer.formats.jflap_writer import BLANK, MOST_TAPES, losses, write
from tapeformer.formats.jflap_xml import parse
from tapeformer.formats.patterns import Pattern, ReadPattern, any_of, anything, exactly
from tapeformer.formats.reading import Collector, Draft, Source, finish, moves_from
from tapeformer.machine.record import Move, TuringMachine

__all__ = ["NAME", "TITLE", "losses", "read", "recognises", "write"]

NAME = "jflap"
TITLE = "JFLAP 4 to 7 (.jff, one to five tapes)"
MOVES = {"L": Move.LEFT, "R": Move.RIGHT, "S": Move.STAY}


def recognises(text: str) -> bool:
    """Return whether it is XML: no other format is."""
    return text.lstrip("\ufeff \t\r\n").startswith("<")


def read(source: Source, conventions: Conventions) -> TuringMachine:
    """Read the machine of a file."""
    faults = Collector(source)
    root = parse(source)
    _check_kind(root, faults)
    holder = root.find("automaton") if root.find("automaton") is not None else root
    states = _States.of(holder, faults)
    tapes = _tapes(root, faults)
    reader = _Transitions(tapes, states, conventions, faults)
    patterns = reader.read(holder.findall("transition"))
    draft = Draft(source.stem, tapes, BLANK, states.start, patterns, tuple(states.names.values()))
    machine = finish(draft, faults, conventions, NAME)
    stuck = frozenset(draft.states) - machine.rules_of.keys() - states.final
    machine = replace(machine, accepting=states.final, halting=stuck)
    faults.raise_if_any(machine)
    return machine


def _check_kind(root: Any, faults: Collector) -> None:
    """Refuse what is not a Turing machine of JFLAP 4 to 7."""
    kind = (root.findtext("type") or "").strip()
    if root.get("type"):
        remedy = "save it from JFLAP 7"
        faults.add("a file of JFLAP 8, which is not supported", root.line, remedy=remedy)
    elif root.tag != "structure" or not kind.startswith("turing"):
        expected, got = "<structure> with <type>turing</type>", quoted(kind or root.tag)
        faults.add("not a Turing machine of JFLAP", root.line, expected, got)
    faults.raise_if_any()


@dataclass(frozen=True)
class _States:
    """Names by id, the start, and the final states."""

    names: dict[str, str]
    start: str
    final: frozenset[str]

    @classmethod
    def of(cls, holder: Any, faults: Collector) -> _States:
        elements = [*holder.findall("state"), *holder.findall("block")]
        _refuse_nested_blocks(holder, elements, faults)
        names = _unique_names(elements, faults)
        known = [element for element in elements if element.get("id") in names]
        initial = [element for element in known if element.find("initial") is not None]
        final = [names[e.get("id")] for e in known if e.find("final") is not None]
        if len(initial) != 1:
            line = initial[1].line if initial else holder.line
            faults.add("the start state", line, "one state with <initial/>", f"{len(initial)}")
        start = names[initial[0].get("id")] if initial else ""
        return cls(names, start, frozenset(final))


def _unique_names(elements: list[Any], faults: Collector) -> dict[str, str]:
    """Return names by id; a name that several states have gets the id added."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for element in elements:
        state_id = element.get("id")
        if state_id is None or state_id in names:
            got = quoted(state_id or "")
            faults.add("a state's id", element.line, "one that no other state has", got)
            continue
        name = element.get("name") or f"q{state_id}"
        names[state_id] = name if name not in taken else f"{name} ({state_id})"
        taken.add(names[state_id])
    return names


def _refuse_nested_blocks(holder: Any, elements: list[Any], faults: Collector) -> None:
    """Add a fault for each block that holds a machine of its own (a building block)."""
    tags = {(element.findtext("tag") or "").strip(): element for element in elements}
    for child in holder:
        inside = [*child.findall("state"), *child.findall("block")]
        if child.tag in tags and inside:
            what = f"building block {quoted(child.tag)} is not supported"
            faults.add(what, child.line, remedy="replace it by its states in JFLAP")


def _tapes(root: Any, faults: Collector) -> int:
    element = root.find("tapes") if root.find("tapes") is not None else root.find("automaton/tapes")
    text = "1" if element is None else (element.text or "1").strip()
    if text.isascii() and text.isdecimal() and 1 <= int(text[:3]) <= MOST_TAPES:
        return int(text[:3])
    faults.add("the number of tapes", element.line, f"1 to {MOST_TAPES}", quoted(text))
    return 1


@dataclass(frozen=True)
class _Transitions:
    """Reads transitions, adding faults to `faults`."""

    tapes: int
    states: _States
    conventions: Conventions
    faults: Collector

    def read(self, elements: list[Any]) -> tuple[Pattern, ...]:
        """Return the patterns of all transitions that can be read."""
        patterns = [self._pattern(n, element) for n, element in enumerate(elements, 1)]
        return tuple(pattern for pattern in patterns if pattern is not None)

    def _pattern(self, number: int, element: Any) -> Pattern | None:
        ends = [self._state(number, element, tag) for tag in ("from", "to")]
        reads, writes, moves = (
            self._per_tape(number, element, tag) for tag in ("read", "write", "move")
        )
        letters = [move.upper() or "R" for move in moves]
        pairs = [_read(text, self.tapes, self.conventions) for text in reads]
        steps = moves_from(letters, MOVES, self.faults, element.line)
        if ends[0] is None or ends[1] is None:
            return None
        return Pattern(
            state=ends[0],
            read=tuple(read for read, _ in pairs),
            write=tuple(_write(w, name) for w, (_, name) in zip(writes, pairs, strict=True)),
            moves=steps,
            next_state=ends[1],
            location=SourceLocation(self.faults.source.name, element.line, f"transition {number}"),
        )

    def _state(self, number: int, element: Any, tag: str) -> str | None:
        """Return the name of the state at one end of a transition."""
        state_id = (element.findtext(tag) or "").strip()
        if state_id not in self.states.names:
            what = f"transition {number} names the state id {quoted(state_id)}"
            self.faults.add(what, element.line, "the id of a state", remedy=f"correct its <{tag}>")
        return self.states.names.get(state_id)

    def _per_tape(self, number: int, element: Any, tag: str) -> list[str]:
        """Return the texts of an element that is given once per tape; a missing one is empty."""
        texts = [""] * self.tapes
        for child in element.findall(tag):
            tape = child.get("tape", "1")
            index = int(tape) - 1 if tape.isascii() and tape.isdecimal() and len(tape) < 3 else -1
            if 0 <= index < self.tapes:
                texts[index] = (child.text or "").strip()
            else:
                what = f"transition {number} has a <{tag}> for another tape"
                expected = f"1 to {self.tapes}, as <tapes> says"
                self.faults.add(what, child.line, expected, quoted(tape))
        return texts


def _read(text: str, tapes: int, conventions: Conventions) -> tuple[ReadPattern, str | None]:
    """Return what is read, and the variable that takes it."""
    blank_too = conventions.wildcard_matches_blank is not False
    if text == "~":
        return anything(but=[] if blank_too else [BLANK]), None
    if tapes == 1 and len(text) > 1 and text[0] == "!":
        return anything(but=[_symbol(text[1:])] + ([] if blank_too else [BLANK])), None
    if tapes == 1 and "}" in text[1:]:
        choices, variable = text.rsplit("}", 1)
        return any_of(_symbol(part.strip()) for part in choices.split(",")), variable.strip()
    return exactly(_symbol(text)), None


def _write(text: str, variable: str | None) -> str | None:
    """Return what is written; None keeps what was read."""
    return None if text == "~" or (variable and text == variable) else _symbol(text)


def _symbol(text: str) -> str:
    return text or BLANK
