"""The native engine: weights become machine code when they are loaded.

It sees only weights and attention offsets. Neurons that are 0 or 1 become logic gates; what is not
proven from the weights is checked in every token. If a check fails, or the weights cannot be turned
into gates at all, the sparse engine takes over with the same window, and `reason` says why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.logic.attention_offsets import AttentionOffsets
from tapeformer.engines.logic.not_logic import NotLogicError
from tapeformer.engines.memory import Costs
from tapeformer.engines.native.build import single_code
from tapeformer.engines.native.cache import CodeCache, MachineCode
from tapeformer.engines.native.memory_layout import MemoryLayout
from tapeformer.engines.native.ring_buffer import RingBuffer
from tapeformer.engines.stream import Stop, Stream, Value
from tapeformer.faults import Fault, TapeformerError
from tapeformer.weights.record import Token, TransformerWeights
from tapeformer.weights.verify import checked

Made = TypeVar("Made")


class Engine(Stream):
    """Runs a model as machine code, or hands it to the sparse engine."""

    name = "native"

    def __init__(
        self,
        weights: TransformerWeights,
        offsets: Sequence[int],
        window: int | None = None,
        *,
        memory: int | None = None,
        cache: Path | None = None,
    ) -> None:
        self.reason = ""
        self._successor: Stream | None = None
        code = self._unless_refused(lambda: single_code(checked(weights), CodeCache(cache)))
        per_token = 2 * 8 * code.layout.stride + 8 * weights.key_width if code else 16
        super().__init__(weights, offsets, window, Costs("native", 0, per_token, memory))
        self._ring = self._unless_refused(partial(self._ring_for, code)) if code else None
        if self.reason:
            self._hand_over()

    def _unless_refused(self, make: Callable[[], Made]) -> Made | None:
        """Return what `make` returns; None, and a reason, if there can be no machine code."""
        try:
            return make()
        except NotLogicError as error:
            self.reason = str(error)
            return None

    def _ring_for(self, code: MachineCode[MemoryLayout]) -> RingBuffer:
        return RingBuffer(
            code, AttentionOffsets(self.weights, self.offsets, self.window), self.window
        )

    def restart(self) -> None:
        """Forget the context, so that another prompt can follow without reloading the model."""
        self.margin = float("inf")
        if self._ring is None:
            self._hand_over()
            return
        self._successor, self.name, self.reason = None, Engine.name, ""
        self._ring.clear()

    def prompt(self, tokens: Sequence[Token] | NDArray[np.integer]) -> None:
        """Append tokens to the context, which need not be empty."""
        if self._successor is not None:
            self._successor.prompt(tokens)
        elif len(tokens):
            self._native().write(self._rows(tokens))

    def advance(self, tokens: int, stop: Stop = ()) -> NDArray[np.int32]:
        """Return the next tokens, a row for each: see `Stream.advance`."""
        pieces = [np.zeros((0, len(self.weights.factors)), np.int32)]
        left = tokens
        while left and self._successor is None:
            ring = self._started()
            made, _ = self._made(min(left, ring.capacity - 1), stop, None)
            pieces.append(ring.newest(made))
            left = 0 if ring.stopped else left - made
        if left and self._successor is not None:
            pieces.append(self._successor.advance(left, stop))
            self.margin = min(self.margin, self._successor.margin)
        return np.concatenate(pieces)

    def run(self, most: int, stop: Stop = (), count: Value | None = None) -> tuple[int, int]:
        """Make tokens without returning them: see `Stream.run`."""
        if self._successor is None:
            self._started()
            return self._made(most, stop, count)
        made, hits = self._successor.run(most, stop, count)
        self.margin = min(self.margin, self._successor.margin)
        return made, hits

    def window_tokens(self, dropped: int = 0) -> NDArray[np.int32]:
        """Return the most recent tokens, oldest first: see `Stream.window_tokens`."""
        if self._successor is not None:
            return self._successor.window_tokens(dropped)
        ring = self._native()
        return ring.newest(min(ring.seen - dropped, self.window), dropped)

    def last_token(self) -> Token:
        """Return the newest token."""
        if self._successor is not None:
            return self._successor.last_token()
        return tuple(self._started().newest(1)[0].tolist())

    def _native(self) -> RingBuffer:
        assert self._ring is not None
        return self._ring

    def _started(self) -> RingBuffer:
        ring = self._native()
        if not ring.seen:
            raise TapeformerError(Fault("nothing to continue", expected="a prompt first"))
        return ring

    def _made(self, most: int, stop: Stop, count: Value | None) -> tuple[int, int]:
        """Run machine code; hand over to the sparse engine if a neuron is neither 0 nor 1."""
        ring = self._native()
        made, counted = ring.run(most, stop, count)
        self.margin = min(self.margin, ring.margin())
        if ring.doubted:
            self.reason = "a neuron was neither 0 nor 1"
            window = self.window_tokens()
            self._hand_over().prompt(window)
        return made, counted

    def _hand_over(self) -> Stream:
        """Switch to the sparse engine, imported only now because that takes a second."""
        from tapeformer.engines import sparse

        self._successor = sparse.Engine(self.weights, self.offsets, self.window)
        self.name = self._successor.name
        return self._successor

    def _absorb(self, rows: NDArray[np.int32]) -> None:
        self._native().write(rows)

    def _advance(self, last: NDArray[np.int32], tokens: int, stop: Stop) -> NDArray[np.int32]:
        assert len(last) == len(self.weights.factors)
        return self.advance(tokens, stop)
