"""What engines for many inputs at once have in common: prompts go in, inputs that have ended come out.

Inputs are numbered from 0. Prompts begin side by side at place 0, so one place of the context is the
same for all. A back end yields inputs in the order in which they end, those that have ended together in
one or several parts, and its `Windows` are valid until it is asked for more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tapeformer.dataclass import dataclass
from tapeformer.engines.logic.machine_words import COUNTER_DIGITS
from tapeformer.windows import Flags, Integers, Windows, numbered_within

if TYPE_CHECKING:
    from tapeformer.engines.stream import Value

Counted: TypeAlias = "tuple[tuple[Value, int], ...]"
"""Values that are counted, and how much a token that has one of them adds."""


@dataclass(frozen=True, eq=False)
class Prompts:
    """Prompts that share few different tokens: `rows[ids[place, input]]` is a token.

    Every prompt has at least one token; places after the end of a prompt have any number.
    """

    rows: NDArray[np.int32]
    ids: NDArray[np.int32]
    lengths: Integers

    def __len__(self) -> int:
        return len(self.lengths)

    def part(self, inputs: Integers) -> Prompts:
        """Return the prompts of some inputs."""
        lengths = self.lengths[inputs]
        return Prompts(self.rows, self.ids[: lengths.max(initial=0), inputs], lengths)


def prompts_of(tokens: Sequence[NDArray[np.int32]]) -> Prompts:
    """Return prompts that are given token by token."""
    lengths = np.array([len(rows) for rows in tokens], np.int64)
    rows, found = np.unique(np.concatenate(tokens), axis=0, return_inverse=True)
    ids = np.zeros((int(lengths.max()), len(tokens)), np.int32)
    inputs = np.repeat(np.arange(len(tokens)), lengths)
    places = numbered_within(lengths)
    ids[places, inputs] = found.reshape(-1)
    return Prompts(rows.astype(np.int32), ids, lengths)


UNLIMITED = 1 << COUNTER_DIGITS - 1
"""A limit that no run reaches: five million tokens a second take most of a year."""


@dataclass(frozen=True)
class Budget:
    """How far each input may go while the watched value does not change."""

    counted: int
    tokens: int

    def bounded(self) -> Budget:
        """Return the budget within what counters hold."""
        return Budget(min(self.counted, UNLIMITED), min(self.tokens, UNLIMITED))


@dataclass(frozen=True, eq=False)
class Ended:
    """Some inputs at their ends, an entry for each: tokens made, the count, tokens before the first counted.

    `doubted`: a neuron was neither 0 nor 1, and another engine must be asked; `stopped`: the watched
    value has changed, otherwise a limit was reached. `inputs` numbers them in the batch, while
    `windows` has them in the order in which they stand here.
    """

    inputs: Integers
    tokens: Integers
    counted: Integers
    before: Integers
    margin: NDArray[np.float64]
    stopped: Flags
    doubted: Flags
    windows: Windows


class BatchEngine(Protocol):
    """Runs many inputs of one model, `inputs` at a time."""

    @property
    def name(self) -> str:
        """The engine's name on the command line."""

    @property
    def inputs(self) -> int:
        """How many inputs keep it busy: a call with fewer takes hardly less time."""

    def run(
        self, prompts: Prompts, stop: Value, count: Counted, budget: Budget
    ) -> Iterator[list[Ended]]:
        """Run every prompt until its watched value changes, or to a limit; yield those that end.

        Now and then it yields none, so that the caller can stop.
        """
