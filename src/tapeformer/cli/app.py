"""The commands, and what happens to errors: one message each, never a traceback."""

from __future__ import annotations

import os
import signal
import sys
from typing import Annotated

import typer

from tapeformer.cli import (
    bench,
    compile,
    convert,
    info,
    machines,
    queue,
    run,
    show,
    simulate,
    verify,
)
from tapeformer.cli.exits import BAD_INPUT, INTERRUPTED, OF_OUTCOME
from tapeformer.faults import TapeformerError
from tapeformer.simulator.result import Outcome

app = typer.Typer(
    name="tapeformer",
    help="Turing machines in, exact Transformers out: read, check, show, convert, compile and run machines.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    *(machines.machines, show.show, convert.convert, simulate.simulate),
    *(compile.compile, run.run, verify.verify, info.info, queue.queue),
):
    app.command()(command)
app.add_typer(bench.bench)


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
    """Turing machines in, exact Transformers out: read, check, show, convert, compile and run machines."""


def _die_with_a_closed_pipe() -> None:
    """As other tools do when their reader goes away: silently, by the signal."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def main() -> None:
    """Runs the command line; bad input of any kind ends with status 2 and says what to do."""
    _die_with_a_closed_pipe()
    try:
        app()
        sys.stdout.flush()
    except TapeformerError as error:
        print(error, file=sys.stderr)
        sys.exit(BAD_INPUT)
    except MemoryError:
        print("error: out of memory; give a smaller --max-cells or --space", file=sys.stderr)
        sys.exit(OF_OUTCOME[Outcome.OUT_OF_SPACE])
    except (OSError, AttributeError) as error:
        if isinstance(error, AttributeError) and sys.stdout is not None:
            raise
        print(f"error: standard output cannot be written: {error}", file=sys.stderr)
        os._exit(BAD_INPUT)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
