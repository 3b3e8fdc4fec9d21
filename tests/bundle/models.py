"""Small bundles of real machines, and forging their configuration."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tapeformer.bundle.files import CONFIG, config_digest
from tapeformer.bundle.load import load_bundle
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.faults import TapeformerError
from tapeformer.gallery import gallery_machine

PARITY = gallery_machine("parity_of_ones")
BUNDLE = compile_machine(PARITY, CompileOptions("paper", levels=1, base=8, layers=2))
POST = compile_machine(PARITY, CompileOptions("post", space=4))
REALTIME = compile_machine(PARITY, CompileOptions("realtime", levels=2))


def refused(directory: Path, allow_modified: bool = False) -> str:
    """The one fault that loading gives."""
    with pytest.raises(TapeformerError) as caught:
        load_bundle(directory, allow_modified=allow_modified)
    assert len(caught.value.faults) == 1
    return str(caught.value)


def config_of(directory: Path) -> dict[str, object]:
    """The configuration as it is written."""
    found: dict[str, object] = json.loads((directory / CONFIG).read_text(encoding="utf-8"))
    return found


def forged(directory: Path, config: dict[str, object]) -> None:
    """Writes a configuration with the hash that it should have, as a forger would."""
    hashes = config.get("sha256")
    if isinstance(hashes, dict) and "config" in hashes:
        config = {**config, "sha256": {**hashes, "config": config_digest(config)}}
    (directory / CONFIG).write_text(json.dumps(config), encoding="utf-8")


def rewritten(directory: Path, **changes: object) -> None:
    """Changes entries of the configuration, named `table__entry`, and mends its hash."""
    config = config_of(directory)
    for path, value in changes.items():
        *tables, last = path.split("__")
        entry = config
        for table in tables:
            entry = entry[table]  # type: ignore[assignment]
        entry[last] = value
    forged(directory, config)


def with_text(directory: Path, change: Callable[[str], str]) -> None:
    """Changes the text of the configuration; the hash is that of what it then says."""
    text = change(json.dumps(config_of(directory)))
    (directory / CONFIG).write_text(text, encoding="utf-8")
