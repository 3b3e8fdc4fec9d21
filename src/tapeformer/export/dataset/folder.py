"""The folder of one machine's traces: its manifest, its model, its shards."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path
from typing import Any

from tapeformer.bundle.load import load_bundle
from tapeformer.bundle.record import Bundle
from tapeformer.export.dataset.parquet import about_shard
from tapeformer.export.dataset.splits import SPLITS
from tapeformer.faults import Fault, SourceLocation, TapeformerError
from tapeformer.folders import write_text_at_once

FORMAT, VERSION = "tapeformer-dataset", 1
MANIFEST, MODEL, CHAT, PARTIAL = "dataset.json", "model", "chat", ".partial"


@dataclass(frozen=True)
class Folder:
    """Where one machine's traces are; a shard that has its name is complete."""

    path: Path

    @property
    def name(self) -> str:
        """The name of the configuration, for `load_dataset`."""
        return self.path.name

    def manifest(self) -> dict[str, Any] | None:
        """Read what the dataset was made from; None where nothing is there yet."""
        path = self.path / MANIFEST
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise _refused(path, f"the dataset's manifest cannot be read: {error}") from None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise _refused(path, "this is not the manifest of a dataset")
        return found

    def begin(self, manifest: dict[str, Any], bundle: Bundle) -> None:
        """Write the model, then the manifest."""
        self.path.mkdir(parents=True, exist_ok=True)
        bundle.save(self.path / MODEL, overwrite=True)
        write_text_at_once(
            self.path / MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"
        )

    def bundle(self) -> Bundle:
        """Load the model that made the traces."""
        return load_bundle(self.path / MODEL)

    def shard(self, split: str, number: int) -> Path:
        """Return the path of a shard."""
        return self.path / f"{split}-{number:05}.parquet"

    def chat(self, split: str, number: int) -> Path:
        """Return the path of the chats that belong to a shard."""
        return self.path / CHAT / f"{split}-{number:05}.jsonl"

    def shards(self, split: str) -> list[Path]:
        """Return the complete shards of a split, in order."""
        paths = (self.shard(split, number) for number in count())
        return list(takewhile(Path.exists, paths))

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the rows and tokens of each split that has any."""
        found = {}
        for split in SPLITS:
            shards = [about_shard(path) for path in self.shards(split)]
            if shards:
                found[split] = {
                    "rows": sum(shard.rows for shard in shards),
                    "tokens": sum(shard.tokens for shard in shards),
                    "shards": len(shards),
                }
        return found

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other runs from writing here meanwhile; the lock goes with the process."""
        self.path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            _lock(descriptor, self.path)
            yield
        finally:
            os.close(descriptor)


def _lock(descriptor: int, path: Path) -> None:
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise _refused(path, "another run is writing this dataset", "wait until it ends") from None


def folder_name(machine: str) -> str:
    """Return a machine's name as one that folders and configurations may have."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", machine).strip("._-") or "machine"


def folders_in(path: Path) -> list[Folder]:
    """Return the machines' folders of a dataset."""
    if not path.is_dir():
        raise _refused(
            path, "there is no dataset", "`tapeformer dataset MACHINE -o DIR` writes one"
        )
    found = [Folder(entry) for entry in sorted(path.iterdir()) if (entry / MANIFEST).is_file()]
    if not found:
        raise _refused(
            path, "there is no dataset", "`tapeformer dataset MACHINE -o DIR` writes one"
        )
    return found


def _refused(path: Path, what: str, remedy: str = "choose another folder") -> TapeformerError:
    return TapeformerError(Fault(what, SourceLocation(str(path)), remedy=remedy))
