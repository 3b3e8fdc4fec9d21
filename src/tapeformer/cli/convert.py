"""`tapeformer convert`: write a machine in another format."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tapeformer.cli.options import takes_machine
from tapeformer.cli.output import write_file
from tapeformer.formats.registry import WRITERS, dumps, losses
from tapeformer.machine.record import TuringMachine

To = Annotated[str, typer.Option("--to", help="One of " + ", ".join(sorted(WRITERS)) + ".")]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="The file to write; standard output if left out."),
]


@takes_machine
def convert(
    machine: TuringMachine,
    to: To,
    output: Output = None,
) -> None:
    """Convert a machine to another format, or say why it does not fit."""
    text = dumps(machine, to)
    for loss in losses(machine, to):
        print(f"warning: {to}: {loss}", file=sys.stderr)
    if output is None:
        sys.stdout.write(text)
    else:
        write_file(output, text)
