"""tapeformer: multi-tape Turing machines compiled to exact Transformers."""

from importlib import import_module
from typing import TYPE_CHECKING

from tapeformer.compile_options import CompileOptions
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

if TYPE_CHECKING:
    from tapeformer.compile import compile_machine
    from tapeformer.generation import Answer, generate
    from tapeformer.weights.bundle import Bundle, save_bundle
    from tapeformer.weights.bundle_check import load_bundle

_LATER = {
    "compile_machine": "tapeformer.compile",
    "Answer": "tapeformer.generation",
    "generate": "tapeformer.generation",
    "Bundle": "tapeformer.weights.bundle",
    "save_bundle": "tapeformer.weights.bundle",
    "load_bundle": "tapeformer.weights.bundle_check",
}
"""What loads NumPy, and so is imported when it is first used."""


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'tapeformer' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


__all__ = [
    "AcceptOn",
    "Answer",
    "Bundle",
    "Case",
    "CompileOptions",
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
    "compile_machine",
    "configurations",
    "dumps",
    "from_automata_lib",
    "gallery_machine",
    "gallery_names",
    "generate",
    "load",
    "load_bundle",
    "loads",
    "parse_word",
    "save_bundle",
    "simulate",
    "verify",
]
