"""`tapeformer compile`: weights for a machine, or the text of a stage on the way."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tapeformer.cli import options as shared
from tapeformer.cli.models import compile_options
from tapeformer.cli.options import provides, read_machine
from tapeformer.cli.output import print_json
from tapeformer.faults import Fault, TapeformerError
from tapeformer.machine.record import TuringMachine

if TYPE_CHECKING:
    from tapeformer.compile.options import CompileOptions


Output = Annotated[
    Path | None, typer.Option("-o", "--output", help="The folder to write.", show_default=False)
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a bundle that is there.")]
Until = Annotated[
    str | None,
    typer.Option(
        "--until", help="Stop after this stage: queues, circuit or weights; --show prints it."
    ),
]
Show = Annotated[bool, typer.Option("--show", help="Print the stage that --until names.")]


@provides(machine=read_machine, options=compile_options)
def compile(
    machine: TuringMachine,
    options: CompileOptions,
    output: Output = None,
    overwrite: Overwrite = False,
    until: Until = None,
    show: Show = False,
    everything: shared.Everything = False,
    as_json: shared.Json = False,
) -> None:
    """Compile a machine to a bundle, or print one of its stages.

    A bundle holds the weights, the layout, and how to read the answer.
    """
    if until is not None or show:
        _print_stage(machine, options, until or "weights", everything)
        if output is None:
            return
    if output is None:
        raise TapeformerError(
            Fault("no folder was named", remedy="give -o DIR, or --until STAGE --show to print")
        )
    _write_bundle(machine, options, output, overwrite, as_json)


def _print_stage(
    machine: TuringMachine, options: CompileOptions, until: str, everything: bool
) -> None:
    from tapeformer.compile.stages import stage_text

    print(stage_text(machine, until, options, everything=everything))


def _write_bundle(
    machine: TuringMachine, options: CompileOptions, output: Path, overwrite: bool, as_json: bool
) -> None:
    from tapeformer.bundle.save import save_bundle
    from tapeformer.cli.records import model_text
    from tapeformer.compile.model import compile_machine
    from tapeformer.inference.records import model_record

    started = time.perf_counter()
    bundle = compile_machine(machine, options)
    save_bundle(bundle, output, overwrite=overwrite)
    record = {**model_record(bundle), "bundle": str(output)}
    record["seconds"] = round(time.perf_counter() - started, 3)
    if as_json:
        print_json(record)
    else:
        print(model_text(bundle))
        print(f"written to {output} in {record['seconds']} s")
