"""Entries of the cache: bytes under a key, each with a checksum, bounded in number and total size.

An entry that is truncated, too large, damaged or under the wrong name counts as missing. A cache
that cannot be used counts as empty: its errors never reach the caller.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Literal

from tapeformer.cache.folder import (
    UntrustedError,
    opened_folder,
    read_file,
    user_folder,
    warn_once,
    write_file,
)
from tapeformer.dataclass import dataclass

Kind = Literal["code", "kernel", "machine", "model", "source"]
MAGIC = b"tapeformer cache 1\n"
HEAD = len(MAGIC) + 32
"""Bytes before an entry's content: a magic string and a SHA-256."""

PARTIAL = ".partial"
STALE = 600.0
"""Seconds after which an unrenamed file was left by a writer that was killed."""


@dataclass(frozen=True)
class CacheLimits:
    """Limits on the bytes of one entry, and on the bytes and entries of the whole folder."""

    entry: int = 128 << 20
    total: int = 1 << 30
    entries: int = 2048


@dataclass(frozen=True)
class Store:
    """The entries of one kind; all kinds share a folder, its limits and its checks.

    `folder` defaults to the user's cache folder.
    """

    kind: Kind
    folder: Path | None = None
    limits: CacheLimits = CacheLimits()

    def get(self, key: str) -> bytes | None:
        """Return what is stored under a key and mark it as used; None if missing or damaged."""
        folder, name = self._folder(), self._name(key)
        if folder is not None:
            with _unless_it_fails(folder), opened_folder(folder) as descriptor:
                found = read_file(descriptor, folder / name, HEAD + self.limits.entry)
                return _content(name, found)
        return None

    def put(self, key: str, content: bytes) -> None:
        """Store content under a key, unless it is too large; evict what was unused longest."""
        folder, name = self._folder(), self._name(key)
        if folder is not None and len(content) <= self.limits.entry:
            with _unless_it_fails(folder), opened_folder(folder, create=True) as descriptor:
                partial = f"{os.urandom(8).hex()}{PARTIAL}"
                write_file(descriptor, name, partial, _head(name, content) + content)
                _remove_unused(descriptor, self.limits)

    def check(self) -> None:
        """Warn now if the folder must not be used, before worker processes each warn about it."""
        folder = self._folder()
        if folder is not None:
            with _unless_it_fails(folder), opened_folder(folder):
                pass

    def _folder(self) -> Path | None:
        return user_folder() if self.folder is None else self.folder

    def _name(self, key: str) -> str:
        if not re.fullmatch(r"[0-9A-Za-z_-]+", key):
            raise ValueError(f"{key!r} cannot be part of a file's name")
        return f"{key}.{self.kind}"


@contextmanager
def _unless_it_fails(folder: Path) -> Iterator[None]:
    """Continue without the cache if it cannot be used, and warn if it must not be."""
    try:
        yield
    except UntrustedError as refusal:
        warn_once(folder, str(refusal))
    except OSError:
        pass


def _head(name: str, content: bytes) -> bytes:
    """Return the header of an entry: it depends on the name, so a renamed file is invalid."""
    return MAGIC + sha256(name.encode() + b"\n" + content).digest()


def _content(name: str, found: bytes) -> bytes | None:
    """Return the content of an entry's file; None unless its header is valid for the name."""
    content = found[HEAD:]
    return content if found[:HEAD] == _head(name, content) else None


def _remove_unused(folder: int, limits: CacheLimits) -> None:
    """Remove what killed writers left, and the least recently used entries beyond the limits."""
    total, entries = 0, 0
    for used, size, name in sorted(_files(folder), reverse=True):
        if name.endswith(PARTIAL):
            surplus = time.time() - used > STALE
        else:
            total, entries = total + size, entries + 1
            surplus = total > limits.total or entries > limits.entries
        if surplus:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)


def _files(folder: int) -> list[tuple[float, int, str]]:
    """Return each regular file's last use, size and name."""
    found = []
    for name in os.listdir(folder):
        with suppress(FileNotFoundError):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                found.append((status.st_mtime, status.st_size, name))
    return found
