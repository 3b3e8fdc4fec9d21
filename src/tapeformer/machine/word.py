"""From what a person types to the word on tape 1."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from tapeformer.faults import Fault, SourceLocation, TapeformerError, quoted
from tapeformer.machine.record import TuringMachine
from tapeformer.machine.verify import alphabet_text


def parse_word(machine: TuringMachine, text: str, spaced: bool = False) -> tuple[str, ...]:
    """The symbols of an input: one character each, or separated by spaces; all must be the machine's."""
    word = tuple(text.split()) if spaced else tuple(text)
    check_word(machine, word, "symbol" if spaced else "character", _remedy(machine, text, spaced))
    return word


def check_word(
    machine: TuringMachine, word: Sequence[str], unit: str = "symbol", remedy: str = ""
) -> None:
    """Raises a fault for each of the first few symbols that the machine does not have."""
    faults = (
        Fault(
            f"symbol {quoted(symbol)} is not in the alphabet of {quoted(machine.name)}",
            SourceLocation(f"INPUT, {unit} {index}"),
            expected=alphabet_text(machine),
            remedy=remedy,
        )
        for index, symbol in enumerate(word, 1)
        if symbol not in machine.word_symbols
    )
    told = tuple(itertools.islice(faults, 5))
    if told:
        raise TapeformerError(told)


def _remedy(machine: TuringMachine, text: str, spaced: bool) -> str:
    if not spaced and not machine.single_characters:
        return "this machine has symbols of several characters: separate them by spaces and add --spaced"
    if spaced and " " not in text and len(text) > 1:
        return "leave out --spaced, or put spaces between the symbols"
    return "use only these symbols; --symbols adds one that only wildcards read"
