"""Keys of the cache: a hash of all that an entry depends on, the package's own source included."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

PACKAGE = Path(__file__).parent.parent

APART = frozenset(
    {"bench", "cli", "drawing", "explorer", "export", "inference", "laboratory", "learning"}
)
"""Parts on which no entry depends: neither the compiler nor an engine may import them."""


def key_for(*parts: str | bytes) -> str:
    """Return a key for parts that stand for all inputs; the source and Python are added."""
    found = sha256()
    for part in (source_digest(), sys.version, *parts):
        content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        found.update(len(content).to_bytes(8, "little"))
        found.update(content)
    return found.hexdigest()


@cache
def source_digest(package: Path = PACKAGE) -> str:
    """Return a hash of the source that makes entries, so that none outlives the code that made it.

    Files are read, which takes 5 to 10 ms: times and sizes would take 1 ms, but an installer may give all
    files the same time. A package that is not in a folder (a zip file) gets a random digest: its
    entries are never found again.
    """
    found = sha256()
    try:
        for name in _source_files(str(package), APART):
            with open(name, "rb", buffering=0) as file:
                content = file.read()
            found.update(f"{os.path.relpath(name, package)}\n{len(content)}\n".encode())
            found.update(content)
    except OSError:
        return os.urandom(32).hex()
    return found.hexdigest()


def _source_files(folder: str, apart: Collection[str] = ()) -> Iterator[str]:
    """List the files of a folder and of those below it, but for some, in the order of their names."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_dir():
                if entry.name != "__pycache__" and entry.name not in apart:
                    yield from _source_files(entry.path)
            elif entry.name.endswith((".py", ".pyc")):
                yield entry.path
