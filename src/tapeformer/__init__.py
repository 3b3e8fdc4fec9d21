"""tapeformer: multi-tape Turing machines compiled to exact Transformers."""

from tapeformer.faults import Fault, TapeformerError
from tapeformer.formats import Conventions, dumps, load, loads
from tapeformer.formats.automata_lib import from_automata_lib
from tapeformer.gallery import gallery_machine, gallery_names
from tapeformer.machine import (
    AcceptOn,
    Case,
    Move,
    Rule,
    TapeKind,
    TuringMachine,
    parse_word,
    verify,
)
from tapeformer.simulator import Configuration, Outcome, Result, Tape, configurations, simulate

__version__ = "0.1.0"

__all__ = [
    "AcceptOn",
    "Case",
    "Configuration",
    "Conventions",
    "Fault",
    "Move",
    "Outcome",
    "Result",
    "Rule",
    "Tape",
    "TapeKind",
    "TapeformerError",
    "TuringMachine",
    "configurations",
    "dumps",
    "from_automata_lib",
    "gallery_machine",
    "gallery_names",
    "load",
    "loads",
    "parse_word",
    "simulate",
    "verify",
]
