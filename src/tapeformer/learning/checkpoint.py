"""How far a training has come, kept in files, so that one that was killed goes on."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import torch

from tapeformer.folders import file_written_at_once

FORMAT = 2
"""The number of what a state holds: another one's states are not taken up."""
SECONDS = 30.0
"""Between two states that are written."""


class Checkpoint:
    """The states of an arm's parts, a file for each; none are kept without a place for them."""

    def __init__(self, stem: Path | None = None) -> None:
        self.stem, self.written = stem, time.perf_counter()

    def save(self, part: str, state: dict[str, Any]) -> None:
        """Write a state, if the last one is old enough or this is the end of a part."""
        now = time.perf_counter()
        if self.stem is None or (now - self.written < SECONDS and not state.get("done")):
            return
        with file_written_at_once(self._path(part)) as partial:
            torch.save(state, partial)
        self.written = now

    def load(self, part: str) -> dict[str, Any] | None:
        """Return the state that was kept; None without any."""
        if self.stem is None or not self._path(part).exists():
            return None
        found: dict[str, Any] = torch.load(self._path(part), "cpu", weights_only=True)
        return found

    def remove(self) -> None:
        """Remove all states: the arm is done."""
        if self.stem is not None:
            for path in self.stem.parent.glob(f"{self.stem.name}.*.checkpoint"):
                path.unlink()

    def _path(self, part: str) -> Path:
        assert self.stem is not None
        return self.stem.with_name(f"{self.stem.name}.{part}.checkpoint")
