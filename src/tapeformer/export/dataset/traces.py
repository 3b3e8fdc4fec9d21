"""Chains of thought, one after another, by one engine that is loaded once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from tapeformer.bundle.record import Bundle
from tapeformer.engines.native.engine import Engine
from tapeformer.export.dataset.words import Word
from tapeformer.inference.decode import Reader
from tapeformer.inference.generation import LONG, SHORT
from tapeformer.simulator.outcome import Outcome
from tapeformer.workers import Where, in_order, pool_at

GROUP = 16
"""Words that a worker gets at a time."""


@dataclass(frozen=True, eq=False)
class Trace:
    """The whole context of one word: prompt, chain of thought, and what it came to.

    `state_numbers` has the state after each step, as a number of the state factor's values.
    """

    word: tuple[str, ...]
    prompt_length: int
    tokens: NDArray[np.unsignedinteger]
    steps: int
    state_numbers: NDArray[np.integer]
    outcome: str
    output: tuple[str, ...]


class Tracer:
    """Generates the traces of one model by machine code; the model is loaded once."""

    def __init__(self, bundle: Bundle, max_steps: int) -> None:
        self.bundle, self.reader, self.max_steps = bundle, Reader(bundle), max_steps
        self.glue = " " if bundle.answer["spaced"] else ""
        self._engine = Engine(bundle.weights, bundle.offsets)
        self._stop = (self.reader.goes_on,)

    @cached_property
    def dtype(self) -> np.dtype[np.unsignedinteger]:
        """The smallest type that holds every value of a token."""
        return np.min_scalar_type(max(len(f.values) for f in self.reader.factors) - 1)

    def trace(self, word: Sequence[str]) -> Trace:
        """Generate the chain of thought of a word, up to its verdict or the limit of steps."""
        prompt = np.asarray(self.reader.prompt(word), np.int32)
        made = self._generated(prompt)
        states = self.state_numbers(made)
        end = self.reader.outcome(made[-1].tolist())
        tokens = np.concatenate([prompt.astype(self.dtype), made])
        tapes = self.reader.configuration(tokens[-self.bundle.window :]).tapes
        return Trace(
            word=tuple(word),
            prompt_length=len(prompt),
            tokens=tokens,
            steps=len(states),
            state_numbers=states,
            outcome=(end or Outcome.LIMIT).value,
            output=tuple(self.glue.join(tape.content) for tape in tapes),
        )

    def _generated(self, prompt: NDArray[np.int32]) -> NDArray[np.unsignedinteger]:
        """Return the tokens that follow a prompt; each makes at most one step."""
        return np.concatenate(list(self._pieces(prompt)))

    def pieces(self, word: Sequence[str]) -> Iterator[NDArray[np.unsignedinteger]]:
        """Yield the chain of thought of a word some tokens at a time, for one too long to keep."""
        return self._pieces(np.asarray(self.reader.prompt(word), np.int32))

    def _pieces(self, prompt: NDArray[np.int32]) -> Iterator[NDArray[np.unsignedinteger]]:
        self._engine.restart()
        self._engine.prompt(prompt)
        steps, piece = 0, SHORT
        while steps < self.max_steps:
            rows = self._engine.advance(min(piece, self.max_steps - steps), self._stop)
            made = rows.astype(self.dtype)
            yield made
            if self.reader.outcome(made[-1].tolist()) is not None:
                break
            steps += len(self.state_numbers(made))
            piece = min(2 * piece, LONG)

    def state_numbers(self, rows: NDArray[np.integer]) -> NDArray[np.integer]:
        """Return the state in every token that makes a step."""
        stepped = rows[:, self.reader.stepped] == self.reader.step_mark
        numbers: NDArray[np.integer] = rows[stepped, self.reader.state]
        return numbers

    @property
    def states(self) -> tuple[str, ...]:
        """The values of the state factor."""
        return self.reader.factors[self.reader.state].values


@dataclass(frozen=True, eq=False)
class TraceWords:
    """The task of a cluster: the model travels once, then groups of words become traces."""

    bundle: Bundle
    max_steps: int

    def ready(self) -> Callable[[Sequence[Word]], list[Trace]]:
        """Load the model and its machine code."""
        tracer = Tracer(self.bundle, self.max_steps)
        return lambda words: [tracer.trace(word) for word in words]


def traced(
    tracer: Tracer, words: Iterator[Word], tick: Callable[[], bool], cluster: str | None = None
) -> Generator[Trace, None, None]:
    """Yield the traces of words, in order: made here, or by the workers of a scheduler."""
    if cluster is None:
        yield from map(tracer.trace, words)
        return
    pool = pool_at(Where(cluster=cluster), TraceWords(tracer.bundle, tracer.max_steps))
    groups = iter(lambda: tuple(islice(words, GROUP)), ())
    with closing(in_order(pool, groups, tick)) as found:
        for traces in found:
            yield from traces
