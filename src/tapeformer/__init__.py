"""tapeformer: multi-tape Turing machines compiled to exact Transformers."""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from tapeformer import export
    from tapeformer.bundle.load import load_bundle
    from tapeformer.bundle.record import Bundle
    from tapeformer.bundle.save import save_bundle
    from tapeformer.compile.model import compile_machine
    from tapeformer.compile.options import CompileOptions
    from tapeformer.compile.stages import stage_text
    from tapeformer.display import state_diagram
    from tapeformer.explorer.notebook import Shown, show
    from tapeformer.export.dataset import DatasetOptions, verify_dataset, write_dataset
    from tapeformer.faults import Fault, SourceLocation, TapeformerError
    from tapeformer.formats import Conventions, dumps, load, loads
    from tapeformer.formats.automata_lib import from_automata_lib
    from tapeformer.gallery import gallery_machine, gallery_names
    from tapeformer.inference.answer import Answer
    from tapeformer.inference.batch.machines import run_machines
    from tapeformer.inference.batch.run import run_batch, run_batch_file
    from tapeformer.inference.compare import Report, verify
    from tapeformer.inference.info import info
    from tapeformer.inference.queue_tables import TableRun, run_queue_table
    from tapeformer.inference.run import run
    from tapeformer.inference.stream import StreamedToken, stream
    from tapeformer.machine import (
        AcceptOn,
        Case,
        Move,
        Rule,
        TapeKind,
        TuringMachine,
        check,
        parse_word,
    )
    from tapeformer.simulator.fast import simulate
    from tapeformer.simulator.outcome import Outcome, Tape
    from tapeformer.simulator.result import Configuration, Result
    from tapeformer.simulator.stepwise import configurations

_LATER = {
    "Fault": "tapeformer.faults",
    "SourceLocation": "tapeformer.faults",
    "TapeformerError": "tapeformer.faults",
    "Conventions": "tapeformer.formats",
    "dumps": "tapeformer.formats",
    "load": "tapeformer.formats",
    "loads": "tapeformer.formats",
    "from_automata_lib": "tapeformer.formats.automata_lib",
    "gallery_machine": "tapeformer.gallery",
    "gallery_names": "tapeformer.gallery",
    "AcceptOn": "tapeformer.machine",
    "Case": "tapeformer.machine",
    "Move": "tapeformer.machine",
    "Rule": "tapeformer.machine",
    "TapeKind": "tapeformer.machine",
    "TuringMachine": "tapeformer.machine",
    "check": "tapeformer.machine",
    "parse_word": "tapeformer.machine",
    "Configuration": "tapeformer.simulator.result",
    "Outcome": "tapeformer.simulator.outcome",
    "Result": "tapeformer.simulator.result",
    "Tape": "tapeformer.simulator.outcome",
    "configurations": "tapeformer.simulator.stepwise",
    "simulate": "tapeformer.simulator.fast",
    "CompileOptions": "tapeformer.compile.options",
    "compile_machine": "tapeformer.compile.model",
    "Answer": "tapeformer.inference.answer",
    "Shown": "tapeformer.explorer.notebook",
    "DatasetOptions": "tapeformer.export.dataset",
    "verify_dataset": "tapeformer.export.dataset",
    "write_dataset": "tapeformer.export.dataset",
    "StreamedToken": "tapeformer.inference.stream",
    "Report": "tapeformer.inference.compare",
    "TableRun": "tapeformer.inference.queue_tables",
    "info": "tapeformer.inference.info",
    "run": "tapeformer.inference.run",
    "show": "tapeformer.explorer.notebook",
    "run_batch": "tapeformer.inference.batch.run",
    "run_batch_file": "tapeformer.inference.batch.run",
    "run_machines": "tapeformer.inference.batch.machines",
    "run_queue_table": "tapeformer.inference.queue_tables",
    "stage_text": "tapeformer.compile.stages",
    "state_diagram": "tapeformer.display",
    "verify": "tapeformer.inference.compare",
    "stream": "tapeformer.inference.stream",
    "Bundle": "tapeformer.bundle.record",
    "save_bundle": "tapeformer.bundle.save",
    "load_bundle": "tapeformer.bundle.load",
}
"""Where each name comes from. It is imported when it is first used: commands start sooner, and
Ctrl-C finds next to nothing of this package loading before `__main__` has control."""


def __getattr__(name: str) -> object:
    if name == "export":
        return import_module("tapeformer.export")
    if name not in _LATER:
        raise AttributeError(f"module 'tapeformer' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


__all__ = [
    "AcceptOn",
    "Answer",
    "Bundle",
    "Case",
    "CompileOptions",
    "Configuration",
    "Conventions",
    "DatasetOptions",
    "Fault",
    "Move",
    "Outcome",
    "Report",
    "Result",
    "Rule",
    "Shown",
    "SourceLocation",
    "StreamedToken",
    "TableRun",
    "Tape",
    "TapeKind",
    "TapeformerError",
    "TuringMachine",
    "check",
    "compile_machine",
    "configurations",
    "dumps",
    "export",
    "from_automata_lib",
    "gallery_machine",
    "gallery_names",
    "info",
    "load",
    "load_bundle",
    "loads",
    "parse_word",
    "run",
    "run_batch",
    "run_batch_file",
    "run_machines",
    "run_queue_table",
    "save_bundle",
    "show",
    "simulate",
    "stage_text",
    "state_diagram",
    "stream",
    "verify",
    "verify_dataset",
    "write_dataset",
]
