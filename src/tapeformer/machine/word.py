"""Check the word on tape 1, whether a person typed it or a program passed it."""

from __future__ import annotations

from collections.abc import Sequence

from tapeformer.faults import Fault, SourceLocation, TapeformerError, check_symbols, described
from tapeformer.machine.record import TuringMachine
from tapeformer.machine.verify import alphabet_text, require_machine


def parse_word(machine: TuringMachine, text: str, spaced: bool = False) -> tuple[str, ...]:
    """Return the symbols of a text: one character each, or separated by spaces."""
    require_machine(machine)
    if not isinstance(text, str):
        raise TapeformerError(
            Fault("not a text", None, "a str", described(text), "pass the input as a str")
        )
    word = tuple(text.split()) if spaced else tuple(text)
    if not machine.word_symbols.issuperset(word):
        unit = "symbol" if spaced else "character"
        _refuse(machine, word, f"INPUT, {unit}", _text_remedy(machine, text, spaced))
    return word


def checked_word(machine: TuringMachine, word: Sequence[str]) -> tuple[str, ...]:
    """Return the word of a Python caller as a tuple of symbols, all of them the machine's.

    A str has one character per symbol.
    """
    if not isinstance(word, str | Sequence) or isinstance(word, bytes):
        remedy = 'pass a str such as "abba", or a list of symbols; the empty word is ""'
        raise TapeformerError(
            Fault("not a word", None, "a str or a sequence of str", described(word), remedy)
        )
    symbols = tuple(word)
    wrong = next((i for i, symbol in enumerate(symbols) if not isinstance(symbol, str)), None)
    if wrong is not None:
        location = SourceLocation(f"word, symbol {wrong + 1}")
        got, remedy = described(symbols[wrong]), "turn each symbol into a str"
        raise TapeformerError(Fault("not a symbol", location, "a str", got, remedy))
    if not machine.word_symbols.issuperset(symbols):
        _refuse(machine, symbols, "word, symbol", _python_remedy(machine, word))
    return symbols


def _refuse(machine: TuringMachine, word: Sequence[str], where: str, remedy: str) -> None:
    """Raise a fault that names what is not the machine's."""
    alphabet = alphabet_text(machine)
    check_symbols(word, machine.word_symbols, machine.name, where, alphabet, remedy)


def _text_remedy(machine: TuringMachine, text: str, spaced: bool) -> str:
    if not spaced and not machine.single_characters:
        return "this machine has symbols of several characters: separate them by spaces and give spaced=True"
    if spaced and " " not in text and len(text) > 1:
        return "leave out spaced=True, or put spaces between the symbols"
    return (
        "use only these symbols; tf.Conventions(symbols=NAMES) adds some that only wildcards read"
    )


def _python_remedy(machine: TuringMachine, word: Sequence[str]) -> str:
    if isinstance(word, str) and not machine.single_characters:
        return "this machine has symbols of several characters: pass a list of symbols"
    return "use only these symbols"
