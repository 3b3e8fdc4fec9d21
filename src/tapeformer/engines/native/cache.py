"""Machine code that was made before, or why there is none: kept by the hash of all it depends on.

A file is written under another name and renamed, so that nobody sees half of it; it carries the
hash of its own content, so that a broken one is made again. The least used are removed first.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from tapeformer.engines.logic.mutual_exclusion import NotLogicError
from tapeformer.engines.native.memory_layout import Plan
from tapeformer.weights.parameters import parameters
from tapeformer.weights.record import Matrix, TransformerWeights

VERSION = 9
"""Counts the changes of what machine code is made of; older code is then not found any more."""

MOST_BYTES = 256 << 20
SUFFIX = ".code"
LONGEST_WRITE = 600.0
"""Seconds after which a file that has not got its name is one whose writer was killed."""


@dataclass(frozen=True)
class Code:
    """Machine code and how to use it."""

    plan: Plan
    machine_code: bytes


@dataclass(frozen=True)
class Refusal:
    """Why a model cannot be turned into gates: to find out can take longer than to make code."""

    reason: str


def default_folder() -> Path:
    """Where the user's programs keep what they can make again."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    with contextlib.suppress(RuntimeError):
        return (Path(base) if base else Path.home() / ".cache") / "tapeformer" / "native"
    return Path(os.devnull) / "no home, so no folder"


def key_of(weights: TransformerWeights, *rest: object) -> str:
    """The hash of every parameter, of the factors' sizes, and of anything else that matters."""
    sizes = [len(factor.values) for factor in weights.factors]
    found = sha256(repr((VERSION, sizes, weights.layer_norm, rest)).encode())
    for parameter in parameters(weights):
        value = parameter.value
        found.update(repr((parameter.path, parameter.shape)).encode())
        arrays = (
            (value.rows, value.columns, value.values) if isinstance(value, Matrix) else (value,)
        )
        for array in arrays:
            found.update(array.tobytes())
    return found.hexdigest()


class Cache:
    """A folder of machine code; one that cannot be used is as good as an empty one."""

    def __init__(self, folder: Path | None = None, most_bytes: int = MOST_BYTES) -> None:
        self.folder = default_folder() if folder is None else folder
        self.most_bytes = most_bytes

    def get(self, key: str, make: Callable[[], Code]) -> Code:
        """What is kept under a key, made now if there is nothing sound; NotLogicError as `make`."""
        found = self.find(key)
        if found is None:
            found = _outcome(make)
            with contextlib.suppress(OSError):
                self._put(self._path(key), found)
        if isinstance(found, Refusal):
            raise NotLogicError(found.reason)
        return found

    def find(self, key: str) -> Code | Refusal | None:
        """What is kept under a key, if it is sound; it then counts as used."""
        path = self._path(key)
        try:
            found = _unpacked(path.read_bytes())
        except (OSError, ValueError, KeyError, TypeError):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return found

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{SUFFIX}"

    def _put(self, path: Path, found: Code | Refusal) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self.folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_packed(found))
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        self._shrink()

    def _shrink(self) -> None:
        """Removes what killed writers left, then the least used until the rest is small enough."""
        files = sorted(
            ((file.stat().st_mtime, file.stat().st_size, file) for file in self.folder.iterdir()),
            reverse=True,
        )
        total, now = 0, time.time()
        for used, size, file in files:
            total += size
            left = file.suffix != SUFFIX and now - used > LONGEST_WRITE
            if left or total > self.most_bytes:
                file.unlink(missing_ok=True)


def _outcome(make: Callable[[], Code]) -> Code | Refusal:
    try:
        return make()
    except NotLogicError as error:
        return Refusal(str(error))


def _packed(found: Code | Refusal) -> bytes:
    """The hash of the rest, the length of a header, the header, and the machine code."""
    entries, code = (
        (asdict(found.plan), found.machine_code)
        if isinstance(found, Code)
        else (asdict(found), b"")
    )
    header = json.dumps(entries).encode()
    content = len(header).to_bytes(8, "little") + header + code
    return sha256(content).digest() + content


def _unpacked(content: bytes) -> Code | Refusal:
    """What a file holds; ValueError where it is not what was written."""
    if len(content) < 40 or sha256(content[32:]).digest() != content[:32]:
        raise ValueError("broken")
    end = 40 + int.from_bytes(content[32:40], "little")
    entries = json.loads(content[40:end])
    if "reason" in entries:
        return Refusal(entries["reason"])
    places = tuple(tuple((w, m) for w, m in factor) for factor in entries.pop("places"))
    return Code(Plan(**entries, places=places), content[end:])
