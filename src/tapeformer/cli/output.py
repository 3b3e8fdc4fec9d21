"""Print JSON or tables on standard output, and write files whole or not at all."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tapeformer.faults import Fault, SourceLocation, TapeformerError

PAGE_WIDTH = 120


def print_json(record: dict[str, Any]) -> None:
    """Print one JSON object on standard output."""
    json.dump(record, sys.stdout, ensure_ascii=False, indent=1)
    sys.stdout.write("\n")


def print_table(*tables: Any) -> None:
    """Print tables for a person; where output is not a terminal, of a fixed width."""
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else PAGE_WIDTH, highlight=False)
    for table in tables:
        console.print(table)


@contextmanager
def opened(path: Path) -> Iterator[IO[str]]:
    """Open a text file that gets its name only when all is written.

    Only a regular file is replaced. A link is followed, so that the file it leads to is replaced
    and the link stays. A broken pipe is that of standard output.
    """
    from tempfile import NamedTemporaryFile

    target = _replaceable(path)
    partial = None
    try:
        with NamedTemporaryFile("w", dir=target.parent, delete=False, encoding="utf-8") as file:
            partial = Path(file.name)
            yield file
        partial.chmod(0o644)
        partial.replace(target)
    except BrokenPipeError:
        raise
    except OSError as error:
        why = f"cannot be written: {error.strerror or error}"
        raise TapeformerError(
            Fault(why, SourceLocation(str(path)), remedy="choose another file")
        ) from None
    finally:
        if partial is not None:
            partial.unlink(missing_ok=True)


def _replaceable(path: Path) -> Path:
    """Return the file that a path leads to; raise if it is a directory, a pipe or a device."""
    try:
        target = path.resolve()
        mode = target.stat().st_mode
    except FileNotFoundError:
        return target
    except (OSError, RuntimeError, ValueError) as error:
        why = f"cannot be written: {error}"
        raise TapeformerError(Fault(why, SourceLocation(str(path)))) from None
    if not stat.S_ISREG(mode):
        why = f"cannot be replaced: {_kind(mode)}, not a regular file"
        remedy = "choose another file"
        raise TapeformerError(Fault(why, SourceLocation(str(path)), remedy=remedy))
    return target


def _kind(mode: int) -> str:
    kinds = {stat.S_ISDIR: "a directory", stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket"}
    named = (name for is_kind, name in kinds.items() if is_kind(mode))
    return next(named, "a device")


def write_file(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    with opened(path) as file:
        file.write(text)
