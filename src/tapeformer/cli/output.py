"""Printing: JSON alone on standard output, or tables for a person."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from tapeformer.faults import Fault, Place, TapeformerError


def print_json(record: dict[str, Any]) -> None:
    """One JSON object on standard output."""
    json.dump(record, sys.stdout, ensure_ascii=False, indent=1)
    sys.stdout.write("\n")


def print_table(*tables: Any) -> None:
    """Tables for a person, as wide as they need to be where output is no terminal."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else int(os.environ.get("COLUMNS", "120"))
    console = Console(width=width, highlight=False)
    for table in tables:
        console.print(table)


def write_file(path: Path, text: str) -> None:
    """Writes a text file whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        why = f"cannot be written: {error.strerror or error}"
        raise TapeformerError(Fault(why, Place(str(path)), remedy="choose another file")) from None
