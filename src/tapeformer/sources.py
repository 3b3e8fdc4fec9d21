"""From what a user names to a machine: a file, a gallery name, busy-beaver text, standard input."""

from __future__ import annotations

import errno
import logging
import sys
from pathlib import Path
from typing import BinaryIO, TextIO

from tapeformer.cache.key import key_for
from tapeformer.cache.objects import get_object, put_object
from tapeformer.cache.store import Store
from tapeformer.dataclass import dataclass
from tapeformer.faults import Fault, TapeformerError, did_you_mean, quoted
from tapeformer.formats.conventions import Conventions
from tapeformer.formats.registry import (
    LARGEST_FILE,
    OWN_FORMAT,
    decoded,
    format_module,
    known_format,
    loads,
    read_text,
)
from tapeformer.gallery import gallery_names, gallery_source, gallery_text
from tapeformer.machine.record import TuringMachine

MOST_WARNINGS = 10
BUSY_BEAVER = "busy-beaver"

log = logging.getLogger("tapeformer")


@dataclass(frozen=True)
class MachineText:
    """A text that has a machine, what it is called in messages, its format and the machine's name."""

    text: str
    source: str
    format_name: str | None
    stem: str = "machine"


def find_machine(
    given: str,
    format_name: str | None = None,
    conventions: Conventions | None = None,
) -> TuringMachine:
    """Find a machine by a file, a gallery name, a busy-beaver string or `-`; warnings are logged."""
    machine = _remembered(_text_of(given, format_name), conventions)
    for fault in machine.faults[:MOST_WARNINGS]:
        log.warning("%s", fault)
    return machine


def machine_named(
    given: str,
    format_name: str | None = None,
    conventions: Conventions | None = None,
) -> TuringMachine:
    """Find the same without a word about its warnings: a file of machines may have thousands."""
    return _read(_text_of(given, format_name), conventions)


def _text_of(given: str, format_name: str | None) -> MachineText:
    """Return the text that is meant."""
    if format_name is not None:
        known_format(format_name)
    if given == "-":
        return MachineText(_standard_input(), "standard input", format_name)
    if not _is_file(given):
        if given in gallery_names():
            return MachineText(gallery_text(given), gallery_source(given), OWN_FORMAT, given)
        if format_name == BUSY_BEAVER or format_module(BUSY_BEAVER).recognises(given):
            return MachineText(given, "MACHINE", BUSY_BEAVER)
        if not Path(given).suffix and "/" not in given:
            raise TapeformerError(_unknown(given))
    return MachineText(read_text(Path(given)), str(Path(given)), format_name, Path(given).stem)


def _read(found: MachineText, conventions: Conventions | None) -> TuringMachine:
    return loads(found.text, found.source, found.format_name, conventions, found.stem)


def _remembered(found: MachineText, conventions: Conventions | None) -> TuringMachine:
    """Return a machine from the cache, or read it now and keep it; busy-beaver text is read as soon."""
    if found.format_name == BUSY_BEAVER:
        return _read(found, conventions)
    store, key = Store("machine"), key_for(repr(found), repr(conventions))
    machine = get_object(store, key, TuringMachine)
    if machine is None:
        machine = _read(found, conventions)
        put_object(store, key, machine)
    return machine


def _is_file(given: str) -> bool:
    try:
        return Path(given).is_file()
    except (OSError, ValueError):
        return False


def _standard_input() -> str:
    try:
        return decoded(standard_stream().read(LARGEST_FILE + 1), "standard input")
    except OSError as error:
        why = f"the machine cannot be read: {error.strerror or error}"
        raise TapeformerError(Fault(why, remedy="give a file, or a name of the gallery")) from None


def standard_stream() -> BinaryIO:
    """Return what comes in; raise OSError if standard input is closed (`<&-`)."""
    stream: TextIO | None = sys.stdin
    if stream is None:
        raise OSError(errno.EBADF, "standard input is closed")
    return stream.buffer


def _unknown(given: str) -> Fault:
    if found := format_module(BUSY_BEAVER).slip(given):
        what = f"{quoted(given)} is not quite busy-beaver text"
        remedy = "a cell is a symbol, L or R, and a state; rows of equal length are joined by _"
        return Fault(what, None, "cells such as 1RB", found, remedy)
    if not given.strip():
        return Fault(
            "no machine was named", remedy="give a gallery name, a file or busy-beaver text"
        )
    hint = did_you_mean(given, gallery_names())
    return Fault(
        f"no machine {quoted(given)}: not a file, not in the gallery, not a busy-beaver string",
        remedy=f"{hint} `tapeformer machines` lists the gallery".strip(),
    )
