"""Running a model: a word becomes a prompt, an engine appends tokens, the last window the answer.

Nothing here sees the Turing machine or its queues: only a bundle's weights, the names of its
factors, and how to read them.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapeformer.bundle.record import Bundle
from tapeformer.constructions import Decoded, check_word, construction
from tapeformer.engines.registry import make_engine
from tapeformer.engines.stream import Stop, Stream, Value, stops
from tapeformer.faults import Fault, TapeformerError
from tapeformer.inference.grow import Grow, grown_window
from tapeformer.simulator.result import Outcome, Tape
from tapeformer.weights.record import Token
from tapeformer.weights.tokens import prompt_tokens

SHORT, LONG = 64, 4096
"""Tokens in a piece that is shown, in a short run and in a long one."""
PATIENCE = 0.1
"""Seconds that tokens may be made without showing them before anyone is told."""
RUNNING = "run"


@dataclass(frozen=True)
class Answer:
    """What a chain of thought came to. `steps` is counted from the tokens, like everything here.

    `bundle` is the model at the end: it has more levels than at the start where it has grown.
    """

    bundle: Bundle
    outcome: Outcome
    state: str
    steps: int
    tapes: tuple[Tape, ...]
    prompt_tokens: int
    boot_tokens: int
    cot_tokens: int
    margin: float
    seconds: float
    grown: int = 0
    engine: str = field(default="", compare=False)


class Reader:
    """Reads tokens of one bundle: which value means what, and windows as configurations."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.factors = bundle.weights.factors
        place = {factor.name: index for index, factor in enumerate(self.factors)}
        names = [bundle.answer.get(key) for key in ("verdict", "stepped", "state")]
        if not all(isinstance(name, str) and name in place for name in names):
            raise TapeformerError(Fault("the bundle does not say how to read its answer"))
        self.verdict, self.stepped, self.state = (place[str(name)] for name in names)
        self.running = self.factors[self.verdict].values.index(RUNNING)
        self.step_mark = self.factors[self.stepped].values.index("1")
        self.goes_on: Value = (self.verdict, self.running)
        self.makes_a_step: Value = (self.stepped, self.step_mark)
        grow = place.get(str(bundle.answer.get("grow", "")))
        self.grow = None if grow is None else (grow, self.factors[grow].values.index("0"))

    def prompt(self, word: Sequence[str]) -> tuple[Token, ...]:
        """The prompt of a word that fits."""
        check_word(self.bundle.layout, word)
        return prompt_tokens(self.bundle.prompt, self.factors, word)

    def words(self, token: Sequence[int]) -> tuple[str, ...]:
        """A token's factors as text, in order."""
        return tuple(f.values[index] for f, index in zip(self.factors, token, strict=True))

    def outcome(self, token: Sequence[int]) -> Outcome | None:
        """The verdict that a token carries; none while the machine runs."""
        index = token[self.verdict]
        return None if index == self.running else Outcome(self.factors[self.verdict].values[index])

    def configuration(self, window: NDArray[np.int32]) -> Decoded:
        """State, tapes and heads from the last tokens, oldest first."""
        return self.decoded([self.words(row) for row in window.tolist()])

    def decoded(self, window: Sequence[tuple[str, ...]]) -> Decoded:
        """The same from tokens as text."""
        layout = self.bundle.layout
        reading: Any = self.bundle.answer["reading"]
        return construction(layout.construction).decode(reading, layout, window)


class Kept:
    """The most recent rows of tokens, at least as many as the window, in the pieces they came in."""

    def __init__(self, window: int) -> None:
        self.window, self.total = window, 0
        self.pieces: deque[NDArray[np.int32]] = deque()

    def add(self, rows: NDArray[np.int32]) -> None:
        """Appends rows and lets those go that no window needs."""
        self.pieces.append(rows)
        self.total += len(rows)
        while self.total - len(self.pieces[0]) >= self.window:
            self.total -= len(self.pieces.popleft())

    def rows(self) -> NDArray[np.int32]:
        """The last window."""
        return np.concatenate(list(self.pieces))[-self.window :]


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
    larger model, from the same tokens; until then the engine is `ahead` of what is kept.
    """

    def __init__(
        self,
        bundle: Bundle,
        word: Sequence[str],
        engine: str,
        window: int | None = None,
        variant: Mapping[str, str | float] | None = None,
        grow: Grow | None = None,
    ) -> None:
        self.reader, self.grow = Reader(bundle), grow
        self.kind, self.variant = engine, dict(variant or {})
        self.engine: Stream = make_engine(
            engine, bundle.weights, bundle.offsets, window, **self.variant
        )
        tokens = self.reader.prompt(word)
        self.prompt_tokens = len(tokens)
        self.engine.prompt(tokens)
        self.kept = Kept(bundle.window)
        self.kept.add(np.asarray(tokens, np.int32))
        self.counts = Counters()
        self.outcome: Outcome | None = None
        self.ahead = False

    def pieces(
        self, max_steps: int, max_tokens: int | None, most: int | None = None
    ) -> Iterator[NDArray[np.int32]]:
        """Generated tokens in pieces of at most `most`, up to the verdict or a limit."""
        while self.outcome is None:
            room = self._room(most or self._piece(), max_steps, max_tokens)
            if room <= 0:
                self.outcome = Outcome.LIMIT
                return
            rows = self.engine.advance(room, self._stop())
            self.ahead = stops(rows[-1].tolist(), self._stop()[1:])
            rows = rows[:-1] if self.ahead else rows
            if len(rows):
                self._count(rows)
                self.kept.add(rows)
                yield rows
            if self.ahead:
                self._add_levels(self.kept.rows())

    def _stop(self) -> Stop:
        """The verdict; and, if levels can be added, whether a token asks for one."""
        goes_on, grow = self.reader.goes_on, self.reader.grow
        return (goes_on, grow) if self.grow and grow else (goes_on,)

    def _piece(self) -> int:
        """A long run is made in longer pieces."""
        return min(max(SHORT, self.counts.tokens // 8), LONG)

    def _room(self, most: int, max_steps: int, max_tokens: int | None) -> int:
        """Tokens that may be made: each makes at most one step, so none passes a limit."""
        room = min(most, max_steps - self.counts.steps)
        return room if max_tokens is None else min(room, max_tokens - self.counts.tokens)

    def _add_levels(self, window: NDArray[np.int32]) -> None:
        """Goes on with a larger model from the same tokens."""
        assert self.grow is not None
        old, before = self.reader.bundle, self.engine
        bundle = self.grow(old)
        self.reader = Reader(bundle)
        rows = grown_window(old, bundle, window, self.prompt_tokens + self.counts.tokens)
        self.engine = make_engine(self.kind, bundle.weights, bundle.offsets, None, **self.variant)
        self.engine.follow(before)
        self.engine.prompt(rows)
        self.kept = Kept(bundle.window)
        self.kept.add(rows)
        self.counts.grown += bundle.layout.levels - old.layout.levels
        self.ahead = False

    def _count(self, rows: NDArray[np.int32]) -> None:
        """Counts rows of which only the last can end the run."""
        stepped = rows[:, self.reader.stepped] == self.reader.step_mark
        if self.counts.boot is None and stepped.any():
            self.counts.boot = self.counts.tokens + int(np.argmax(stepped))
        self.counts.tokens += len(rows)
        self.counts.steps += int(stepped.sum())
        self.outcome = self.reader.outcome(rows[-1].tolist())

    def may_hide(self) -> bool:
        """Whether the rest is made faster without showing tokens: the machine steps, natively."""
        stepping = self.counts.boot is not None and self.outcome is None
        return stepping and not self.ahead and self.engine.name == "native"

    def finish(
        self,
        max_steps: int,
        max_tokens: int | None,
        watch: Callable[[int], bool] | None,
    ) -> None:
        """Goes on to the end without showing tokens, in pieces of about the same time."""
        piece = LONG
        while self.outcome is None:
            piece = piece if self.engine.name == "native" else SHORT
            room = self._room(piece, max_steps, max_tokens)
            if room <= 0 or (watch is not None and not watch(self.counts.tokens)):
                break
            started = time.perf_counter()
            self._hidden(room)
            quick = time.perf_counter() - started < PATIENCE
            piece = piece * 2 if quick else max(SHORT, piece // 2)
        self.kept = Kept(self.reader.bundle.window)
        self.kept.add(self.engine.window_tokens())

    def _hidden(self, most: int) -> None:
        """Makes tokens up to the verdict, or to one that asks for a further level: it is dropped."""
        reader, stop = self.reader, self._stop()
        made, steps = self.engine.run(most, stop, reader.makes_a_step)
        token = self.engine.last_token()
        dropped = made > 0 and stops(token, stop[1:])
        self.counts.tokens += made - dropped
        self.counts.steps += steps - (dropped and token[reader.stepped] == reader.step_mark)
        if dropped:
            self._add_levels(self.engine.window_tokens(1))
        else:
            self.outcome = reader.outcome(token)

    def answer(self, seconds: float) -> Answer:
        """What the last window says."""
        read = self.reader.configuration(self.kept.rows())
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
        )


def generate(
    bundle: Bundle,
    word: Sequence[str],
    *,
    engine: str = "auto",
    variant: Mapping[str, str | float] | None = None,
    max_steps: int = 10**9,
    max_tokens: int | None = None,
    watch: Callable[[int], bool] | None = None,
    see: Callable[[NDArray[np.int32], Reader], None] | None = None,
    grow: Grow | None = None,
) -> Answer:
    """Generates the chain of thought of a word and decodes the answer.

    `variant` is what the engine lets one choose; `watch` is told the number of tokens now and then
    and ends the run by answering False; `see` gets every piece of generated tokens.
    """
    run = Generation(bundle, word, engine, variant=variant, grow=grow)
    started = time.perf_counter()
    for rows in run.pieces(max_steps, max_tokens):
        if see is not None:
            see(rows, run.reader)
        if watch is not None and not watch(run.counts.tokens):
            break
        if see is None and run.may_hide():
            run.finish(max_steps, max_tokens, watch)
            break
    return run.answer(time.perf_counter() - started)
