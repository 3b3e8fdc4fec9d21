"""Recognise the format of a text, and read and write machines by the name of a format."""

from __future__ import annotations

import os
from collections.abc import Collection
from importlib import import_module
from pathlib import Path
from types import ModuleType

from tapeformer.faults import (
    Fault,
    SourceLocation,
    TapeformerError,
    described,
    did_you_mean,
    quoted,
)
from tapeformer.formats.conventions import Conventions
from tapeformer.machine.record import TuringMachine
from tapeformer.machine.verify import checked

LARGEST_FILE = 4 * 2**20

MODULES = {
    "busy-beaver": "busy_beaver",
    "jflap": "jflap",
    "nju": "nju",
    "tapeformer": "tapeformer_yaml",
    "turingmachine.io": "turingmachine_io",
    "turingmachinesimulator": "turingmachinesimulator",
    "morphett": "morphett",
}
"""The module of each format, imported when it is used, in the order in which formats are tried on a
text: those that are easiest to tell apart first."""

FORMATS = tuple(MODULES)

OWN_FORMAT = "tapeformer"
"""The format that holds every machine without loss."""

WRITERS = ("busy-beaver", "jflap", "tapeformer", "turingmachine.io", "morphett")
"""Formats that can be written."""


def format_module(name: str) -> ModuleType:
    """Return the module that reads, and perhaps writes, a format."""
    return import_module(f"tapeformer.formats.{MODULES[name]}")


def recognise(text: str, source: str = "text") -> str:
    """Return the name of the format that a text has."""
    for name in FORMATS:
        if format_module(name).recognises(text):
            return name
    location = SourceLocation(source)
    if not text.strip():
        remedy = "put a machine in it: docs/formats.md has one in each format"
        raise TapeformerError(Fault("the file is empty", location, remedy=remedy))
    lists = format_module("busy-beaver")
    if lists.is_list(text):
        raise TapeformerError(Fault(lists.LIST, location, remedy=lists.LIST_REMEDY))
    remedy = "give format_name=NAME to see what is wrong in it"
    if "\n" not in text.strip():
        remedy += "; for a file use tf.load, for a gallery name tf.gallery_machine"
    raise TapeformerError(
        Fault("no known machine format", location, "one of " + ", ".join(FORMATS), "", remedy)
    )


def loads(
    text: str,
    source: str = "text",
    format_name: str | None = None,
    conventions: Conventions | None = None,
    stem: str = "machine",
) -> TuringMachine:
    """Read the machine in a text and check it; raise all faults at once."""
    if not isinstance(text, str):
        remedy = "pass the text of a machine; for a file use tf.load"
        raise TapeformerError(Fault("not a text", None, "a str", described(text), remedy))
    from tapeformer.formats.reading import Source

    asked = _checked_conventions(conventions)
    name = recognise(text, source) if format_name is None else known_format(format_name)
    machine: TuringMachine = format_module(name).read(Source(text, source, stem), asked)
    return checked(asked.applied(machine))


def load(
    path: Path | str, format_name: str | None = None, conventions: Conventions | None = None
) -> TuringMachine:
    """Read the machine in a file and check it; raise all faults at once."""
    if not isinstance(path, str | os.PathLike):
        remedy = "pass the path of a file; for a text use tf.loads"
        raise TapeformerError(
            Fault("not a path", None, "a str or pathlib.Path", described(path), remedy)
        )
    file = Path(path)
    return loads(read_text(file), str(file), format_name, conventions, stem=file.stem)


def _checked_conventions(conventions: Conventions | None) -> Conventions:
    if conventions is None:
        return Conventions()
    if not isinstance(conventions, Conventions):
        remedy = "pass tf.Conventions(...), or leave it out"
        what, got = "bad `conventions`", described(conventions)
        raise TapeformerError(Fault(what, None, "a tf.Conventions", got, remedy))
    return conventions


def dumps(machine: TuringMachine, format_name: str = OWN_FORMAT) -> str:
    """Return a machine as text, in a format that can be written and that can hold it."""
    known_format(format_name, WRITERS, "no writer for the format")
    text: str = format_module(format_name).write(checked(machine))
    return text


def losses(machine: TuringMachine, format_name: str) -> list[str]:
    """Return what a format loses of a machine that it can hold."""
    known_format(format_name, WRITERS, "no writer for the format")
    lost: list[str] = format_module(format_name).losses(checked(machine))
    return lost


def read_text(file: Path) -> str:
    """Return the text of a file: UTF-8, or UTF-16 with a byte-order mark, of limited size."""
    try:
        with file.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise TapeformerError(_unreadable(file, "there is no such file")) from None
    except OSError as error:
        raise TapeformerError(_unreadable(file, error.strerror or "cannot be read")) from None
    except ValueError:
        raise TapeformerError(_unreadable(file, "not a file name")) from None
    return decoded(data, str(file))


def decoded(data: bytes, source: str) -> str:
    """Return the text of a file's bytes; raise if it is too large or not text."""
    location = SourceLocation(source)
    if len(data) > LARGEST_FILE:
        limit = f"at most {LARGEST_FILE // 2**20} MiB"
        raise TapeformerError(Fault("the file is too large", location, expected=limit))
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        remedy = "save it as UTF-8 text"
        fault = Fault("the file is not text", SourceLocation(source, line), "UTF-8", remedy=remedy)
        raise TapeformerError(fault) from None
    if "\0" in text:
        raise TapeformerError(Fault("the file is not text", location, got="NUL characters"))
    return text


def _unreadable(file: Path, why: str) -> Fault:
    names = "a file, a name from `tapeformer machines`, or a busy-beaver string"
    remedy = f"give {names}; where a model will do, also the folder of a bundle"
    return Fault(why, SourceLocation(str(file)), remedy=remedy)


def known_format(
    format_name: str, names: Collection[str] = FORMATS, problem: str = "unknown format"
) -> str:
    """Return a format's name if it is one of `names`; otherwise raise, with the nearest names."""
    expected = "one of " + ", ".join(names)
    if not isinstance(format_name, str):
        got = described(format_name)
        raise TapeformerError(Fault("bad `format_name`", None, expected, got, "pass a str"))
    if format_name not in names:
        what, nearest = f"{problem} {quoted(format_name)}", did_you_mean(format_name, names)
        raise TapeformerError(Fault(what, None, expected, remedy=nearest))
    return format_name
