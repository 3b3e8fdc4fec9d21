"""The commands, and what happens to errors: one message each, never a traceback."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tapeformer.cli import convert, machines, show, simulate
from tapeformer.cli.exits import BAD_INPUT, INTERRUPTED
from tapeformer.faults import TapeformerError

app = typer.Typer(
    name="tapeformer",
    help="Turing machines in, exact Transformers out: read, check, show, convert and run machines.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (machines.machines, show.show, convert.convert, simulate.simulate):
    app.command()(command)


def _version(wanted: bool) -> None:
    if wanted:
        from tapeformer import __version__

        print(f"tapeformer {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Turing machines in, exact Transformers out: read, check, show, convert and run machines."""


def main() -> None:
    """Runs the command line; bad input of any kind ends with status 2 and says what to do."""
    try:
        app()
    except TapeformerError as error:
        print(error, file=sys.stderr)
        sys.exit(BAD_INPUT)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
