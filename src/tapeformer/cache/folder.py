"""The user's cache folder, opened so that nothing another user has put there is ever read.

Machine code from this folder is executed, so the folder and every file must be owned by the user
and writable by nobody else. Both are checked on the open descriptor, and files are opened relative
to it, so replacing a path between check and use changes nothing. Links are not followed. A refusal
is logged in one line, and the run continues without the cache.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
"""The group bit also covers users who may write by an access control list."""

_warned: set[Path] = set()
"""Folders already warned about: one line each is enough."""


def _flags(*names: str) -> int:
    """Combine flags of `os.open` by name; a system that lacks them gets no cache (`user_folder`)."""
    return sum(getattr(os, name, 0) for name in (*names, "O_NOFOLLOW", "O_CLOEXEC"))


READ_FILE = _flags("O_RDONLY", "O_NONBLOCK")
"""Non-blocking, because opening a FIFO would wait for a writer."""

READ_FOLDER = _flags("O_RDONLY", "O_DIRECTORY")
NEW_FILE = _flags("O_WRONLY", "O_CREAT", "O_EXCL")


class UntrustedError(Exception):
    """Raised for a folder or file that another user may have written."""


def user_folder() -> Path | None:
    """Return the user's cache folder; None if there can be none."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.open not in os.supports_dir_fd:
        return None
    if base and not os.path.isabs(base):
        warn_once(Path(base), f"XDG_CACHE_HOME is {base!r}, which is not an absolute path")
        return None
    with suppress(RuntimeError):
        folder = (Path(base) if base else Path.home() / ".cache") / "tapeformer"
        return folder if folder.is_absolute() else None
    return None


def warn_once(folder: Path, reason: str) -> None:
    """Log, once per folder, why it or a file in it is not used; on standard error by default."""
    import logging

    if folder not in _warned:
        _warned.add(folder)
        logging.getLogger("tapeformer").warning("warning: the cache is not used: %s", reason)


@contextmanager
def opened_folder(path: Path, *, create: bool = False) -> Iterator[int]:
    """Open a folder and check its owner and mode; folders it creates are private to the user."""
    if create:
        _make(path)
    with _opened(path, None, READ_FOLDER) as descriptor:
        yield descriptor


def read_file(folder: int, path: Path, most: int) -> bytes:
    """Read a whole file of an open folder and mark it as used; OSError above `most` bytes."""
    with _opened(path, folder, READ_FILE) as descriptor:
        if os.fstat(descriptor).st_size > most:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        with suppress(OSError):
            os.utime(descriptor)
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(most)


def write_file(folder: int, name: str, partial: str, content: bytes) -> None:
    """Write a file of an open folder under a partial name, and rename it once complete."""
    try:
        with open(os.open(partial, NEW_FILE, 0o600, dir_fd=folder), "wb") as file:
            file.write(content)
        os.rename(partial, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(partial, dir_fd=folder)
        raise


def _make(path: Path) -> None:
    """Make a folder and its missing parents, each private to the user."""
    with suppress(FileExistsError):
        try:
            path.mkdir(mode=0o700)
        except FileNotFoundError:
            _make(path.parent)
            path.mkdir(mode=0o700)


@contextmanager
def _opened(path: Path, folder: int | None, flags: int) -> Iterator[int]:
    """Open a path, or its name in an open folder, and check it; UntrustedError if that fails."""
    name = path if folder is None else path.name
    try:
        descriptor = os.open(name, flags, dir_fd=folder)
    except OSError:
        with suppress(OSError):
            _check(os.lstat(name, dir_fd=folder), path, flags)
        raise
    try:
        _check(os.fstat(descriptor), path, flags)
        yield descriptor
    finally:
        os.close(descriptor)


def _check(status: os.stat_result, path: Path, flags: int) -> None:
    """Refuse what is of the wrong kind, owned by another user, or writable by others."""
    shown, user, mode = repr(str(path)), os.geteuid(), stat.S_IMODE(status.st_mode)
    if flags == READ_FOLDER and not stat.S_ISDIR(status.st_mode):
        raise UntrustedError(f"{shown} is not a folder (links are not followed); remove it")
    if flags == READ_FILE and not stat.S_ISREG(status.st_mode):
        raise UntrustedError(f"{shown} is not a regular file (links are not followed); remove it")
    if status.st_uid != user:
        raise UntrustedError(
            f"{shown} is owned by user {status.st_uid}, and this run is user {user}'s;"
            " remove it, or set XDG_CACHE_HOME to a folder of your own"
        )
    if mode & WRITABLE_BY_OTHERS:
        raise UntrustedError(f"{shown} can be written by others (mode {mode:o}); chmod go-w it")
