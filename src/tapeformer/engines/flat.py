"""A model with a flat vocabulary, seen as one whose tokens have factors.

The literal Transformer of Appendix B has one number for a token. What reads tokens knows factors;
this stream lists the factors of every number and translates both ways.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.stream import Stop, Stream, TokenWindow, stops
from tapeformer.faults import Fault, TapeformerError
from tapeformer.weights.record import Token


class FlatStream(Stream):
    """An engine of a flat model: `rows` has the factors of each of its tokens."""

    def __init__(self, inner: Stream, rows: NDArray[np.int32]) -> None:
        self.inner, self.rows_of, self.name = inner, rows, inner.name
        self.weights, self.offsets, self.window = inner.weights, inner.offsets, inner.window
        self.margin = float("inf")
        self.numbers = {tuple(row): number for number, row in enumerate(rows.tolist())}
        self._kept = TokenWindow(self.window, rows.shape[1])

    def prompt(self, tokens: Sequence[Token] | NDArray[np.integer]) -> None:
        """Append tokens to the context; each must be in the vocabulary."""
        rows = np.asarray(tokens, np.int32).reshape(len(tokens), -1)
        if len(rows):
            found = [self.numbers.get(tuple(row)) for row in rows.tolist()]
            if None in found:
                raise TapeformerError(Fault("a prompt has a token that the vocabulary lacks"))
            self.inner.prompt(np.array(found, np.int32)[:, None])
            self._kept.append(rows)

    def advance(self, tokens: int, stop: Stop = ()) -> NDArray[np.int32]:
        """Return the next tokens, up to the first that lacks one of the values in `stop`."""
        made = []
        for _ in range(tokens):
            made.append(self.rows_of[self.inner.advance(1)[0, 0]])
            if stops(made[-1].tolist(), stop):
                break
        rows = np.stack(made)
        self.margin = min(self.margin, self.inner.margin)
        self._kept.append(rows)
        return rows

    def _absorb(self, rows: NDArray[np.int32]) -> None:
        self.prompt(rows)

    def _advance(self, last: NDArray[np.int32], tokens: int, stop: Stop) -> NDArray[np.int32]:
        assert len(last) == self.rows_of.shape[1]
        return self.advance(tokens, stop)
