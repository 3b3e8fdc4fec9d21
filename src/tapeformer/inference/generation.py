"""The loop that generates a chain of thought: an engine appends tokens up to the verdict."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tapeformer.bundle.record import Bundle
from tapeformer.engines.stream import Stop, Stream, stops
from tapeformer.inference.answer import Answer
from tapeformer.inference.decode import Reader
from tapeformer.inference.engine import Variant, engine_for
from tapeformer.inference.grow import Grow, grown_window
from tapeformer.inference.limits import MOST_STEPS, Limits
from tapeformer.simulator.outcome import Outcome

SHORT, LONG = 64, 4096
"""Tokens in a piece that is shown, in a short run and in a long one."""
PATIENCE = 0.1
"""Seconds that tokens may be made without showing them before the caller is told."""


@dataclass
class Counters:
    """Counts over the generated tokens so far."""

    tokens: int = 0
    steps: int = 0
    boot: int | None = None
    grown: int = 0


class Generation:
    """One run under way: a bundle, an engine, and what has been counted.

    With `grow`, the first token that asks for a further level is dropped and generated again by a
    larger model, from the same tokens; until then the engine is `ahead` by that token. So it is
    where a token makes more steps than the limit allows: that token is dropped too.
    """

    def __init__(
        self,
        bundle: Bundle,
        word: Sequence[str],
        engine: str = "auto",
        window: int | None = None,
        variant: Variant | None = None,
        grow: Grow | None = None,
    ) -> None:
        self.reader, self.grow = Reader(bundle), grow
        tokens = self.reader.prompt(word)
        self.kind, self.variant = engine, dict(variant or {})
        self.engine: Stream = engine_for(bundle, engine, window, self.variant)
        self.word, self.prompt_tokens = tuple(word), len(tokens)
        self.engine.prompt(tokens)
        self.counts = Counters()
        self.outcome: Outcome | None = None
        self.ahead = False

    def resume(self, window: NDArray[np.int32], prompt_tokens: int, counts: Counters) -> None:
        """Take up a run of the same model where its last window and its counts left it."""
        bundle = self.reader.bundle
        self.engine = engine_for(bundle, self.kind, None, self.variant)
        self.engine.prompt(window)
        self.prompt_tokens, self.counts = prompt_tokens, counts

    def window(self) -> NDArray[np.int32]:
        """Return the last tokens of the run, oldest first: the engine keeps them."""
        return self.engine.window_tokens(int(self.ahead))

    def pieces(self, limits: Limits, most: int | None = None) -> Iterator[NDArray[np.int32]]:
        """Yield generated tokens in pieces of at most `most`, up to the verdict or a limit."""
        while self.outcome is None:
            rows = self.piece(limits, most)
            if len(rows):
                yield rows

    def piece(self, limits: Limits, most: int | None = None) -> NDArray[np.int32]:
        """Generate the next tokens: none at a limit, or where a level is needed first."""
        self.settle()
        room = self._room(most or self._piece(), limits)
        if room <= 0:
            self.outcome = Outcome.LIMIT
            return np.zeros((0, len(self.reader.factors)), np.int32)
        rows = self.engine.advance(room, self._stop())
        self.ahead = stops(rows[-1].tolist(), self._stop()[1:])
        if not self.ahead and self.counts.steps + self.reader.steps(rows).sum() > limits.max_steps:
            self.ahead, self.outcome = True, Outcome.LIMIT
        rows = rows[:-1] if self.ahead else rows
        if len(rows):
            self._count(rows)
        return rows

    def settle(self) -> None:
        """Add the levels that the last token asked for."""
        if self.ahead:
            self._add_levels()

    def _stop(self) -> Stop:
        """Stop at the verdict and, if levels can be added, at a token that asks for one."""
        goes_on, grow = self.reader.goes_on, self.reader.grow
        return (goes_on, grow) if self.grow and grow else (goes_on,)

    def _piece(self) -> int:
        """Make a long run in longer pieces."""
        return min(max(SHORT, self.counts.tokens // 8), LONG)

    def _room(self, most: int, limits: Limits) -> int:
        """Return how many tokens may be made: only a last one by itself can pass the limit."""
        left = limits.max_steps - self.counts.steps
        room = min(most, max(left // self.reader.steps_per_token, min(left, 1)))
        return (
            room if limits.max_tokens is None else min(room, limits.max_tokens - self.counts.tokens)
        )

    def _add_levels(self) -> None:
        """Continue with a larger model from the same tokens."""
        assert self.grow is not None
        old, before = self.reader.bundle, self.engine
        bundle = self.grow(old)
        rows = grown_window(old, bundle, self.window(), self.prompt_tokens + self.counts.tokens)
        self.reader = Reader(bundle)
        self.engine = engine_for(bundle, self.kind, None, self.variant)
        self.engine.follow(before)
        self.engine.prompt(rows)
        self.counts.grown += bundle.layout.levels - old.layout.levels
        self.ahead = False

    def _count(self, rows: NDArray[np.int32]) -> None:
        """Count rows of which only the last can end the run."""
        stepped = self.reader.steps(rows)
        if self.counts.boot is None and stepped.any():
            self.counts.boot = self.counts.tokens + int(np.argmax(stepped > 0))
        self.counts.tokens += len(rows)
        self.counts.steps += int(stepped.sum())
        self.outcome = self.reader.outcome(rows[-1].tolist())

    def may_hide(self) -> bool:
        """Say whether the rest is made faster without showing tokens: natively, once it steps."""
        stepping = self.counts.boot is not None and self.outcome is None
        countable = self.reader.steps_per_token == 1 or not self.reader.bundle.modified
        return stepping and countable and not self.ahead and self.engine.name == "native"

    def finish(self, limits: Limits, watch: Callable[[int], bool] | None = None) -> None:
        """Run to the end without showing tokens, in pieces of about the same time."""
        piece = LONG
        while self.outcome is None:
            piece = piece if self.engine.name == "native" else SHORT
            room = self._room(piece, limits)
            if room <= 0 or (watch is not None and not watch(self.counts.tokens)):
                break
            if limits.max_steps - self.counts.steps < self.reader.steps_per_token:
                self.piece(limits, 1)
                continue
            started = time.perf_counter()
            self._hidden(room)
            quick = time.perf_counter() - started < PATIENCE
            piece = piece * 2 if quick else max(SHORT, piece // 2)

    def _hidden(self, most: int) -> None:
        """Make tokens up to the verdict, or to one that asks for a further level: it is dropped."""
        reader, stop = self.reader, self._stop()
        made, full = self.engine.run(most, stop, reader.makes_a_step)
        token = self.engine.last_token()
        self.ahead = made > 0 and stops(token, stop[1:])
        self.counts.tokens += made - self.ahead
        self.counts.steps += reader.steps_in(full, token if made else ())
        self.counts.steps -= int(reader.steps_of[token[reader.stepped]]) if self.ahead else 0
        if self.ahead:
            self._add_levels()
        else:
            self.outcome = reader.outcome(token)

    def answer(self, seconds: float) -> Answer:
        """Return what the last window says."""
        read = self.reader.configuration(self.window())
        boot = self.counts.tokens if self.counts.boot is None else self.counts.boot
        return Answer(
            bundle=self.reader.bundle,
            engine=self.engine.name,
            outcome=self.outcome or Outcome.LIMIT,
            state=read.state,
            steps=self.counts.steps,
            tapes=read.tapes,
            prompt_tokens=self.prompt_tokens,
            boot_tokens=boot,
            cot_tokens=self.counts.tokens,
            margin=self.engine.margin,
            seconds=seconds,
            grown=self.counts.grown,
            word=self.word,
        )


def generate(
    bundle: Bundle,
    word: Sequence[str],
    *,
    engine: str = "auto",
    variant: Variant | None = None,
    max_steps: int = MOST_STEPS,
    max_tokens: int | None = None,
    watch: Callable[[int], bool] | None = None,
    see: Callable[[NDArray[np.int32], Generation], None] | None = None,
    grow: Grow | None = None,
) -> Answer:
    """Generate the chain of thought of a word and decode the answer; see `finished`."""
    run = Generation(bundle, word, engine, variant=variant, grow=grow)
    return finished(run, Limits(max_steps, max_tokens), watch, see)


def finished(
    run: Generation,
    limits: Limits,
    watch: Callable[[int], bool] | None = None,
    see: Callable[[NDArray[np.int32], Generation], None] | None = None,
) -> Answer:
    """Run to the verdict or a limit and return the answer.

    `watch` is told the number of tokens now and then and ends the run by returning False; `see`
    gets every piece of generated tokens.
    """
    started = time.perf_counter()
    for rows in run.pieces(limits):
        if see is not None:
            see(rows, run)
        if watch is not None and not watch(run.counts.tokens):
            break
        if see is None and run.may_hide():
            run.finish(limits, watch)
            break
    return run.answer(time.perf_counter() - started)
