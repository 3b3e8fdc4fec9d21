"""Morphett's simulator: `state symbol new-symbol direction new-state`, one rule a line.

Blank is `_`. A state whose name starts with `halt` stops the machine, and so does a missing
rule. `*` matches any symbol (blank too) or any state, and keeps the symbol or state.
"""

from __future__ import annotations

import re
from dataclasses import replace

from tapeformer.faults import quoted
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
from tapeformer.formats.writing import lost_roles, one_plain_tape, refuse
from tapeformer.machine.record import Move, Rule, TuringMachine

NAME = "morphett"
TITLE = "Morphett's Turing machine simulator (text)"
BLANK, ANY, BREAKPOINT = "_", "*", "!"
MOVES = {"l": Move.LEFT, "r": Move.RIGHT, "*": Move.STAY, "L": Move.LEFT, "R": Move.RIGHT}
_LETTER = {Move.LEFT: "l", Move.RIGHT: "r", Move.STAY: "*"}
_SETTING = re.compile(r";[^$\n]{0,200}\$(INITIAL_TAPE|INITIAL_STATE):?(.*)")


def recognises(text: str) -> bool:
    """Return whether most lines are five-tuples with a direction in fourth position."""
    lines = [line.split() for _, line in numbered_lines(text, ";")]
    fitting = sum(_is_rule(fields) for fields in lines)
    return fitting > 0 and 2 * fitting > len(lines)


def _is_rule(fields: list[str]) -> bool:
    return len(fields) in (5, 6) and len(fields[1]) == 1 and fields[3] in MOVES


def read(source: Source, conventions: Conventions) -> TuringMachine:
    """Read the machine of a file; it starts in state 0, or in the first rule's if there is none."""
    faults = Collector(source)
    patterns = [
        pattern
        for number, line in numbered_lines(source.text, ";")
        if (pattern := _pattern(line.split(), number, faults, conventions)) is not None
    ]
    settings = dict(_SETTING.findall(source.text))
    if not patterns and not faults.faults:
        faults.add("no rules", expected="lines such as `0 1 0 r 0`")
    draft = Draft(source.stem, 1, BLANK, _start(patterns, settings), tuple(patterns), symbols=())
    word = _word(settings.get("INITIAL_TAPE"))
    draft = replace(draft, symbols=tuple(dict.fromkeys(word or ())))
    machine = finish(draft, faults, conventions, NAME)
    faults.raise_if_any(machine)
    halting = frozenset(state for state in machine.states if state.lower().startswith("halt"))
    return replace(machine, halting=halting, default_word=word)


def _start(patterns: list[Pattern], settings: dict[str, str]) -> str:
    stated = settings.get("INITIAL_STATE", "").strip()
    named = [pattern.state for pattern in patterns if pattern.state is not None]
    return stated or ("0" if "0" in named or not named else named[0])


def typed_tape(text: str) -> tuple[str, int]:
    """Return a typed tape and the head, as the site reads them: a space is a blank, a `*` marks the head."""
    head = text.index(ANY) if text.count(ANY) == 1 else 0
    return text.replace(ANY, "", 1 if text.count(ANY) == 1 else 0).replace(" ", BLANK), head


def _word(tape: str | None) -> tuple[str, ...] | None:
    """Return the tape that a file suggests; None if its head is not at the first cell."""
    word, head = typed_tape((tape or "").strip())
    return None if tape is None or head else tuple(word)


def _pattern(
    fields: list[str], line: int, faults: Collector, conventions: Conventions
) -> Pattern | None:
    if len(fields) == 6 and fields[5] != BREAKPOINT:
        faults.add(
            "a rule has a sixth field",
            line,
            expected=f"five fields, or `{BREAKPOINT}` (a breakpoint) as the sixth",
            got=quoted(fields[5]),
            remedy="start a comment with `;`",
        )
        return None
    if len(fields) not in (5, 6):
        faults.add(
            "not a rule",
            line,
            expected="`state symbol new-symbol direction new-state`",
            got=f"{len(fields)} fields",
        )
        return None
    state, symbol, new_symbol, direction, goal = fields[:5]
    for name in (symbol, new_symbol):
        if len(name) != 1:
            faults.add(f"the symbol {quoted(name)} has several characters", line, "one character")
    return Pattern(
        state=None if state == ANY else state,
        read=(_read(symbol, conventions),),
        write=(None if new_symbol == ANY else new_symbol,),
        moves=moves_from([direction], MOVES, faults, line),
        next_state=None if goal == ANY else goal,
        location=faults.source.location(line),
    )


def _read(symbol: str, conventions: Conventions) -> ReadPattern:
    if symbol != ANY:
        return exactly(symbol)
    return anything(but=[BLANK] if conventions.wildcard_matches_blank is False else [])


def write(machine: TuringMachine) -> str:
    """Return the machine in this format; raise every reason why it does not fit."""
    states = _state_names(machine)
    refuse(NAME, _misfits(machine, list(states.values())))
    lines = [f"; {line}".rstrip() for line in [machine.name, *machine.description.splitlines()]]
    lines += [f";$INITIAL_STATE: {states[machine.start]}"]
    lines += [
        _line(rule, machine.blank, states)
        for rule in machine.rules
        if rule.state not in machine.stopping
    ]
    return "\n".join(lines) + "\n"


def _line(rule: Rule, blank: str, states: dict[str, str]) -> str:
    old, new = (BLANK if symbol == blank else symbol for symbol in (rule.read[0], rule.write[0]))
    return f"{states[rule.state]} {old} {new} {_LETTER[rule.moves[0]]} {states[rule.next_state]}"


def _state_names(machine: TuringMachine) -> dict[str, str]:
    """Return the states' names; those that stop the machine get a `halt` in front."""
    return {
        state: state if state not in machine.stopping or _halts(state) else f"halt-{state}"
        for state in machine.states
    }


def _halts(state: str) -> bool:
    return state.lower().startswith("halt")


losses = lost_roles


def _misfits(machine: TuringMachine, names: list[str]) -> dict[str, bool]:
    """Return every reason why the machine might not fit the format."""
    others = [symbol for symbol in machine.symbols if symbol != machine.blank]
    going_on = [state for state in machine.states if state not in machine.stopping]
    return {
        **one_plain_tape(machine),
        "it has no rules": not machine.rules,
        "a state has a space, `;` or `*` in its name": any(
            re.search(r"[\s;]|^\*$", name) for name in names
        ),
        "two states would get the same name": len(set(names)) < len(names),
        "the name of a state with rules starts with `halt`": any(map(_halts, going_on)),
        "a symbol is not one plain character other than `;`, `*` and `_`": any(
            len(symbol) != 1 or symbol in ";*_" or symbol.isspace() for symbol in others
        ),
    }
