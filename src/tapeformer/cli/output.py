"""Printing: JSON alone on standard output, or tables for a person."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

from tapeformer.faults import Fault, SourceLocation, TapeformerError

PAGE_WIDTH = 120


def print_json(record: dict[str, Any]) -> None:
    """One JSON object on standard output."""
    json.dump(record, sys.stdout, ensure_ascii=False, indent=1)
    sys.stdout.write("\n")


def print_table(*tables: Any) -> None:
    """Tables for a person, as wide as they need to be where output is no terminal."""
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else PAGE_WIDTH, highlight=False)
    for table in tables:
        console.print(table)


@contextmanager
def opened(path: Path) -> Iterator[IO[str]]:
    """A text file to write: it takes its place when all is written, and not before."""
    partial = None
    try:
        with NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
            partial = Path(file.name)
            yield file
        partial.chmod(0o644)
        partial.replace(path)
    except OSError as error:
        why = f"cannot be written: {error.strerror or error}"
        raise TapeformerError(
            Fault(why, SourceLocation(str(path)), remedy="choose another file")
        ) from None
    finally:
        if partial is not None:
            partial.unlink(missing_ok=True)


def write_file(path: Path, text: str) -> None:
    """Writes a text file whole or not at all."""
    with opened(path) as file:
        file.write(text)
