"""Arguments and options that several commands have, each defined once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from tapeformer.dataclass import dataclass
from tapeformer.faults import Fault, TapeformerError
from tapeformer.formats.conventions import Conventions
from tapeformer.machine.record import AcceptOn, TapeKind, TuringMachine
from tapeformer.sources import find_machine

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
FileInput = Annotated[
    bool, _option("--file-input", text="Use the input that stands in the machine's file.")
]
Json = Annotated[bool, _option("--json", text="Print one JSON object and nothing else.")]
Cluster = Annotated[
    str | None,
    _option("--cluster", text="Have the work done by the workers of this Dask scheduler."),
]
Jobs = Annotated[
    int | None,
    _option("--jobs", min=1, text="Local processes for a batch.", show_default="one for each core"),
]
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


def provides(**makers: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replace parameters of a command by the arguments and options of what makes them.

    So an option is defined once, and a command is given, say, a machine instead of eight options.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        parts = {name: _parameters(maker) for name, maker in makers.items()}
        own = _parameters(command, but=tuple(makers))

        @functools.wraps(command)
        def wrapper(**given: Any) -> Any:
            made = {
                name: makers[name](**{p.name: given.pop(p.name) for p in part})
                for name, part in parts.items()
            }
            return command(**made, **given)

        added = [p for part in parts.values() for p in part]
        _sign(wrapper, sorted([*added, *own], key=lambda p: p.default is not p.empty))
        return wrapper

    return decorate


def _parameters(function: Callable[..., Any], but: tuple[str, ...] = ()) -> list[inspect.Parameter]:
    """Return parameters with their annotations evaluated, but for some by name."""
    names = inspect.unwrap(function).__globals__
    return [
        p.replace(annotation=eval(p.annotation, names)) if isinstance(p.annotation, str) else p
        for p in inspect.signature(function).parameters.values()
        if p.name not in but
    ]


def _sign(wrapper: Callable[..., Any], parameters: list[inspect.Parameter]) -> None:
    """Give a function the parameters that the command line is made from."""
    named = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    wrapper.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in named}


@dataclass(frozen=True)
class Reading:
    """How a machine's file is to be read."""

    format_name: str | None
    conventions: Conventions


def reading(
    format_name: Format = None,
    accept_on: AcceptOnOption = None,
    wildcard_blank: WildcardBlank = None,
    tape_kind: TapeKindOption = None,
    accepting: Accepting = None,
    rejecting: Rejecting = None,
    symbols: Symbols = "",
) -> Reading:
    """From the options on reading."""
    asked = Conventions(
        accept_on=accept_on,
        wildcard_matches_blank=wildcard_blank,
        tape_kind=tape_kind,
        accepting=tuple(accepting) if accepting else None,
        rejecting=tuple(rejecting) if rejecting else None,
        symbols=tuple(symbols.split()),
    )
    return Reading(format_name, asked)


@provides(asked=reading)
def read_machine(machine: Machine, asked: Reading) -> TuringMachine:
    """Return the machine that MACHINE names."""
    return find_machine(machine, asked.format_name, asked.conventions)


takes_machine = provides(machine=read_machine)
"""For commands whose parameter `machine` is a Turing machine."""


def word_of_file(machine: TuringMachine, text: str) -> tuple[str, ...]:
    """Return the input that the machine's file states, for `--file-input`; INPUT must be left out."""
    if text or machine.default_word is None:
        what = "two inputs: INPUT and --file-input" if text else "the file states no usable input"
        raise TapeformerError(
            Fault(what, machine.location, remedy="give INPUT without --file-input")
        )
    return machine.default_word
