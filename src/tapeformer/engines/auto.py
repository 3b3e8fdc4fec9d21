"""The engine that is meant where none is named: machine code when it is there or pays, else sparse.

Making machine code takes a second or more. Where it was made before, it is used at once. Otherwise
the sparse engine begins; a run that has made many tokens is likely to make many more, so the window
is handed over then, if it is all that counts. No token changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.memory import Costs
from tapeformer.engines.native.build import is_made
from tapeformer.engines.native.cache import CodeCache
from tapeformer.engines.stream import Stop, Stream, Value, stops
from tapeformer.weights.count import count
from tapeformer.weights.positions import fetches_tokens
from tapeformer.weights.record import Token, TransformerWeights

PAYS_AFTER = 1_000
"""Tokens after which the machine code of a small model is made."""
PARAMETERS_PER_TOKEN = 30
"""A larger model waits for another token for so many nonzero parameters.

Its code takes longer to make. Up to then the sparse engine has taken about a quarter of that time,
so a long run loses little, and a short one does not wait for code that it does not need.
"""


class Engine(Stream):
    """Hands a run from the sparse to the native engine once it is long."""

    def __init__(
        self, weights: TransformerWeights, offsets: Sequence[int], window: int | None = None
    ) -> None:
        super().__init__(weights, offsets, window, Costs("auto", 0, 0, None))
        self._made = 0
        self._stream: Stream | None = None
        self._settled = is_made(self.weights, CodeCache())
        self.name = "native" if self._settled else "sparse"

    def prompt(self, tokens: Sequence[Token] | NDArray[np.integer]) -> None:
        """Append tokens to the context."""
        self._chosen(0).prompt(tokens)

    def advance(self, tokens: int, stop: Stop = ()) -> NDArray[np.int32]:
        """Return the next tokens, a row for each: see `Stream.advance`."""
        rows = self._chosen(tokens).advance(tokens, stop)
        self._count(len(rows))
        return rows

    def run(self, most: int, stop: Stop = (), count: Value | None = None) -> tuple[int, int]:
        """Make tokens without showing them: see `Stream.run`."""
        total = counted = 0
        while total < most:
            stream = self._chosen(0)
            room = most - total if self._settled else min(most - total, self._pays_after)
            made, hits = stream.run(room, stop, count)
            self._count(made)
            total, counted = total + made, counted + hits
            if made < room or stops(stream.last_token(), stop):
                break
        return total, counted

    def window_tokens(self, dropped: int = 0) -> NDArray[np.int32]:
        """Return the most recent tokens, oldest first: see `Stream.window_tokens`."""
        return self._present.window_tokens(dropped)

    def last_token(self) -> Token:
        """Return the newest token."""
        return self._present.last_token()

    def follow(self, smaller: Stream) -> None:
        """Take over a run: tokens made by the engine of a smaller model count."""
        super().follow(smaller)
        self._made += smaller._made if isinstance(smaller, Engine) else 0

    def _count(self, made: int) -> None:
        stream = self._chosen(0)
        self._made += made
        self.margin, self.name = min(self.margin, stream.margin), stream.name

    @property
    def _present(self) -> Stream:
        """The engine that has the tokens: to look at them is no reason to hand them over.

        What is handed over is a window, without the token before it that dropping one brings back.
        """
        return self._stream or self._chosen(0)

    def _chosen(self, wanted: int) -> Stream:
        """Return the engine at work: machine code where what was made, or is wanted now, is enough."""
        pays = max(self._made, wanted) >= self._pays_after
        if self._stream is None:
            self._settled |= pays
            self._stream = self._engine()
        elif pays and not self._settled and self._window_is_enough:
            window, self._settled = self._stream.window_tokens(), True
            self._stream = self._engine()
            self._stream.prompt(window)
        return self._stream

    @cached_property
    def _pays_after(self) -> int:
        return PAYS_AFTER + count(self.weights).nonzero_parameters // PARAMETERS_PER_TOKEN

    @cached_property
    def _window_is_enough(self) -> bool:
        return fetches_tokens(self.weights)

    def _engine(self) -> Stream:
        """Only the one in use is imported: native code brings LLVM."""
        module = import_module(f"tapeformer.engines.{'native' if self._settled else 'sparse'}")
        stream: Stream = module.Engine(self.weights, self.offsets, self.window)
        return stream

    def _absorb(self, rows: NDArray[np.int32]) -> None:
        self._chosen(0).prompt(rows)

    def _advance(self, last: NDArray[np.int32], tokens: int, stop: Stop) -> NDArray[np.int32]:
        assert len(last) == len(self.weights.factors)
        return self.advance(tokens, stop)
