"""The files of a bundle: their names, the format's version, their hashes, and reading them safely."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import NoReturn

from tapeformer.faults import Fault, SourceLocation, TapeformerError, quoted

PARAMETERS, CONFIG, MACHINE = "model.safetensors", "config.json", "machine.yaml"
MOST_BYTES = {PARAMETERS: 256 << 20, CONFIG: 64 << 20, MACHINE: 16 << 20}
"""Every file of a bundle, and the bytes that it may have."""

FORMAT, VERSION = "tapeformer-bundle", 2
AGAIN = "compile the machine again"
WRITES = "`tapeformer compile MACHINE -o FOLDER` writes one"


def folder_path(folder: str | os.PathLike[str]) -> Path:
    """Return the path that a caller named, as str or Path."""
    try:
        path = Path(folder)
        os.fsencode(path)
    except (TypeError, ValueError):
        path = None
    if path is None or "\0" in str(path):
        kind = quoted(folder) if isinstance(folder, str) else type(folder).__name__
        raise TapeformerError(
            Fault("a bundle is named by the path of its folder", None, "a str or a Path", kind)
        )
    return path


def read_files(folder: Path) -> dict[str, bytes]:
    """Read every file of a bundle."""
    if not os.path.isdir(folder):
        got = "something else" if os.path.lexists(folder) else "nothing"
        raise TapeformerError(
            Fault("there is no bundle", SourceLocation(str(folder)), "a folder", got, WRITES)
        )
    if not any(os.path.lexists(folder / name) for name in MOST_BYTES):
        what, place = "this folder is not a bundle", SourceLocation(str(folder))
        raise TapeformerError(Fault(what, place, ", ".join(MOST_BYTES), "none of them", WRITES))
    return {name: _content(folder / name) for name in MOST_BYTES}


def _content(path: Path) -> bytes:
    """Read a regular file of bounded size; anything else (a FIFO, a device) is refused at once."""
    most = MOST_BYTES[path.name]
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                refuse(path, "a part of the bundle is not a file", "a file", "something else")
            if status.st_size > most:
                refuse(path, "the file is too large", f"at most {most} bytes", status.st_size)
            return file.read(most)
    except FileNotFoundError:
        refuse(path, "a file of the bundle is missing", ", ".join(MOST_BYTES), "no such file")
    except IsADirectoryError:
        refuse(path, "a part of the bundle is not a file", "a file", "a folder")
    except OSError as error:
        refuse(path, "a file of the bundle cannot be read", "", error.strerror or error)


def text_of(content: bytes, path: Path) -> str:
    """Return the text of a file."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        refuse(path, "the file is not text", "UTF-8", error)


def digest(content: bytes) -> str:
    """Return SHA-256 in hexadecimal."""
    return sha256(content).hexdigest()


def config_digest(config: Mapping[str, object]) -> str:
    """Return the hash that a configuration has for itself: of all of it but that hash."""
    hashes = config.get("sha256")
    others = {key: value for key, value in _table(hashes).items() if key != "config"}
    content = {**config, "sha256": others}
    return digest(json.dumps(content, sort_keys=True, separators=(",", ":")).encode("utf-8"))


def _table(entry: object) -> Mapping[str, object]:
    return entry if isinstance(entry, dict) else {}


def refuse(path: Path, what: str, expected: object = "", got: object = "") -> NoReturn:
    """Raise the one fault that a file of a bundle has; `got` is shown on one line, not too long."""
    shown = quoted(str(got), longest=100)[1:-1]
    raise TapeformerError(Fault(what, SourceLocation(str(path)), str(expected), shown, AGAIN))
