"""A run, recorded while it is made: every token is kept, compressed, beside the direct simulation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tapeformer.bundle.record import Bundle
from tapeformer.explorer.agreement import Agreement
from tapeformer.explorer.slices import SIZE, Slice, packed, width_of
from tapeformer.explorer.truth import Truth
from tapeformer.inference.decode import Reader
from tapeformer.inference.generation import Generation
from tapeformer.inference.limits import Limits
from tapeformer.machine.record import TuringMachine
from tapeformer.simulator.outcome import Outcome

MOST_TOKENS = 1_100_000
"""How far a run is recorded before it is asked whether to go on."""


Watch = Callable[[NDArray[np.int32], bool], None]
"""Is told the tokens as they are recorded, and whether the last one ended the run."""


@dataclass(frozen=True)
class Event:
    """Something that happens at a token: a level starts, a model grows, a limit, a difference."""

    token: int
    kind: str
    level: int = 0


@dataclass(frozen=True, eq=False)
class Part:
    """The tokens of one model: a run has more than one where the model has grown.

    `prompt` is the window that the model began with.
    """

    reader: Reader
    start: int
    prompt: NDArray[np.int32]

    @property
    def bundle(self) -> Bundle:
        """The model."""
        return self.reader.bundle

    @property
    def width(self) -> int:
        """The bytes that a value of its tokens needs."""
        return width_of([len(factor.values) for factor in self.reader.factors])


@dataclass
class Progress:
    """Counts over the recorded tokens, prompt included in `tokens`."""

    tokens: int = 0
    steps: int = 0
    boot: int | None = None
    prompt: int = 0
    outcome: Outcome | None = None
    margin: float = float("inf")
    difference: int | None = None
    events: list[Event] = field(default_factory=list)


class Recording:
    """The tokens of a run under way, in slices, and how each compares with the truth."""

    def __init__(
        self,
        machine: TuringMachine,
        word: Sequence[str],
        generation: Generation,
        watch: Watch | None = None,
    ) -> None:
        self.machine, self.word, self.watch = machine, tuple(word), watch
        self.truth = Truth(machine, word)
        self.generation = generation
        self.parts: list[Part] = []
        self.progress = Progress()
        self._closed: list[Slice] = []
        self._open: list[NDArray[np.int32]] = []
        self._start = self._steps = 0
        self._levels: set[int] = set()
        self._lock = threading.Lock()
        self._begin_part()
        prompt = np.asarray(generation.reader.prompt(self.word), np.int32)
        self.progress.prompt = len(prompt)
        self._keep(prompt)

    def record(self, limit: int = MOST_TOKENS, stop: threading.Event | None = None) -> None:
        """Generate and keep tokens up to the verdict, a limit on tokens, or a signal to stop."""
        run, limits = self.generation, Limits(max_tokens=limit)
        run.outcome = None if run.outcome is Outcome.LIMIT else run.outcome
        self.progress.outcome = run.outcome
        while run.outcome is None and not (stop is not None and stop.is_set()):
            run.settle()
            self._begin_part()
            few = 64 if self.progress.tokens < SIZE else SIZE
            rows = run.piece(limits, min(few, self._room()))
            self._keep(rows)
            if self.watch is not None:
                self.watch(rows, run.outcome not in (None, Outcome.LIMIT))
        self.progress.margin = run.engine.margin
        self.progress.outcome = run.outcome
        if run.outcome in (Outcome.LIMIT, Outcome.OUT_OF_SPACE):
            self._event(self.progress.tokens - 1, run.outcome.value)

    def slices(self) -> list[Slice]:
        """Return all slices so far; the last one may still be filled."""
        with self._lock:
            return [*self._closed, *([self._packed()] if self._open else [])]

    def slice(self, number: int) -> Slice | None:
        """Return one slice; None where there is none yet."""
        with self._lock:
            if number == len(self._closed) and self._open:
                return self._packed()
            return self._closed[number] if 0 <= number < len(self._closed) else None

    def starts(self) -> list[int]:
        """Return the first token of each slice."""
        with self._lock:
            return [*(kept.start for kept in self._closed), *([self._start] if self._open else [])]

    def rows(self, start: int, stop: int) -> NDArray[np.int32]:
        """Return some tokens; those of an older model than the last one's are left out."""
        kept = [s for s in self.slices() if s.start < stop and s.stop > start]
        kept = [s for s in kept if s.model == kept[-1].model]
        fields = len(self.parts[kept[-1].model].reader.factors)
        rows = np.concatenate([s.rows(fields) for s in kept])
        return rows[max(0, start - kept[0].start) : stop - kept[0].start]

    def window_before(self, token: int, more: int = 0) -> NDArray[np.int32]:
        """Return the tokens that a token was computed from, as its model took over earlier ones.

        With `more`, up to so many tokens before them too.
        """
        part = self.part_at(token)
        start = max(0, token - part.bundle.window - more)
        if part.start and (token == part.start or start < part.start):
            return self._taken_over(part, token, more)
        return self.rows(start, token)

    def _taken_over(self, part: Part, token: int, more: int) -> NDArray[np.int32]:
        """Return a model's window soon after it began: what it was prompted with, and its own tokens."""
        own = self.rows(part.start, token) if token > part.start else part.prompt[:0]
        return np.concatenate([part.prompt, own])[-part.bundle.window - more :]

    def part_at(self, token: int) -> Part:
        """Return the part in which a token was made."""
        return next(part for part in reversed(self.parts) if part.start <= token)

    def _begin_part(self) -> None:
        reader = self.generation.reader
        if self.parts and self.parts[-1].reader is reader:
            return
        prompt = self.generation.window()
        with self._lock:
            self._close()
            self.parts.append(Part(reader, self.progress.tokens, prompt))
        self._agreement = Agreement(reader, self.truth)
        if len(self.parts) > 1:
            self._event(self.progress.tokens, "grow", reader.bundle.layout.levels)

    def _room(self) -> int:
        return SIZE - (self.progress.tokens - self._start)

    def _keep(self, rows: NDArray[np.int32]) -> None:
        """Take tokens into the open slice, and close it whenever it is full."""
        while len(rows):
            taken, rows = rows[: self._room()], rows[self._room() :]
            steps = self.progress.steps + np.cumsum(self._made(taken))
            self._note(taken, steps)
            with self._lock:
                self._open.append(taken)
                self.progress.tokens += len(taken)
                self.progress.steps = int(steps[-1])
                if not self._room():
                    self._close()

    def _close(self) -> None:
        if self._open:
            self._closed.append(self._packed())
            self._open = []
        self._start, self._steps = self.progress.tokens, self.progress.steps

    def _packed(self) -> Slice:
        """Return the open slice as it is now."""
        rows, width = np.concatenate(self._open), self.parts[-1].width
        steps = self._steps + np.cumsum(self._made(rows))
        rules = self.truth.rules(self._steps, int(steps[-1]))
        agree = self._agreement.of(rows, steps, self._made(rows) > 0)
        return Slice(
            start=self._start,
            stop=self._start + len(rows),
            model=len(self.parts) - 1,
            steps=self._steps,
            width=width,
            truth=self.truth.moment(self._steps),
            content=packed(rows, width, rules, agree),
        )

    def _made(self, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the steps that each of some tokens makes."""
        return self.parts[-1].reader.steps(rows)

    def _note(self, rows: NDArray[np.int32], steps: NDArray[np.int64]) -> None:
        """Look for the first step, for levels that start, and for the first difference."""
        progress, stepped = self.progress, self._made(rows) > 0
        if progress.boot is None and stepped.any():
            progress.boot = progress.tokens + int(np.argmax(stepped)) - progress.prompt
        agree = self._agreement.of(rows, steps, stepped)
        if progress.difference is None and not agree.all():
            progress.difference = progress.tokens + int(np.argmin(agree))
            self._event(progress.difference, "difference")
        for level, place in self._waiting_levels():
            started = rows[:, place] == 1
            if started.any():
                self._levels.add(level)
                self._event(progress.tokens + int(np.argmax(started)), "level", level)

    def _waiting_levels(self) -> list[tuple[int, int]]:
        """Return the levels that have not started, each with the field that says so."""
        factors = enumerate(self.parts[-1].reader.factors)
        names = ((int(f.name[7:]), at) for at, f in factors if f.name.startswith("started"))
        return [(level, place) for level, place in names if level not in self._levels]

    def _event(self, token: int, kind: str, level: int = 0) -> None:
        self.progress.events.append(Event(token, kind, level))
