"""Arguments and options that several commands have, each defined once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from tapeformer.cli.sources import find_machine
from tapeformer.formats.reading import Conventions
from tapeformer.machine.record import AcceptOn, TapeKind, TuringMachine

MACHINE_HELP = "A gallery name, a file in any supported format (- for standard input), or a busy-beaver string."


def _option(*names: str, text: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, **more)


Machine = Annotated[str, typer.Argument(metavar="MACHINE", help=MACHINE_HELP, show_default=False)]
Word = Annotated[
    str,
    typer.Argument(
        metavar="[INPUT]",
        help="The word on tape 1, one character per symbol; the empty word if left out. "
        "Write -- before a word that starts with a dash.",
        show_default=False,
    ),
]
Spaced = Annotated[bool, _option("--spaced", text="INPUT is symbols separated by spaces.")]
Json = Annotated[bool, _option("--json", text="Print one JSON object and nothing else.")]
Everything = Annotated[bool, _option("--all", text="Show everything, however long.")]
Format = Annotated[
    str | None,
    _option("--format", text="The format of the file, instead of what its content looks like."),
]
AcceptOnOption = Annotated[
    AcceptOn | None,
    _option("--accept-on", text="Accept on entering an accepting state, or on halting in one."),
]
WildcardBlank = Annotated[
    bool | None,
    _option(
        "--wildcard-blank/--no-wildcard-blank",
        text="Whether a wildcard matches the blank, instead of the format's own convention.",
        show_default=False,
    ),
]
TapeKindOption = Annotated[
    TapeKind | None,
    _option("--tape-kind", text="Tapes bounded on the left, or infinite both ways."),
]
Accepting = Annotated[
    list[str] | None,
    _option("--accept", text="An accepting state (repeatable), instead of the file's."),
]
Rejecting = Annotated[
    list[str] | None,
    _option("--reject", text="A rejecting state (repeatable), instead of the file's."),
]
Symbols = Annotated[
    str, _option("--symbols", text="More symbols, separated by spaces, that only wildcards read.")
]


def takes_machine(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the MACHINE argument and all options on how to read it.

    The command itself only takes the machine that was read, as its first parameter.
    """
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    reading = list(inspect.signature(_read_machine, eval_str=True).parameters.values())

    @functools.wraps(command)
    def wrapper(**given: Any) -> None:
        command(_read_machine(**{p.name: given.pop(p.name) for p in reading}), **given)

    parameters = [
        p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in (reading[0], *own, *reading[1:])
    ]
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in parameters}
    return wrapper


def _read_machine(
    machine: Machine,
    format_name: Format = None,
    accept_on: AcceptOnOption = None,
    wildcard_blank: WildcardBlank = None,
    tape_kind: TapeKindOption = None,
    accepting: Accepting = None,
    rejecting: Rejecting = None,
    symbols: Symbols = "",
) -> TuringMachine:
    asked = Conventions(
        accept_on=accept_on,
        wildcard_matches_blank=wildcard_blank,
        tape_kind=tape_kind,
        accepting=tuple(accepting) if accepting else None,
        rejecting=tuple(rejecting) if rejecting else None,
        symbols=tuple(symbols.split()),
    )
    return find_machine(machine, format_name, asked)
