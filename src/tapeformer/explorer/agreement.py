"""Compare tokens with the direct simulation: state and symbols under the heads, at every token."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tapeformer.explorer.truth import Truth
from tapeformer.inference.decode import Reader

Numbers = NDArray[np.int32]


class Agreement:
    """Says for each token of one model whether it is what the direct simulation has at its step."""

    def __init__(self, reader: Reader, truth: Truth) -> None:
        self.reader, self.truth = reader, truth
        self._place = {factor.name: at for at, factor in enumerate(reader.factors)}
        machine = truth.machine
        self._states = self._numbers(reader.state, machine.states)
        reading = reader.bundle.answer["reading"]
        assert isinstance(reading, dict)
        coded = reading.get("coded") or [[] for _ in range(machine.tapes)]
        self._heads = [self._head(tape, coded[tape]) for tape in range(machine.tapes)]

    def of(
        self, rows: Numbers, steps: NDArray[np.int64], stepped: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Compare tokens, given the steps up to each; one that completes no step agrees."""
        states, heads = self.truth.seen(steps)
        same = self._states[rows[:, self.reader.state]] == states
        for tape, head in enumerate(self._heads):
            if head is not None:
                same &= self._symbols(rows, head) == heads[:, tape]
        return np.asarray(same | ~stepped, np.bool_)

    def _head(self, tape: int, coded: Sequence[str]) -> tuple[list[int], Numbers] | None:
        """Return the fields that hold the symbol under a head, and each value's symbol."""
        name, symbols = f"tape{tape + 1}/head", self.truth.machine.symbols
        if coded:
            bits = (f"{name}.bit{bit}" for bit in range(len(coded)))
            places = [self._place[bit] for bit in bits if bit in self._place]
            known = np.array([symbols.index(symbol) for symbol in coded], np.int32)
            return (places, known) if places else None
        if name not in self._place:
            return None
        return [self._place[name]], self._numbers(self._place[name], symbols)

    def _symbols(self, rows: Numbers, head: tuple[list[int], Numbers]) -> Numbers:
        places, symbols = head
        if len(places) == 1:
            return symbols[rows[:, places[0]]]
        number = sum(rows[:, place].astype(np.int64) << bit for bit, place in enumerate(places))
        known = np.minimum(number, len(symbols) - 1)
        return np.where(number == known, symbols[known], -2).astype(np.int32)

    def _numbers(self, place: int, names: Sequence[str]) -> Numbers:
        """Return the machine's number of each value of a field; -2 where it has none."""
        index = {name: number for number, name in enumerate(names)}
        return np.array([index.get(v, -2) for v in self.reader.factors[place].values], np.int32)
