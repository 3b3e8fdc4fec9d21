"""Show tapes as text, the head's cell in brackets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tapeformer.drawing.symbols import visible
from tapeformer.simulator.outcome import Outcome, Tape
from tapeformer.simulator.result import Configuration

WIDTH = 100


def tape_text(tape: Tape, blank: str, width: int = WIDTH) -> str:
    """Return a tape around its head, such as ` 1 0[1]1 `, with the number of cells left out."""
    first, last = min(0, tape.head), max(len(tape.content) - 1, tape.head)
    cells = [_cell(tape, at, blank) for at in range(first, last + 1)]
    head = tape.head - first
    start, end = _shown(cells, head, width)
    left = f"...({start} more) " if start else ""
    right = f" ...({len(cells) - end} more)" if end < len(cells) else ""
    return left + "".join(_framed(cells, head, start, end)) + right


def _cell(tape: Tape, at: int, blank: str) -> str:
    symbol = tape.content[at] if 0 <= at < len(tape.content) else blank
    return visible(symbol)


def _shown(cells: Sequence[str], head: int, width: int) -> tuple[int, int]:
    """Return the longest stretch around the head that fits the width."""
    start, end, used = head, head + 1, len(cells[head]) + 2
    while True:
        grown = False
        if end < len(cells) and used + len(cells[end]) + 1 <= width:
            used, end, grown = used + len(cells[end]) + 1, end + 1, True
        if start > 0 and used + len(cells[start - 1]) + 1 <= width:
            used, start, grown = used + len(cells[start - 1]) + 1, start - 1, True
        if not grown:
            return start, end


def _framed(cells: Sequence[str], head: int, start: int, end: int) -> Iterator[str]:
    for at in range(start, end):
        before = "[" if at == head else "]" if at == head + 1 else " "
        yield before + cells[at]
    yield "]" if head == end - 1 else " "


_ENDINGS = {
    Outcome.ACCEPT: "accepted",
    Outcome.REJECT: "rejected",
    Outcome.HALT: "halted",
    Outcome.LIMIT: "stopped at the limit",
    Outcome.OUT_OF_SPACE: "out of space",
}


def outcome_word(outcome: Outcome, interrupted: bool = False) -> str:
    """Return how a run ended, in words."""
    return "interrupted" if interrupted else _ENDINGS[outcome]


def configuration_text(blank: str, configuration: Configuration) -> str:
    """Return a configuration as text: step, state, and a line for each tape."""
    lines = [f"step {configuration.step}  state {configuration.state}"]
    if configuration.outcome is not None:
        lines[0] += f"  ({configuration.outcome.value})"
    lines += tape_lines(blank, configuration.tapes)
    return "\n".join(lines)


def tape_lines(blank: str, tapes: Sequence[Tape]) -> list[str]:
    """Return a line for each tape, numbered where there are several."""
    names = [f"tape {n} " if len(tapes) > 1 else "" for n in range(1, len(tapes) + 1)]
    return [f"  {name}{tape_text(tape, blank)}" for name, tape in zip(names, tapes, strict=True)]
