"""From what a person types to the word on tape 1."""

from __future__ import annotations

from tapeformer.faults import Fault, Place, TapeformerError, quoted
from tapeformer.machine.record import TuringMachine
from tapeformer.machine.verify import alphabet_text


def parse_word(machine: TuringMachine, text: str, spaced: bool = False) -> tuple[str, ...]:
    """The symbols of an input: one character each, or separated by spaces; all must be the machine's."""
    word = tuple(text.split()) if spaced else tuple(text)
    faults = [
        Fault(
            f"symbol {quoted(symbol)} is not in the alphabet of {quoted(machine.name)}",
            Place("INPUT", None) if spaced else Place(f"INPUT, character {index + 1}"),
            expected=alphabet_text(machine),
            remedy=_remedy(machine, text, spaced),
        )
        for index, symbol in enumerate(word)
        if symbol not in machine.word_symbols
    ]
    if faults:
        raise TapeformerError(faults[:5])
    return word


def _remedy(machine: TuringMachine, text: str, spaced: bool) -> str:
    if not spaced and not machine.single_characters:
        return "this machine has symbols of several characters: separate them by spaces and add --spaced"
    if spaced and " " not in text and len(text) > 1:
        return "leave out --spaced, or put spaces between the symbols"
    return "use only these symbols; --symbols adds one that only wildcards read"
