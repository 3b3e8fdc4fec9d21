"""turingmachinesimulator.com: a head of `name: init: accept:`, then rules in pairs of lines.

The first line of a pair is the state and the symbols read, the second the next state, the symbols
written and the moves `<`, `-`, `>`. Blank is `_`; a missing rule rejects; comments start with `//`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from tapeformer.faults import did_you_mean, quoted
from tapeformer.formats.conventions import Conventions
from tapeformer.formats.patterns import Pattern, exactly
from tapeformer.formats.reading import (
    Collector,
    Draft,
    Source,
    finish,
    moves_from,
    numbered_lines,
)
from tapeformer.machine.record import Move, TuringMachine

NAME = "turingmachinesimulator"
TITLE = "turingmachinesimulator.com (text)"
BLANK = "_"
MOVES = {"<": Move.LEFT, "-": Move.STAY, ">": Move.RIGHT}
_UNKNOWN = re.compile(r"\w+\s*:")
_HEAD = re.compile(r"(name|init|accept)\s*:(.*)", re.IGNORECASE)


def recognises(text: str) -> bool:
    """Return whether there is an `init:` line, and an `accept:` line or a rule that ends with a move."""
    lines = [line for _, line in numbered_lines(text, "//")]
    heads = {line.split(":", 1)[0].rstrip().lower() for line in lines if ":" in line}
    moves = any("," in line and line[-1] in MOVES for line in lines)
    return "init" in heads and ("accept" in heads or moves)


@dataclass
class _Rules:
    """The rules read so far, and the first line of a pair that waits for its second."""

    faults: Collector
    patterns: list[Pattern] = field(default_factory=list)
    waiting: tuple[int, list[str]] | None = None
    states: set[str] = field(default_factory=set)
    tapes: int = 0

    def take(self, line: int, fields: list[str]) -> None:
        """Take the next line of a pair."""
        if "" in fields:
            self.faults.add("an empty field", line, remedy="write `_` for the blank")
        if self.waiting is None:
            self.tapes = self.tapes or len(fields) - 1
            self.waiting = (line, fields)
            self.states.add(fields[0])
        else:
            self._pair(*self.waiting, line, fields)
            self.waiting = None

    def _pair(self, line: int, read: list[str], second: int, result: list[str]) -> None:
        tapes = self.tapes
        if len(read) != 1 + tapes or tapes < 1:
            self._wrong_length(
                line, "the first line of a rule (state, symbols read)", 1 + max(tapes, 1), len(read)
            )
        elif len(result) != 1 + 2 * tapes:
            self._wrong_length(
                second,
                "the second line of a rule (state, symbols, moves)",
                1 + 2 * tapes,
                len(result),
            )
        else:
            moves = moves_from(result[1 + tapes :], MOVES, self.faults, second)
            reads = tuple(map(exactly, read[1:]))
            location = self.faults.source.location(line)
            writes = tuple(result[1 : 1 + tapes])
            self.patterns.append(Pattern(read[0], reads, writes, moves, result[0], location))

    def _wrong_length(self, line: int, what: str, expected: int, got: int) -> None:
        remedy = "rules come in pairs of lines; every rule has the tapes of the first"
        self.faults.add(what, line, f"{expected} fields", f"{got}", remedy)

    def end(self) -> None:
        """Check what must hold at the end of the file."""
        if self.waiting is not None:
            self.faults.add("a rule without its second line", self.waiting[0])
        elif not self.patterns and not self.faults.faults:
            self.faults.add("no rules", expected="pairs of lines such as `q0,1` and `q1,0,>`")


def read(source: Source, conventions: Conventions) -> TuringMachine:
    """Read the machine of a file; it accepts on entering an accepting state."""
    faults = Collector(source)
    head: dict[str, str] = {}
    rules = _Rules(faults)
    for line, text in numbered_lines(source.text, "//"):
        match = _HEAD.fullmatch(text)
        if match and match[1].lower() not in head:
            head[match[1].lower()] = match[2].strip()
        elif "," not in text and _UNKNOWN.match(text):
            faults.add("an unknown line", line, "name:, init:, accept:, or rules", quoted(text))
        else:
            rules.take(line, [part.strip() for part in text.split(",")])
    rules.end()
    accepting = [name.strip() for name in head.get("accept", "").split(",") if name.strip()]
    if not head.get("init"):
        faults.add("no start state", 1, expected="a line `init: STATE`")
    name, start = head.get("name") or source.stem, head.get("init", "")
    draft = Draft(name, max(rules.tapes, 1), BLANK, start, tuple(rules.patterns))
    machine = finish(draft, faults, conventions, NAME)
    machine = replace(machine, accepting=frozenset(accepting), no_rule_rejects=True)
    _check_start(machine, rules.states, faults)
    faults.raise_if_any(machine)
    return machine


def _check_start(machine: TuringMachine, with_rules: set[str], faults: Collector) -> None:
    """Check that the start state has rules or accepts: otherwise it is misspelt."""
    known = with_rules | machine.accepting
    if machine.start and known and machine.start not in known:
        nearest = did_you_mean(machine.start, sorted(known))
        what = f"the start state {quoted(machine.start)} has no rules"
        faults.add(what, None, "a state with rules", remedy=nearest)
