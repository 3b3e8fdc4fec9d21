"""`tf.stream`: a chain of thought as an iterator, one item for each generated token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapeformer.constructions import Decoded
from tapeformer.faults import Fault, TapeformerError
from tapeformer.inference.decode import Reader
from tapeformer.inference.generation import Generation
from tapeformer.inference.limits import Limits
from tapeformer.inference.model import Source, Word, find_model, symbols_of
from tapeformer.inference.options import run_options
from tapeformer.inference.records import token_line
from tapeformer.inference.run import limits_for, started
from tapeformer.simulator.outcome import Outcome, Tape


@dataclass(frozen=True, eq=False)
class Piece:
    """Tokens that were generated together, and the window before them."""

    reader: Reader
    before: NDArray[np.int32]
    rows: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class StreamedToken:
    """One generated token: its number from 1, and the Turing machine's steps up to it.

    Its fields by name, and the state and tapes that the window up to it holds, are decoded when
    they are asked for.
    """

    number: int
    steps: int
    piece: Piece
    index: int

    @property
    def ids(self) -> tuple[int, ...]:
        """The number of each factor's value, as the model sees them."""
        return tuple(self.piece.rows[self.index].tolist())

    @cached_property
    def token(self) -> dict[str, str]:
        """The value of each factor, by name."""
        return self.piece.reader.named(self.ids)

    @property
    def outcome(self) -> Outcome | None:
        """The verdict, in the last token of a run."""
        return self.piece.reader.outcome(self.ids)

    @property
    def state(self) -> str:
        """The Turing machine's state."""
        return self._decoded.state

    @property
    def tapes(self) -> tuple[Tape, ...]:
        """The Turing machine's tapes and heads, read from the window."""
        return self._decoded.tapes

    def json(self, named: bool = False) -> str:
        """Return the token as a line of a trace: a list of its factors, or an object by name."""
        return token_line(self.token if named else list(self.token.values()))

    def window(self) -> NDArray[np.int32]:
        """Return the window that ends with this token, oldest first."""
        rows = self.piece.rows[: self.index + 1]
        needed = max(0, self.piece.reader.bundle.window - len(rows))
        before = self.piece.before
        return np.concatenate([before[max(0, len(before) - needed) :], rows])

    @cached_property
    def _decoded(self) -> Decoded:
        return self.piece.reader.configuration(self.window())

    def __repr__(self) -> str:
        outcome = "" if self.outcome is None else f", {self.outcome.value}"
        return f"<StreamedToken {self.number}: step {self.steps}{outcome}>"


def stream(machine: Source, word: Word = "", **options: Any) -> Iterator[StreamedToken]:
    """Generate the chain of thought of a word, one item per token; options as for `run`."""
    asked = run_options(options)
    if asked.checkpoint is not None:
        what = "a stream keeps no checkpoint: its user decides how far it goes"
        raise TapeformerError(Fault(what, remedy="leave out checkpoint, or use tf.run"))
    model = find_model(machine, asked.compile, allow_modified=asked.allow_modified)
    symbols = symbols_of(model, word, asked.spaced)
    generation, _ = started(model, symbols, asked)
    return tokens_of(generation, limits_for(generation, asked))


def tokens_of(generation: Generation, limits: Limits) -> Iterator[StreamedToken]:
    """Yield the tokens of a run under way."""
    while generation.outcome is None:
        generation.settle()
        before = generation.window()
        yield from _streamed(generation, before, generation.piece(limits))


def _streamed(
    generation: Generation, before: NDArray[np.int32], rows: NDArray[np.int32]
) -> Iterator[StreamedToken]:
    reader, counts = generation.reader, generation.counts
    stepped = reader.steps(rows)
    steps = counts.steps - int(stepped.sum()) + np.cumsum(stepped)
    first = counts.tokens - len(rows) + 1
    piece = Piece(reader, before, rows)
    for index in range(len(rows)):
        yield StreamedToken(first + index, int(steps[index]), piece, index)
