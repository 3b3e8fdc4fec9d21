"""What a window of tokens says about the Turing machine: state, tapes and heads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ParamSpec

from tapeformer.dataclass import dataclass
from tapeformer.faults import Fault, TapeformerError
from tapeformer.simulator.outcome import Tape

Given = ParamSpec("Given")


@dataclass(frozen=True)
class Decoded:
    """A configuration read from a window.

    `settled`: the step that this token ends is complete. Otherwise a step is under way, and this
    is the configuration that it leads to.
    """

    state: str
    tapes: tuple[Tape, ...]
    settled: bool


def tape_between(left: Sequence[str], right: Sequence[str], blank: str) -> Tape:
    """Return the tape of the cells before the head, and those from the head on, without outer blanks."""
    cells = [*left, *right]
    first = next((place for place, cell in enumerate(cells) if cell != blank), None)
    if first is None:
        return Tape((), 0)
    end = len(cells)
    while cells[end - 1] == blank:
        end -= 1
    return Tape(tuple(cells[first:end]), len(left) - first)


def unreadable(what: str) -> TapeformerError:
    """Return a window that no run of the machine leaves behind, as an error to raise."""
    return TapeformerError(
        Fault(f"the window cannot be read: {what}", remedy="these tokens are not the machine's")
    )


def checking(decode: Callable[Given, Decoded]) -> Callable[Given, Decoded]:
    """Return a decoder that refuses tokens, a layout or a reading of another construction."""

    def decoded(*given: Given.args, **named: Given.kwargs) -> Decoded:
        try:
            return decode(*given, **named)
        except (LookupError, ValueError) as error:
            raise unreadable(f"{error} is not what this construction writes") from None

    return decoded
