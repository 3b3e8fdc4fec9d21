"""Write down where each rule of a machine comes from, for a bundle to keep."""

from __future__ import annotations

import re

from tapeformer.bundle.record import RuleOrigin
from tapeformer.machine.record import Rule, TuringMachine

GALLERY = "gallery/"


def rule_origins(machine: TuringMachine) -> tuple[RuleOrigin, ...]:
    """Return the rules in order, as text, each with the file and line that it was read from."""
    return tuple(_origin(machine, rule) for rule in machine.rules)


def _origin(machine: TuringMachine, rule: Rule) -> RuleOrigin:
    place = rule.location or machine.location
    if place is None:
        return RuleOrigin(_text(rule))
    return RuleOrigin(_text(rule), _file_name(place.source), place.line)


def _text(rule: Rule) -> str:
    """Return a rule as `state read -> next_state write moves`, one symbol and move for each tape."""
    before = map(_word, (rule.state, *rule.read))
    after = map(_word, (rule.next_state, *rule.write))
    moves = (move.letter for move in rule.moves)
    return f"{' '.join(before)} -> {' '.join((*after, *moves))}"


def _word(name: str) -> str:
    """Return a name as one word, in quotes if it is none."""
    return name if name.isprintable() and name.split() == [name] else repr(name)


def _file_name(source: str) -> str:
    """Return the name of a file without its folder: a bundle says nothing about a computer."""
    return source if source.startswith(GALLERY) else re.split(r"[/\\]", source)[-1]
