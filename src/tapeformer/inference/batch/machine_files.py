"""Digests of the machines that lines name by path: a run resumes only while they are unchanged."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from tapeformer.bundle.files import digest, read_files
from tapeformer.faults import Fault, SourceLocation, TapeformerError, quoted
from tapeformer.formats.registry import LARGEST_FILE
from tapeformer.inference.batch.answer_writer import earlier
from tapeformer.inference.batch.inputs import Inputs
from tapeformer.inference.records import Record

DIGEST = "sha256"
"""The key of an answer that has the digest of its machine's file or bundle."""


def digest_record(text: str) -> Record:
    """Return the digest of a line's file or bundle; an empty record if the line is no such path."""
    try:
        path = Path(text)
        mode = path.stat().st_mode if text else 0
        if S_ISREG(mode):
            return {DIGEST: _file_digest(path)}
        return {DIGEST: _bundle_digest(path)} if S_ISDIR(mode) else {}
    except (OSError, ValueError, TapeformerError):
        return {}


def _file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, or of as much as a machine may have."""
    with path.open("rb") as file:
        return digest(file.read(LARGEST_FILE + 1))


def _bundle_digest(folder: Path) -> str:
    """Return the SHA-256 of a bundle's files, one after the other."""
    found = sha256()
    for content in read_files(folder).values():
        found.update(content)
    return found.hexdigest()


def check_unchanged(machines: Inputs, answers: Path) -> None:
    """Refuse to resume answers to a machine whose file or bundle has changed since."""
    if not os.path.isfile(answers):
        return
    with earlier(answers) as lines:
        for number, (line, text) in enumerate(zip(lines, machines, strict=False), 1):
            known, found = _known(line, text), digest_record(text).get(DIGEST)
            if known is not None and known.get(DIGEST) != found:
                place = SourceLocation(str(answers), number)
                raise _changed(text, place, known.get(DIGEST), found)


def _known(line: bytes, text: str) -> Record | None:
    """Return an earlier answer to a machine; None if the line is not one, or not whole."""
    try:
        record = json.loads(line) if line.endswith(b"\n") else None
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and record.get("given") == text else None


def _changed(text: str, place: SourceLocation, known: object, found: object) -> TapeformerError:
    return TapeformerError(
        Fault(
            f"the machine of this line, {quoted(text)}, has changed since it was answered",
            place,
            expected=_described(known),
            got=_described(found),
            remedy="restore the machine, remove the answers, or name another file of answers",
        )
    )


def _described(digest: object) -> str:
    """Return a digest as messages show it."""
    return "no file or bundle" if digest is None else f"SHA-256 {str(digest)[:16]}..."
