"""Turing machines: the record, its checks, and the words on its tape."""

from tapeformer.machine.record import AcceptOn, Case, Move, Rule, TapeKind, TuringMachine
from tapeformer.machine.verify import check, checked, verify
from tapeformer.machine.word import checked_word, parse_word

__all__ = [
    "AcceptOn",
    "Case",
    "Move",
    "Rule",
    "TapeKind",
    "TuringMachine",
    "check",
    "checked",
    "checked_word",
    "parse_word",
    "verify",
]
