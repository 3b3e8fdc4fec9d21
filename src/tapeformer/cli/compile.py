"""`tapeformer compile`: weights for a machine."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from tapeformer.cli import options as shared
from tapeformer.cli.models import compile_options, sized
from tapeformer.cli.options import provides, read_machine
from tapeformer.cli.output import print_json
from tapeformer.compile.options import CompileOptions
from tapeformer.machine.record import TuringMachine

Output = Annotated[Path, typer.Option("-o", "--output", help="The folder to write.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a bundle that is there.")]


@provides(machine=read_machine, options=compile_options)
def compile(
    machine: TuringMachine,
    options: CompileOptions,
    output: Output,
    overwrite: Overwrite = False,
    as_json: shared.Json = False,
) -> None:
    """Compile a machine to a bundle: weights, layout, and how to read the answer."""
    from tapeformer.bundle.save import save_bundle
    from tapeformer.cli.records import model_text
    from tapeformer.compile.passes import compile_machine
    from tapeformer.inference.records import model_record

    started = time.perf_counter()
    bundle = compile_machine(machine, sized(machine, options, None))
    save_bundle(bundle, output, overwrite=overwrite)
    record = {**model_record(bundle), "bundle": str(output)}
    record["seconds"] = round(time.perf_counter() - started, 3)
    if as_json:
        print_json(record)
    else:
        print(model_text(bundle))
        print(f"written to {output} in {record['seconds']} s")
