"""Write JFLAP `.jff`: states on a circle, one transition per rule, the blank as an empty element."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from tapeformer.formats.writing import refuse, unnamed_symbols
from tapeformer.machine.record import AcceptOn, Rule, TapeKind, TuringMachine

BLANK, ANY = "□", "~"
MOST_TAPES = 5
SPACING = 120
_NOT_XML = r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def write(machine: TuringMachine) -> str:
    """Return the machine as a file of JFLAP 7; raise every reason why it does not fit."""
    refuse("jflap", _misfits(machine))
    lines = ['<?xml version="1.0" encoding="UTF-8" standalone="no"?>', "<structure>"]
    lines += ["  <type>turing</type>"]
    if machine.tapes > 1:
        lines += [f"  <tapes>{machine.tapes}</tapes>"]
    lines += ["  <automaton>", *_states(machine), *_transitions(machine), "  </automaton>"]
    return "\n".join([*lines, "</structure>"]) + "\n"


def _states(machine: TuringMachine) -> Iterator[str]:
    """Yield an element per state, evenly spaced on a circle."""
    from xml.sax.saxutils import quoteattr

    count = len(machine.states)
    radius = max(SPACING, SPACING * count / (2 * math.pi))
    for number, state in enumerate(machine.states):
        angle = math.pi + 2 * math.pi * number / count
        x, y = (SPACING + radius * (1 + part) for part in (math.cos(angle), math.sin(angle)))
        initial = "<initial/>" if state == machine.start else ""
        final = "<final/>" if state in machine.accepting else ""
        inside = f"<x>{x:.1f}</x><y>{y:.1f}</y>{initial}{final}"
        yield f'    <state id="{number}" name={quoteattr(state)}>{inside}</state>'


def _transitions(machine: TuringMachine) -> Iterator[str]:
    """Yield an element per rule that can be used."""
    ids = {state: number for number, state in enumerate(machine.states)}
    for rule in machine.rules:
        if rule.state not in machine.stopping:
            ends = f"<from>{ids[rule.state]}</from><to>{ids[rule.next_state]}</to>"
            yield f"    <transition>{ends}{_actions(rule, machine.blank)}</transition>"


def _actions(rule: Rule, blank: str) -> str:
    from xml.sax.saxutils import escape

    parts = []
    for tape, (old, new, move) in enumerate(zip(rule.read, rule.write, rule.moves, strict=True), 1):
        which = f' tape="{tape}"' if len(rule.read) > 1 else ""
        for tag, text in (("read", old), ("write", new)):
            inside = "" if text == blank else escape(text)
            parts.append(f"<{tag}{which}>{inside}</{tag}>" if inside else f"<{tag}{which}/>")
        parts.append(f"<move{which}>{move.letter}</move>")
    return "".join(parts)


def losses(machine: TuringMachine) -> list[str]:
    """Return what is lost: rejecting without accepting states, and symbols that no rule names."""
    lost = []
    if not machine.accepting and (machine.rejecting or machine.no_rule_rejects):
        lost.append("without accepting states, stopping anywhere is halting, not rejecting")
    if unnamed_symbols(machine):
        lost.append("symbols that no rule names are left out")
    return lost


def _misfits(machine: TuringMachine) -> dict[str, bool]:
    """Return every reason why the machine might not fit the format."""
    others = [symbol for symbol in machine.symbols if symbol != machine.blank]
    leaving = machine.accepting & machine.rules_of.keys()
    return {
        f"it has more than {MOST_TAPES} tapes": machine.tapes > MOST_TAPES,
        "its tapes are bounded on the left": machine.tape_kind is TapeKind.ONE_WAY,
        "rules leave an accepting state": bool(leaving and machine.accept_on is AcceptOn.HALT),
        "a symbol has several characters": any(len(symbol) > 1 for symbol in others),
        f"a symbol is a space, {BLANK}, {ANY}, or not allowed in XML": any(
            symbol.isspace() or symbol in (BLANK, ANY) or re.search(_NOT_XML, symbol)
            for symbol in others
        ),
        "the name of a state is not allowed in XML": any(
            re.search(_NOT_XML, state) for state in machine.states
        ),
    }
