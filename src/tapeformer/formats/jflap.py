"""JFLAP `.jff`: XML, one to five tapes, states as `<state>` (to 6.3) or `<block>` (from 6.4).

An empty read or write is the blank, a missing move is right, transitions refer to state ids, a
final state accepts on entry. `~` reads any symbol or keeps it; on one tape `!a` reads any symbol
but a, and `a,b}w` reads a or b into the variable w, which a write may name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tapeformer.faults import Fault, TapeformerError, quoted
from tapeformer.formats.patterns import Pattern, Read, any_of, anything, exactly
from tapeformer.formats.reading import Collector, Conventions, Draft, Source, finish, moves_from
from tapeformer.machine.record import Move, TuringMachine

NAME = "jflap"
TITLE = "JFLAP 4 to 7 (.jff, one to five tapes)"
BLANK = "□"
MOVES = {"L": Move.LEFT, "R": Move.RIGHT, "S": Move.STAY}
MOST_TAPES = 5
DEEPEST = 16


def recognises(text: str) -> bool:
    """Whether it is XML at all: no other format is."""
    return text.lstrip("\ufeff \t\r\n").startswith("<")


def read(source: Source, conventions: Conventions) -> TuringMachine:
    """The machine of a file."""
    faults = Collector(source)
    root = _parse(source)
    kind = (root.findtext("type") or "").strip()
    if root.get("type"):
        faults.add("a file of JFLAP 8, which is not supported", 1, remedy="save it from JFLAP 7")
    elif root.tag != "structure" or not kind.startswith("turing"):
        got = quoted(kind or root.tag)
        faults.add("not a Turing machine of JFLAP", 1, "<structure> with <type>turing</type>", got)
    faults.raise_if_any()
    holder = root.find("automaton") if root.find("automaton") is not None else root
    states = _States.of(holder, faults)
    tapes = _tapes(root, faults)
    patterns = [
        _pattern(number, element, tapes, states, conventions, faults)
        for number, element in enumerate(holder.findall("transition"), 1)
    ]
    faults.raise_if_any()
    known = tuple(pattern for pattern in patterns if pattern is not None)
    draft = Draft(source.stem, tapes, BLANK, states.start, known, tuple(states.names.values()))
    return replace(finish(draft, source, conventions, NAME), accepting=states.final)


def _parse(source: Source) -> Any:
    """The root of the tree. External entities and entity bombs are refused, not resolved."""
    from xml.etree.ElementTree import ParseError

    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        return _shallow(fromstring(source.text.lstrip("\ufeff \t\r\n").encode("utf-8")), source)
    except ParseError as error:
        line = error.position[0] if error.position else None
        fault = Fault(
            f"not readable as XML: {error}",
            source.location(line),
            remedy="save it from JFLAP again",
        )
    except DefusedXmlException:
        fault = Fault(
            "the XML declares entities",
            source.location(1),
            remedy="remove its <!DOCTYPE ...> and <!ENTITY ...>",
        )
    except (ValueError, LookupError) as error:
        fault = Fault(f"not readable as XML: {error}", source.location(1))
    raise TapeformerError(fault) from None


def _shallow(root: Any, source: Source) -> Any:
    """The root, unless elements are nested deeper than any JFLAP file has them."""
    level, depth = [root], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise TapeformerError(Fault(f"XML nested more than {DEEPEST} deep", source.location()))
        level = [child for element in level for child in element]
    return root


@dataclass(frozen=True)
class _States:
    """Ids, the names they stand for, and their roles."""

    names: dict[str, str]
    start: str
    final: frozenset[str]

    @classmethod
    def of(cls, holder: Any, faults: Collector) -> _States:
        elements = [*holder.findall("state"), *holder.findall("block")]
        _refuse_nested_blocks(holder, elements, faults)
        names = _unique_names(elements, faults)
        initial = [names[e.get("id")] for e in elements if e.find("initial") is not None]
        final = [names[e.get("id")] for e in elements if e.find("final") is not None]
        if len(initial) != 1:
            got = f"{len(initial)}"
            faults.add("the start state", None, "one state with <initial/>", got)
        faults.raise_if_any()
        return cls(names, initial[0], frozenset(final))


def _unique_names(elements: list[Any], faults: Collector) -> dict[str, str]:
    """Names by id; a name that several states have gets the id added."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for element in elements:
        state_id = element.get("id")
        if state_id is None or state_id in names:
            faults.add("a state's id", None, "one that no other state has", quoted(state_id or ""))
            faults.raise_if_any()
        name = element.get("name") or f"q{state_id}"
        names[state_id] = name if name not in taken else f"{name} ({state_id})"
        taken.add(names[state_id])
    return names


def _refuse_nested_blocks(holder: Any, elements: list[Any], faults: Collector) -> None:
    """A block that holds a machine of its own (a building block) is not a state."""
    tags = {(element.findtext("tag") or "").strip(): element for element in elements}
    for child in holder:
        inside = [*child.findall("state"), *child.findall("block")]
        if child.tag in tags and inside:
            remedy = "replace the building block by its states in JFLAP"
            faults.add(f"building block {quoted(child.tag)} is not supported", None, remedy=remedy)


def _tapes(root: Any, faults: Collector) -> int:
    text = (root.findtext("tapes") or root.findtext("automaton/tapes") or "1").strip()
    if text.isascii() and text.isdecimal() and 1 <= int(text[:3]) <= MOST_TAPES:
        return int(text[:3])
    faults.add("the number of tapes", None, f"1 to {MOST_TAPES}", quoted(text))
    return 1


def _pattern(
    number: int,
    element: Any,
    tapes: int,
    states: _States,
    conventions: Conventions,
    faults: Collector,
) -> Pattern | None:
    ends = [(element.findtext(end) or "").strip() for end in ("from", "to")]
    for end in ends:
        if end not in states.names:
            faults.add(f"transition {number} names the state id {quoted(end)}", None, "a known id")
            return None
    reads, writes, moves = (
        _per_tape(number, element, tag, tapes, faults) for tag in ("read", "write", "move")
    )
    moves = [move.upper() or "R" for move in moves]
    pairs = [_read(r, tapes, conventions) for r in reads]
    return Pattern(
        state=states.names[ends[0]],
        read=tuple(read for read, _ in pairs),
        write=tuple(_write(w, name) for w, (_, name) in zip(writes, pairs, strict=True)),
        moves=moves_from(moves, MOVES, faults, None),
        next_state=states.names[ends[1]],
        location=replace(
            faults.source.location(), source=f"{faults.source.name}, transition {number}"
        ),
    )


def _per_tape(number: int, element: Any, tag: str, tapes: int, faults: Collector) -> list[str]:
    """The texts of an element that stands once for each tape; a missing one is empty."""
    texts = [""] * tapes
    for child in element.findall(tag):
        tape = child.get("tape", "1")
        index = int(tape) - 1 if tape.isascii() and tape.isdecimal() and len(tape) < 3 else -1
        if 0 <= index < tapes:
            texts[index] = (child.text or "").strip()
        else:
            what = f"transition {number} has a <{tag}> for another tape"
            faults.add(what, None, f"1 to {tapes}, as <tapes> says", quoted(tape))
    return texts


def _read(text: str, tapes: int, conventions: Conventions) -> tuple[Read, str | None]:
    """What is read, and the variable that takes it."""
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
    """What is written; None keeps what was read."""
    return None if text == "~" or (variable and text == variable) else _symbol(text)


def _symbol(text: str) -> str:
    return text or BLANK
