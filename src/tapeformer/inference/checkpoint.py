"""A run that can be resumed: its window and counts in a file, written now and then and at the end."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapeformer.bundle.save import model_digest
from tapeformer.faults import Fault, SourceLocation, TapeformerError
from tapeformer.inference.generation import Counters, Generation
from tapeformer.simulator.outcome import Outcome
from tapeformer.weights.positions import fetches_tokens

FORMAT = "tapeformer-checkpoint"
EVERY = 60.0
"""Seconds between two writings."""
MOST_BYTES = 4 << 30


@dataclass(frozen=True, eq=False)
class Saved:
    """What a checkpoint holds."""

    model: str
    levels: int
    base: int
    prompt_tokens: int
    counts: Counters
    margin: float | None
    window: NDArray[np.int32]


class Checkpoint:
    """The file of one run: the same machine, word and options are needed to resume it."""

    def __init__(self, path: Path | str, word: tuple[str, ...]) -> None:
        self.path, self.word = Path(path), word
        self.written = time.monotonic()

    def load(self) -> Saved | None:
        """Read the file; None where there is none yet."""
        if not os.path.isdir(self.path.absolute().parent):
            raise self._refused("there is no folder for the checkpoint", "give another file")
        if not os.path.lexists(self.path):
            return None
        if not self.path.is_file() or self.path.stat().st_size > MOST_BYTES:
            raise self._refused("this is not a checkpoint", "give another file")
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(str(self.path), framework="numpy") as file:
                record = json.loads((file.metadata() or {}).get("checkpoint", "{}"))
                return self._saved(record, file.get_tensor("window"))
        except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
            raise self._refused("this is not a checkpoint", "give another file", error) from None

    def _saved(self, record: dict[str, Any], window: NDArray[np.int32]) -> Saved:
        if record["format"] != FORMAT:
            raise self._refused("this is not a checkpoint", "give another file")
        if record["word"] != list(self.word):
            remedy = "give the input it was begun with, or another file"
            raise self._refused("the checkpoint is of a run on another input", remedy)
        return Saved(
            model=str(record["model"]),
            levels=int(record["levels"]),
            base=int(record["base"]),
            prompt_tokens=int(record["prompt_tokens"]),
            counts=Counters(**record["counts"]),
            margin=record["margin"],
            window=window,
        )

    def begin(self, run: Generation, saved: Saved | None) -> None:
        """Check that a run can be resumed from its window, and take it up where it was left."""
        bundle = run.reader.bundle
        if not fetches_tokens(bundle.weights):
            what = "this model cannot be resumed: its window of tokens does not determine the rest"
            raise self._refused(what, "leave out checkpoint")
        if saved is None:
            return
        if saved.model != model_digest(bundle):
            remedy = "give the machine and options it was begun with, or another file"
            raise self._refused("the checkpoint is of another model", remedy)
        run.resume(saved.window, saved.prompt_tokens, saved.counts)
        if saved.margin is not None:
            run.engine.margin = saved.margin

    def watching(
        self, run: Generation, watch: Callable[[int], bool] | None
    ) -> Callable[[int], bool]:
        """Write the file now and then while a run is watched."""

        def watched(tokens: int) -> bool:
            if time.monotonic() - self.written > EVERY:
                self.save(run)
            return watch is None or watch(tokens)

        return watched

    def end(self, run: Generation) -> None:
        """Write the file where the run has no answer yet; otherwise nothing is left to resume."""
        if run.outcome in (None, Outcome.LIMIT):
            self.save(run)
        else:
            self.path.unlink(missing_ok=True)

    def save(self, run: Generation) -> None:
        """Write the file whole or not at all."""
        from safetensors.numpy import save

        content = save({"window": run.window()}, {"checkpoint": json.dumps(self._record(run))})
        try:
            handle, partial = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                os.replace(partial, self.path)
            finally:
                Path(partial).unlink(missing_ok=True)
        except OSError as error:
            raise self._refused("the checkpoint cannot be written", "free space", error) from None
        self.written = time.monotonic()

    def _record(self, run: Generation) -> dict[str, object]:
        layout, margin = run.reader.bundle.layout, run.engine.margin
        return {
            "format": FORMAT,
            "model": model_digest(run.reader.bundle),
            "word": list(self.word),
            "levels": layout.levels,
            "base": layout.base,
            "prompt_tokens": run.prompt_tokens,
            "counts": vars(run.counts),
            "margin": None if margin == float("inf") else margin,
        }

    def _refused(self, what: str, remedy: str, error: Exception | None = None) -> TapeformerError:
        got = "" if error is None else str(error)
        return TapeformerError(Fault(what, SourceLocation(str(self.path)), got=got, remedy=remedy))
