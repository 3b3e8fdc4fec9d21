"""Busy-beaver standard text: rows joined by `_`, a cell is write, move, next state.

The blank is 0. A letter past the last row (usually Z) stops the machine after that step; `---`
means no rule, so the machine stops before that step.
"""

from __future__ import annotations

import re
import string
from dataclasses import replace

from tapeformer.formats.conventions import Conventions
from tapeformer.formats.patterns import Pattern, exactly
from tapeformer.formats.reading import Collector, Draft, Source, finish
from tapeformer.formats.writing import one_plain_tape, refuse
from tapeformer.machine.record import Move, Rule, TuringMachine

NAME = "busy-beaver"
TITLE = "busy-beaver standard text, such as 1RB1LB_1LA1RZ"
MOVES = {"L": Move.LEFT, "R": Move.RIGHT}
_CELL = r"(?:[0-9][LR][A-Z]|---)"
_TEXT = re.compile(rf"\s*{_CELL}+(?:_{_CELL}+)*\s*")
MOST_SYMBOLS = 10
LIST = "the file has several machines, one on each line"
LIST_REMEDY = "keep one, or run them all by tf.run_machines: tapeformer run machines=FILE"

_MEANT = re.compile(r"[0-9][0-9LRA-Z-]*(?:_[0-9LRA-Z-]+)+|[0-9][LR][A-Z][0-9LRA-Z-]*")
"""Text that is meant as a machine of this format, rightly or not."""


def recognises(text: str) -> bool:
    """Return whether the text is rows of three-letter cells joined by `_`."""
    return len(text) < 10_000 and _TEXT.fullmatch(text) is not None


def slip(text: str) -> str:
    """Return what is no cell in text that is meant as a machine of this format; "" if it is not."""
    if len(text) >= 10_000 or not _MEANT.fullmatch(text.strip()):
        return ""
    for state, row in zip(string.ascii_uppercase, text.strip().split("_"), strict=False):
        for cell in re.findall(".{1,3}", row):
            if not re.fullmatch(_CELL, cell):
                return f"{cell} in row {state}"
    return ""


def is_list(text: str) -> bool:
    """Return whether the text is a list of machines, one on each line."""
    lines = text.split("\n", 2)[:2]
    return len(lines) == 2 and all(map(recognises, lines))


def read(source: Source, conventions: Conventions) -> TuringMachine:
    """Read the machine of a busy-beaver string; it starts in A."""
    faults = Collector(source)
    if is_list(source.text):
        faults.add(LIST, 2, expected="one machine", remedy=LIST_REMEDY)
    elif not recognises(source.text):
        got = source.text.strip().splitlines()[0][:40] if source.text.strip() else "nothing"
        faults.add("not busy-beaver text", 1, expected="cells such as 1RB or ---", got=got)
    faults.raise_if_any()
    rows = [re.findall(_CELL, row) for row in source.text.strip().split("_")]
    _check_rows(rows, faults)
    patterns = [
        pattern
        for state, row in zip(string.ascii_uppercase, rows, strict=False)
        for symbol, cell in enumerate(row)
        if (pattern := _pattern(state, symbol, cell, source)) is not None
    ]
    symbols = tuple(map(str, range(len(rows[0]))))
    states = tuple(string.ascii_uppercase[: len(rows)])
    draft = Draft(source.text.strip(), 1, "0", "A", tuple(patterns), states, symbols)
    machine = finish(draft, faults, conventions, NAME)
    faults.raise_if_any(machine)
    halting = frozenset(machine.states) - frozenset(states)
    return replace(machine, halting=halting)


def _check_rows(rows: list[list[str]], faults: Collector) -> None:
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        got = ", ".join(str(len(row)) for row in rows[:12])
        faults.add("rows of different lengths", 1, expected=f"{width} cells in each row", got=got)
    if width > MOST_SYMBOLS or len(rows) > len(string.ascii_uppercase):
        faults.add("too large for busy-beaver text", 1, "at most 10 symbols and 26 states")
    for cell in {cell for row in rows for cell in row if cell[0] != "-" and int(cell[0]) >= width}:
        faults.add(f"{cell} writes a symbol that no column reads", 1, f"0 to {width - 1}")
    faults.raise_if_any()


def _pattern(state: str, symbol: int, cell: str, source: Source) -> Pattern | None:
    if cell == "---":
        return None
    moves = (MOVES[cell[1]],)
    return Pattern(state, (exactly(str(symbol)),), (cell[0],), moves, cell[2], source.location(1))


def write(machine: TuringMachine) -> str:
    """Return the machine as busy-beaver text, with states and symbols renamed where necessary."""
    running = [state for state in machine.states if state not in machine.stopping]
    refuse(NAME, _misfits(machine, running))
    if machine.start == "A" and set(running) == set(string.ascii_uppercase[: len(running)]):
        running.sort()
    letters = dict(zip(running, string.ascii_uppercase, strict=False))
    digits = _digits(machine)
    rows = []
    for state in running:
        cells = [_cell(machine.rule_for.get((state, (s,))), letters, digits) for s in digits]
        rows.append("".join(cells))
    return "_".join(rows) + "\n"


def _digits(machine: TuringMachine) -> dict[str, str]:
    """Return a digit for each symbol, the blank 0; symbols that are the right digits stay."""
    wanted = [str(number) for number in range(len(machine.symbols))]
    stays = machine.blank == "0" and sorted(machine.symbols) == wanted
    order = sorted(machine.symbols) if stays else machine.symbols
    return dict(zip(order, wanted, strict=True))


def _cell(rule: Rule | None, letters: dict[str, str], digits: dict[str, str]) -> str:
    if rule is None:
        return "---"
    move = "R" if rule.moves[0] is Move.RIGHT else "L"
    return digits[rule.write[0]] + move + letters.get(rule.next_state, "Z")


def losses(_: TuringMachine) -> list[str]:
    """Return nothing: only names change, and what does not fit is refused."""
    return []


def _misfits(machine: TuringMachine, running: list[str]) -> dict[str, bool]:
    return {
        **one_plain_tape(machine),
        "it has more than 10 symbols": len(machine.symbols) > MOST_SYMBOLS,
        "it has more than 25 states that go on": len(running) >= len(string.ascii_uppercase),
        "it stops in its start state": machine.start in machine.stopping,
        "it accepts or rejects": bool(machine.accepting or machine.rejecting),
        "a missing rule rejects": machine.no_rule_rejects,
        "it has stay moves": any(Move.STAY in rule.moves for rule in machine.rules),
        "it stops in several states": len(machine.stopping) > 1,
    }
