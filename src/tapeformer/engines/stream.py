"""What every engine has in common: a prompt goes in, tokens come out, only the window is kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.memory import Costs, check_memory
from tapeformer.faults import Fault, TapeformerError, quoted
from tapeformer.weights.positions import window_for
from tapeformer.weights.record import Token, TransformerWeights
from tapeformer.weights.verify import checked

Value: TypeAlias = tuple[int, int]
"""A factor of a token and one of its values, both by number."""

Stop: TypeAlias = tuple[()] | tuple[Value] | tuple[Value, Value]
"""Values that tokens must have for a run to go on: no more than machine code can watch."""


PIECE = 256
"""Tokens made at a time where they are not shown."""


class Stream(ABC):
    """A Transformer that generates tokens one after another, with memory for the window only.

    `offsets` has the look-back of each positional coordinate; a query sees the `window` most
    recent tokens (as many as the offsets need, where none is given). `margin` is the smallest
    distance seen between the largest and the second logit of a factor; `name` says which engine
    makes the tokens now.
    """

    name = ""

    def __init__(
        self,
        weights: TransformerWeights,
        offsets: Sequence[int],
        window: int | None,
        costs: Costs,
    ) -> None:
        self.weights = checked(weights)
        self.offsets = tuple(offsets)
        self.window = window_for(offsets) if window is None else window
        self.margin = float("inf")
        _check_positions(self)
        check_memory(costs, self.window)

    @cached_property
    def _kept(self) -> TokenWindow:
        return TokenWindow(self.window, len(self.weights.factors))

    def prompt(self, tokens: Sequence[Token] | NDArray[np.integer]) -> None:
        """Append tokens to the context; they need not be the first."""
        rows = self._rows(tokens)
        if len(rows):
            self._absorb(np.concatenate([self._kept.rows()[-1:], rows[:-1]]))
            self._kept.append(rows)

    def generate(self, max_tokens: int) -> Iterator[Token]:
        """Yield the next tokens, one by one."""
        for _ in range(max_tokens):
            yield tuple(self.advance(1)[0].tolist())

    def advance(self, tokens: int, stop: Stop = ()) -> NDArray[np.int32]:
        """Return the next tokens, a row for each, up to the first that lacks one of the values in `stop`."""
        if not len(self._kept.rows()):
            raise TapeformerError(Fault("nothing to continue", expected="a prompt first"))
        rows = self._advance(self._kept.rows()[-1], tokens, stop)
        self._kept.append(rows)
        return rows

    def run(self, most: int, stop: Stop = (), count: Value | None = None) -> tuple[int, int]:
        """Make tokens without showing them: how many, and how many of them had a counted value.

        It ends after `most` tokens, or after the first that lacks one of the values in `stop`, or
        earlier where the rest will take much longer: another engine has taken over.
        """
        made = counted = 0
        while made < most:
            rows = self.advance(min(most - made, PIECE), stop)
            made += len(rows)
            counted += 0 if count is None else int((rows[:, count[0]] == count[1]).sum())
            if stops(rows[-1].tolist(), stop):
                break
        return made, counted

    def window_tokens(self, dropped: int = 0) -> NDArray[np.int32]:
        """Return the most recent tokens, oldest first.

        They are all that another engine needs to go on from here, if heads fetch only what depends
        on one token (`weights.positions.fetches_tokens`).
        With `dropped`, which is 0 or 1, the window is that of so many tokens before.
        """
        return self._kept.rows(dropped).copy()

    def last_token(self) -> Token:
        """Return the newest token."""
        return tuple(self._kept.rows()[-1].tolist())

    def follow(self, smaller: Stream) -> None:
        """Take over a run from the engine of a smaller model: what it has seen, not its tokens."""
        self.margin = min(self.margin, smaller.margin)

    def _rows(self, tokens: Sequence[Token] | NDArray[np.integer]) -> NDArray[np.int32]:
        sizes = np.array([len(factor.values) for factor in self.weights.factors])
        rows = np.asarray(tokens, dtype=np.int32).reshape(len(tokens), -1 if len(tokens) else 0)
        if len(rows) and (rows.shape[1] != len(sizes) or (rows < 0).any() or (rows >= sizes).any()):
            expected = f"{len(sizes)} value numbers, each below the size of its factor's domain"
            raise TapeformerError(
                Fault("a prompt has a token of another alphabet", expected=expected)
            )
        return rows

    @abstractmethod
    def _absorb(self, rows: NDArray[np.int32]) -> None:
        """Take tokens into the context without asking for the one that follows."""

    @abstractmethod
    def _advance(self, last: NDArray[np.int32], tokens: int, stop: Stop) -> NDArray[np.int32]:
        """Generate tokens after `last`, the only one in the context not yet absorbed."""


def stops(token: Sequence[int] | NDArray[np.integer], stop: Stop) -> bool:
    """Return whether a token lacks a value that a run needs to go on."""
    return any(token[factor] != value for factor, value in stop)


def check_choice(what: str, choice: str, known: Sequence[str]) -> None:
    """Refuse an option that an engine does not have."""
    if choice not in known:
        raise TapeformerError(
            Fault(f"unknown {what}", expected="one of " + ", ".join(known), got=quoted(choice))
        )


def _check_positions(stream: Stream) -> None:
    rules = len(stream.weights.position_rules)
    if len(stream.offsets) != rules or min(stream.offsets, default=0) < 0 or stream.window < 1:
        raise TapeformerError(
            Fault(
                "the offsets do not fit the model",
                expected=f"{rules} look-backs of 0 or more, and a window of 1 or more",
                got=f"{len(stream.offsets)} look-backs, window {stream.window}",
            )
        )


class TokenWindow:
    """The most recent tokens, at a constant cost per token: a buffer of twice what is kept.

    One more than the window is kept, so that the newest can be dropped.
    """

    def __init__(self, window: int, factors: int) -> None:
        self.window, self.end = window, 0
        self.buffer: NDArray[np.int32] = np.zeros((2 * (window + 1), factors), np.int32)

    def rows(self, dropped: int = 0) -> NDArray[np.int32]:
        """Return the window, or that of some tokens before, oldest first."""
        end = self.end - dropped
        return self.buffer[max(end - self.window, 0) : end]

    def append(self, rows: NDArray[np.int32]) -> None:
        """Add tokens; the oldest fall out."""
        rows = rows[-self.window - 1 :]
        if self.end + len(rows) > len(self.buffer):
            kept = self.buffer[max(self.end - self.window - 1, 0) : self.end].copy()
            self.buffer[: len(kept)] = kept
            self.end = len(kept)
        self.buffer[self.end : self.end + len(rows)] = rows
        self.end += len(rows)
