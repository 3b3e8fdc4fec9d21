"""From what a user names to a machine: a file, a gallery name, busy-beaver text, standard input."""

from __future__ import annotations

import errno
import logging
import sys
from pathlib import Path
from typing import BinaryIO, TextIO

from tapeformer.faults import Fault, TapeformerError, did_you_mean, quoted
from tapeformer.formats.reading import Conventions
from tapeformer.formats.registry import (
    LARGEST_FILE,
    decoded,
    format_module,
    known_format,
    load,
    loads,
)
from tapeformer.gallery import gallery_machine, gallery_names
from tapeformer.machine.record import TuringMachine

MOST_WARNINGS = 10
BUSY_BEAVER = "busy-beaver"

log = logging.getLogger("tapeformer")


def find_machine(
    given: str,
    format_name: str | None = None,
    conventions: Conventions | None = None,
) -> TuringMachine:
    """Find a machine by a file, a gallery name, a busy-beaver string or `-`; warnings are logged."""
    machine = machine_named(given, format_name, conventions)
    for fault in machine.faults[:MOST_WARNINGS]:
        log.warning("%s", fault)
    return machine


def machine_named(
    given: str,
    format_name: str | None = None,
    conventions: Conventions | None = None,
) -> TuringMachine:
    """Find the same without a word about its warnings: a file of machines may have thousands."""
    if format_name is not None:
        known_format(format_name)
    if given == "-":
        return loads(_standard_input(), "standard input", format_name, conventions)
    if not _is_file(given):
        if given in gallery_names():
            return gallery_machine(given, conventions)
        if format_name == BUSY_BEAVER or format_module(BUSY_BEAVER).recognises(given):
            return loads(given, "MACHINE", BUSY_BEAVER, conventions)
        if not Path(given).suffix and "/" not in given:
            raise TapeformerError(_unknown(given))
    return load(given, format_name, conventions)


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
    hint = did_you_mean(given, gallery_names())
    return Fault(
        f"no machine {quoted(given)}: not a file, not in the gallery, not a busy-beaver string",
        remedy=f"{hint} `tapeformer machines` lists the gallery".strip(),
    )
