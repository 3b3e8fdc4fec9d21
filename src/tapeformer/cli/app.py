"""The commands, and what happens to errors: one message each, never a traceback."""

from __future__ import annotations

import errno
import logging
import os
import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tapeformer.cli.exits import BAD_INPUT, CLOSED_PIPE, INTERRUPTED, OF_OUTCOME
from tapeformer.faults import TapeformerError, quoted
from tapeformer.simulator.outcome import Outcome

COMMANDS = (
    *("machines", "show", "convert", "simulate", "compile", "run", "verify", "info", "queue"),
    *("export", "dataset", "learn", "table1", "explore", "bench"),
)
"""Each is the function of its name in the module of its name."""

WRITE_ERRORS = (errno.ENOSPC, errno.EIO, errno.EBADF, errno.EPIPE, errno.EFBIG, errno.EDQUOT)
"""What a write to standard output can fail with."""


class LazyCommands(TyperGroup):
    """Imports a command when it is used: loading all of them takes longer than most runs."""

    def list_commands(self, _ctx: Any) -> list[str]:
        """List the commands in the order of a user's way."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name."""
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        found = getattr(import_module(f"tapeformer.cli.{cmd_name}"), cmd_name)
        if not isinstance(found, typer.Typer):
            function, found = found, typer.Typer(add_completion=False, rich_markup_mode=None)
            found.command(cmd_name, context_settings=HELP)(function)
        return typer.main.get_command(found)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command; one that does not exist is answered with the nearest."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from tapeformer.faults import did_you_mean

            near = did_you_mean(args[0], COMMANDS).replace("did", "Did", 1)
            ctx.fail(f"No such command {args[0]!r}. {near}".rstrip())
        return super().resolve_command(ctx, args)


HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

app = typer.Typer(
    name="tapeformer",
    cls=LazyCommands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=HELP,
)


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


class Notes(logging.Handler):
    """Writes what the library logs to standard error, one line each."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; faults and cache warnings say themselves how bad they are."""
        from tapeformer.cli.wording import in_options

        text = in_options(record.getMessage())
        print(text if record.levelno > logging.INFO else f"note: {text}", file=sys.stderr)


def _run() -> None:
    """Run a command and write out what it has printed; a reader that is gone is a BrokenPipeError."""
    try:
        app()
    except SystemExit as ending:
        if isinstance(ending.__context__, BrokenPipeError):
            raise ending.__context__ from None
        sys.stdout.flush()
        raise
    sys.stdout.flush()


def _end_if_unread() -> None:
    """End without a word where standard output or error is a pipe that nobody reads any more."""
    import select

    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is not None and hasattr(select, "poll"):
            pipe = select.poll()
            pipe.register(stream.fileno(), 0)
            if any(event & select.POLLERR for _, event in pipe.poll(0)):
                os._exit(CLOSED_PIPE)


def _told() -> None:
    """Run a command and say in one message what is wrong with what it was given."""
    try:
        _run()
    except TapeformerError as error:
        from tapeformer.cli.wording import for_command_line

        print(for_command_line(error), file=sys.stderr)
        sys.exit(BAD_INPUT)
    except MemoryError:
        print("error: out of memory; give a smaller --max-cells or --space", file=sys.stderr)
        sys.exit(OF_OUTCOME[Outcome.OUT_OF_SPACE])
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


def main() -> None:
    """Run the command line; bad input of any kind ends with status 2 and says what to do."""
    if sys.stdout is None:
        print("error: standard output is closed", file=sys.stderr)
        sys.exit(BAD_INPUT)
    log = logging.getLogger("tapeformer")
    log.addHandler(Notes())
    log.setLevel(logging.INFO)
    try:
        _told()
    except OSError as error:
        _end_if_unread()
        print(f"error: {_explained(error)}", file=sys.stderr)
        os._exit(BAD_INPUT)


def _explained(error: OSError) -> str:
    """Say what could not be read or written; of what has no name, standard output is written."""
    if not isinstance(error.filename, str):
        if error.errno in WRITE_ERRORS:
            return f"standard output cannot be written: {error}"
        return f"the system refuses: {error}; close other programs, or raise its limits (ulimit)"
    return f"{error.strerror}: {quoted(error.filename)}; give another name, or check who may use it"
