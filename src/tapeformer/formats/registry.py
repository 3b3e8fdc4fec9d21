"""Which format a text has, and reading and writing by name."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from tapeformer.faults import Fault, SourceLocation, TapeformerError, quoted
from tapeformer.formats import (
    busy_beaver,
    jflap,
    morphett,
    native,
    nju,
    turingmachine_io,
    turingmachinesimulator,
)
from tapeformer.formats.reading import Conventions, Source
from tapeformer.machine.record import TuringMachine
from tapeformer.machine.verify import checked

LARGEST_FILE = 4 * 2**20

FORMATS: dict[str, ModuleType] = {
    module.NAME: module
    for module in (
        busy_beaver,
        jflap,
        nju,
        native,
        turingmachine_io,
        turingmachinesimulator,
        morphett,
    )
}
"""In the order in which they are tried on a text: the most telling marks first."""

WRITERS = tuple(name for name, module in FORMATS.items() if hasattr(module, "write"))


def recognise(text: str, source: str = "text") -> str:
    """The name of the format that a text has."""
    for name, module in FORMATS.items():
        if module.recognises(text):
            return name
    if not text.strip():
        remedy = "put a machine in it: docs/formats.md has one in each format"
        raise TapeformerError(Fault("the file is empty", SourceLocation(source), remedy=remedy))
    raise TapeformerError(
        Fault(
            "no known machine format",
            SourceLocation(source),
            expected="one of " + ", ".join(FORMATS),
            remedy="name the format with --format to see what is wrong in it",
        )
    )


def loads(
    text: str,
    source: str = "text",
    format_name: str | None = None,
    conventions: Conventions | None = None,
    stem: str = "machine",
) -> TuringMachine:
    """The machine in a text, checked; all faults are raised at once."""
    asked = conventions or Conventions()
    module = FORMATS[known_format(format_name)] if format_name else FORMATS[recognise(text, source)]
    machine: TuringMachine = module.read(Source(text, source, stem), asked)
    return checked(asked.applied(machine))


def load(
    path: Path | str, format_name: str | None = None, conventions: Conventions | None = None
) -> TuringMachine:
    """The machine in a file."""
    file = Path(path)
    return loads(read_text(file), str(file), format_name, conventions, stem=file.stem)


def dumps(machine: TuringMachine, format_name: str) -> str:
    """The machine in a format that can be written and that can hold it."""
    if format_name not in WRITERS:
        raise TapeformerError(
            Fault(
                f"{quoted(format_name)} cannot be written", expected="one of " + ", ".join(WRITERS)
            )
        )
    text: str = FORMATS[format_name].write(machine)
    return text


def losses(machine: TuringMachine, format_name: str) -> list[str]:
    """What a format does not keep of a machine that it can hold."""
    lost: list[str] = FORMATS[format_name].losses(machine)
    return lost


def read_text(file: Path) -> str:
    """A file's text: UTF-8, or UTF-16 with its mark; never more than the largest file allowed."""
    try:
        with file.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise TapeformerError(_unreadable(file, "there is no such file")) from None
    except OSError as error:
        raise TapeformerError(_unreadable(file, error.strerror or "cannot be read")) from None
    return decoded(data, str(file))


def decoded(data: bytes, source: str) -> str:
    """The text that a file's bytes, or the first ones of too large a file, are."""
    if len(data) > LARGEST_FILE:
        limit = f"at most {LARGEST_FILE // 2**20} MiB"
        raise TapeformerError(
            Fault("the file is too large", SourceLocation(source), expected=limit)
        )
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        remedy = "save it as UTF-8 text"
        fault = Fault("the file is not text", SourceLocation(source, line), "UTF-8", remedy=remedy)
        raise TapeformerError(fault) from None
    if "\0" in text:
        raise TapeformerError(
            Fault("the file is not text", SourceLocation(source), got="NUL characters")
        )
    return text


def _unreadable(file: Path, why: str) -> Fault:
    remedy = "give a file, a name from `tapeformer machines`, or a busy-beaver string"
    return Fault(why, SourceLocation(str(file)), remedy=remedy)


def known_format(format_name: str) -> str:
    """The name itself, if there is such a format."""
    if format_name not in FORMATS:
        expected = "one of " + ", ".join(FORMATS)
        raise TapeformerError(Fault(f"unknown format {quoted(format_name)}", expected=expected))
    return format_name
