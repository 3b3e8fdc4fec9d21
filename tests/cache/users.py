"""Running a piece of a test as another user: only root can, so elsewhere such tests are skipped."""

from __future__ import annotations

import logging  # noqa: F401  (loaded before the fork: the other user may not read the library)
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

Found = TypeVar("Found")

OWNER, STRANGER = 54321, 54322
"""Users that need not exist: the system knows only numbers."""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def as_user(user: int, work: Callable[[], Found]) -> Found:
    """Call a function in a process of another user and return what it returned."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            os.write(writer, pickle.dumps(work()))
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        content = file.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, "the other user's process failed"
    found: Found = pickle.loads(content)
    return found


@contextmanager
def shared_folder() -> Iterator[Path]:
    """Make a folder like /tmp, which every user can reach (pytest's own are closed to others)."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o1777)
        yield Path(name)
