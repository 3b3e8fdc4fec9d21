"""Writing a folder or a file at once or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_at_once(path: Path) -> Iterator[Path]:
    """Give a folder to write into, which gets its name when all is written; a failure leaves nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        yield partial
        partial.chmod(0o755)
        _put_in_place(partial, path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def file_written_at_once(path: Path) -> Iterator[Path]:
    """Give a file to write, which gets its name when all is written; a failure leaves nothing."""
    partial = path.with_name(f".{os.getpid()}.{path.name[-50:]}")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_text_at_once(path: Path, text: str) -> None:
    """Write a text file; another process reads the old text or the new one."""
    with file_written_at_once(path) as partial:
        partial.write_text(text, encoding="utf-8")


def _put_in_place(partial: Path, folder: Path) -> None:
    """Rename the finished folder; an old one is renamed first and then removed."""
    if not folder.exists() or not any(folder.iterdir()):
        partial.rename(folder)
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.old.", dir=folder.parent))
    folder.rename(aside)
    try:
        partial.rename(folder)
    except OSError:
        aside.rename(folder)
        raise
    shutil.rmtree(aside, ignore_errors=True)
