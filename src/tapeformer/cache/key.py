"""Cache keys: a hash of everything an entry depends on, including the package's own source."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Collection, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

from tapeformer.cache.store import Store

PACKAGE = Path(__file__).parent.parent

APART = frozenset(
    {"bench", "cli", "drawing", "explorer", "export", "inference", "laboratory", "learning"}
)
"""Subpackages that no entry depends on: neither the compiler nor an engine may import them."""

SETTLED = 2.0
"""Seconds after which another write surely changes a file's time: file system clocks are coarse."""


def key_for(*parts: str | bytes) -> str:
    """Return the key for these inputs; the source and the Python version are added."""
    found = sha256()
    for part in (source_digest(), sys.version, *parts):
        content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        found.update(len(content).to_bytes(8, "little"))
        found.update(content)
    return found.hexdigest()


@cache
def source_digest(package: Path = PACKAGE) -> str:
    """Return a hash of the source that makes entries, so that none outlives the code that made it.

    It is cached as long as no file's status changes, since reading all files takes 10 ms. A package
    that is not in a folder (a zip file) gets a random digest, so its entries are never found again.
    """
    try:
        files = list(_source_files(str(package), APART))
        status = [os.stat(name) for name in files]
        store, key = Store("source"), _status_digest(files, status)
        known = store.get(key)
        if known is not None:
            return known.decode()
        found = _content_digest(files, package)
    except OSError:
        return os.urandom(32).hex()
    if max(entry.st_ctime for entry in status) < time.time() - SETTLED:
        store.put(key, found.encode())
    return found


def _status_digest(files: list[str], status: list[os.stat_result]) -> str:
    """Return a hash of names and of what every write changes, even if times are set back."""
    columns = (
        (name, one.st_size, one.st_mtime_ns, one.st_ctime_ns, one.st_ino)
        for name, one in zip(files, status, strict=True)
    )
    return sha256(repr(list(columns)).encode("utf-8", "surrogatepass")).hexdigest()


def _content_digest(files: list[str], package: Path) -> str:
    """Return a hash of the files' names within the package and of their content."""
    found = sha256()
    for name in files:
        with open(name, "rb", buffering=0) as file:
            content = file.read()
        found.update(f"{os.path.relpath(name, package)}\n{len(content)}\n".encode())
        found.update(content)
    return found.hexdigest()


def _source_files(folder: str, apart: Collection[str] = ()) -> Iterator[str]:
    """Yield a folder tree's source files, ordered by name, without top-level folders `apart`."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_dir():
                if entry.name != "__pycache__" and entry.name not in apart:
                    yield from _source_files(entry.path)
            elif entry.name.endswith((".py", ".pyc")):
                yield entry.path
