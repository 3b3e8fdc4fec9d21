"""The engine that is meant where none is named: sparse at first, machine code when it pays.

Making machine code takes a second or more. A run that has made many tokens is likely to make many
more, so the window is handed over then: no token changes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines import sparse
from tapeformer.engines.memory import Costs
from tapeformer.engines.stream import Stream, Value
from tapeformer.weights.record import Token, TransformerWeights

PAYS_AFTER = 8_000
"""Tokens after which machine code is made."""


class Engine(Stream):
    """Hands a run from the sparse to the native engine once it is long."""

    def __init__(
        self, weights: TransformerWeights, offsets: Sequence[int], window: int | None = None
    ) -> None:
        super().__init__(weights, offsets, window, Costs("auto", 0, 0, None))
        self.name = "sparse"
        self._made = 0
        self._stream: Stream = sparse.Engine(weights, offsets, window)

    def prompt(self, tokens: Sequence[Token] | NDArray[np.integer]) -> None:
        """Appends tokens to the context."""
        self._stream.prompt(tokens)

    def advance(self, tokens: int) -> NDArray[np.int32]:
        """The next tokens, a row for each."""
        self._choose(tokens)
        rows = self._stream.advance(tokens)
        self._count(len(rows))
        return rows

    def run(
        self, most: int, stop: Value | None = None, count: Value | None = None
    ) -> tuple[int, int]:
        """Makes tokens without showing them: see `Stream.run`."""
        total = counted = 0
        while total < most:
            self._choose(0)
            room = most - total if self.name == "native" else min(most - total, PAYS_AFTER)
            made, hits = self._stream.run(room, stop, count)
            self._count(made)
            total, counted = total + made, counted + hits
            if made < room:
                break
            if stop is not None and int(self._stream.window_tokens()[-1][stop[0]]) != stop[1]:
                break
        return total, counted

    def window_tokens(self) -> NDArray[np.int32]:
        """The most recent tokens, oldest first."""
        return self._stream.window_tokens()

    def _count(self, made: int) -> None:
        self._made += made
        self.margin = min(self.margin, self._stream.margin)

    def _choose(self, wanted: int) -> None:
        """Goes over to machine code where what was made, or is wanted now, is enough."""
        if self.name == "sparse" and max(self._made, wanted) >= PAYS_AFTER:
            from tapeformer.engines import native

            window = self._stream.window_tokens()
            self._stream = native.Engine(self.weights, self.offsets, self.window)
            self._stream.prompt(window)
            self.name = "native"

    def _absorb(self, rows: NDArray[np.int32]) -> None:
        self._stream.prompt(rows)

    def _advance(self, last: NDArray[np.int32], tokens: int) -> NDArray[np.int32]:
        assert len(last) == len(self.weights.factors)
        return self.advance(tokens)
