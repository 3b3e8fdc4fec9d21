"""Turing machines: the record, its verifier, and the words on its tape."""

from tapeformer.machine.record import AcceptOn, Case, Move, Rule, TapeKind, TuringMachine
from tapeformer.machine.verify import checked, verify
from tapeformer.machine.word import parse_word

__all__ = [
    "AcceptOn",
    "Case",
    "Move",
    "Rule",
    "TapeKind",
    "TuringMachine",
    "checked",
    "parse_word",
    "verify",
]
