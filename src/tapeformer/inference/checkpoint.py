"""A run that can be resumed: its window and counts in a file, written now and then and at the end."""

from __future__ import annotations

import logging
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tapeformer.faults import Fault, SourceLocation, TapeformerError, counted, quoted
from tapeformer.inference.generation import Generation
from tapeformer.inference.saved import Saved, packed, unpacked
from tapeformer.simulator.outcome import Outcome
from tapeformer.weights.positions import fetches_tokens

EVERY = 60.0
"""Seconds between two writings."""
MOST_BYTES = 4 << 30
ANOTHER = "give another file, or remove this one to begin anew"

log = logging.getLogger("tapeformer")


class Checkpoint:
    """The file of one run: the same machine, word, sizes and options are needed to resume it.

    A run that grows is resumed as one that grows, and a run of a fixed size at that size: levels
    are added at the token that first asks for one, and later it can be too late. So where a fixed
    size is out of space there is nothing left to resume, as after an answer.
    """

    def __init__(self, path: Path | str, word: tuple[str, ...]) -> None:
        self.path, self.word = Path(path), word
        self.written = time.monotonic()

    def load(self) -> Saved | None:
        """Read the file; None where there is none yet, but could be."""
        self._check_path()
        if not os.path.lexists(self.path):
            return None
        if not self.path.is_file() or self.path.stat().st_size > MOST_BYTES:
            raise self._refused("this is not a checkpoint", remedy="give another file")
        saved = self._content()
        if saved.word != self.word:
            remedy = "give the input it was begun with, or another file"
            raise self._refused("the checkpoint is of a run on another input", remedy=remedy)
        return saved

    def _content(self) -> Saved:
        """Return what the file holds; what is wrong with it is told with its place and a remedy."""
        try:
            return unpacked(self.path.read_bytes())
        except OSError as error:
            raise self._refused("the checkpoint cannot be read", got=str(error.strerror)) from None
        except TapeformerError as error:
            where, remedy = self._place, ANOTHER
            faults = (replace(fault, location=where, remedy=remedy) for fault in error.faults)
            raise TapeformerError(faults) from None

    def _check_path(self) -> None:
        """Refuse, before a run, what cannot become a file."""
        folder = self.path.absolute().parent
        try:
            os.lstat(self.path)
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            what, why = "no checkpoint can have this name", getattr(error, "strerror", error)
            raise self._refused(what, got=str(why), remedy="give another file") from None
        if not folder.is_dir():
            raise self._refused("there is no folder for the checkpoint", remedy="give another file")
        if not os.access(folder, os.W_OK | os.X_OK):
            what = "the checkpoint's folder cannot be written to"
            raise self._refused(what, remedy="give a file in another folder")

    def begin(self, run: Generation, saved: Saved | None) -> None:
        """Check that a run can be resumed from its window, and take it up where it was left."""
        if not fetches_tokens(run.reader.bundle.weights):
            what = "this model cannot be resumed: its window of tokens does not determine the rest"
            raise self._refused(what, remedy="leave out checkpoint")
        if saved is None:
            return
        now = _saved(run)
        if saved.model != now.model or saved.grows != now.grows:
            raise self._of_another(saved.about, now.about)
        self._check_window(run, saved)
        run.resume(saved.window, run.prompt_tokens, saved.counts)
        if saved.margin is not None:
            run.engine.margin = saved.margin

    def _of_another(self, before: str, now: str) -> TapeformerError:
        what = "the checkpoint is of another model"
        same = "give the same machine and options as before, without a size if it was growing"
        expected, got = (quoted(text, 200)[1:-1] for text in (before, now))
        if before == now:
            expected, got = "the same options, and the same version of tapeformer", "others"
        return self._refused(what, expected, got, f"{same}, or another file")

    def _check_window(self, run: Generation, saved: Saved) -> None:
        """Refuse tokens that are not the last ones of a run of this length that goes on."""
        reader, window = run.reader, saved.window
        sizes = [len(factor.values) for factor in reader.factors]
        rows = min(run.prompt_tokens + saved.counts.tokens, reader.bundle.window)
        if window.shape != (rows, len(sizes)):
            expected = f"{counted(rows, 'token')} of {counted(len(sizes), 'factor')}"
            got = f"{window.shape[0]:,} of {window.shape[1]:,}"
            raise self._refused("the checkpoint's window has another size", expected, got)
        if (window < 0).any() or (window >= sizes).any():
            raise self._refused("the checkpoint's window has a token of another alphabet")
        if (window[:, reader.verdict] != reader.running).any():
            raise self._refused("the checkpoint is of a run that has ended")

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
        """Write the file where the run can go on; otherwise nothing is left to resume."""
        if run.outcome in (None, Outcome.LIMIT):
            self.save(run)
            return
        if run.outcome is Outcome.OUT_OF_SPACE:
            log.info("a run out of space cannot be resumed; with other sizes it begins anew")
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("warning: %s: not removed: %s", self.path, error.strerror)

    def save(self, run: Generation) -> None:
        """Write the file whole or not at all."""
        try:
            self._write(packed(_saved(run)))
        except OSError as error:
            what, got = "the checkpoint cannot be written", str(error.strerror)
            raise self._refused(what, got=got, remedy="free space") from None
        self.written = time.monotonic()

    def _write(self, content: bytes) -> None:
        """Write under another name, wait until it is on disk, rename: so even if the power fails."""
        prefix = f".{self.path.name[:50]}."
        handle, partial = tempfile.mkstemp(dir=self.path.parent, prefix=prefix)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, self.path)
        finally:
            Path(partial).unlink(missing_ok=True)

    @property
    def _place(self) -> SourceLocation:
        name = str(self.path)
        return SourceLocation(name if name.isprintable() else quoted(name))

    def _refused(
        self, what: str, expected: str = "", got: str = "", remedy: str = ANOTHER
    ) -> TapeformerError:
        return TapeformerError(Fault(what, self._place, expected, got, remedy))


def _saved(run: Generation) -> Saved:
    """Return what is kept of a run; the first token that was dropped is generated again."""
    bundle, margin = run.reader.bundle, run.engine.margin
    layout, grows = bundle.layout, run.grow is not None
    sizes = f"{counted(layout.levels, 'level')}, base {layout.base}"
    kind = "growing" if grows else "of fixed size"
    return Saved(
        about=f"{bundle.name}, {layout.construction}, {sizes}, {kind}",
        model=bundle.digest,
        word=run.word,
        levels=layout.levels,
        base=layout.base,
        grows=grows,
        counts=run.counts,
        margin=None if margin == float("inf") else margin,
        window=run.window(),
    )
