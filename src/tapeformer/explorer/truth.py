"""The direct simulation beside a run: which rule each step applies, and the tapes now and then."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tapeformer.machine.record import TuringMachine
from tapeformer.simulator.stepwise import Stepper

EVERY = 2048
"""Steps between two copies of the tapes."""


@dataclass(frozen=True)
class TapeCopy:
    """The cells of a tape between its outermost written cells, and the place of its head."""

    first: int
    cells: tuple[str, ...]
    head: int


@dataclass(frozen=True)
class Moment:
    """The machine after some steps."""

    step: int
    tapes: tuple[TapeCopy, ...]


class Truth:
    """A direct simulation that is continued as far as it is asked for.

    Of each configuration it keeps the state and the symbols under the heads, of each step the
    number of its rule; whole tapes are kept every so many steps.
    """

    def __init__(self, machine: TuringMachine, word: Sequence[str]) -> None:
        self.machine = machine
        self._stepper = Stepper(machine, word)
        self._numbers = {id(rule): number for number, rule in enumerate(machine.rules)}
        self._state = {state: number for number, state in enumerate(machine.states)}
        self._symbol = {symbol: number for number, symbol in enumerate(machine.symbols)}
        self._rules, self._states, self._heads = array("i"), array("i"), array("i")
        self._moments = [self._moment()]
        self._see()
        self.halted = False

    @property
    def steps(self) -> int:
        """The steps made so far."""
        return self._stepper.steps

    def reach(self, steps: int) -> None:
        """Continue to a number of steps, or to where no rule applies."""
        stepper = self._stepper
        while stepper.steps < steps and not self.halted:
            rule = stepper.rule()
            if rule is None:
                self.halted = True
                return
            self._rules.append(self._numbers[id(rule)])
            stepper.apply(rule)
            self._see()
            if stepper.steps % EVERY == 0:
                self._moments.append(self._moment())

    def rules(self, start: int, stop: int) -> NDArray[np.int32]:
        """Return the numbers of the rules of steps `start` + 1 to `stop`; -1 after the last."""
        self.reach(stop)
        known = np.asarray(self._rules[start:stop], np.int32)
        return np.concatenate([known, np.full(stop - start - len(known), -1, np.int32)])

    def seen(self, steps: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the state after each of some numbers of steps, and the symbols under the heads.

        Beyond the last step all are -1.
        """
        self.reach(int(steps.max(initial=0)))
        states = np.asarray(self._states, np.int32)
        heads = np.asarray(self._heads, np.int32).reshape(-1, self.machine.tapes)
        inside = np.minimum(steps, self.steps)
        beyond = steps > self.steps
        return (
            np.where(beyond, -1, states[inside]),
            np.where(beyond[:, None], -1, heads[inside]),
        )

    def moment(self, step: int) -> Moment:
        """Return the tapes after a step, or after the last one."""
        self.reach(step)
        step = min(step, self.steps)
        at = bisect_right(self._moments, step, key=lambda moment: moment.step) - 1
        stepper = _resumed(self.machine, self._moments[at])
        for number in self._rules[self._moments[at].step : step]:
            stepper.apply(self.machine.rules[number])
        return Moment(step, _copies(stepper))

    def _see(self) -> None:
        stepper, blank = self._stepper, self.machine.blank
        self._states.append(self._state[stepper.state])
        for cells, head in zip(stepper.cells, stepper.heads, strict=True):
            self._heads.append(self._symbol[cells.get(head, blank)])

    def _moment(self) -> Moment:
        return Moment(self._stepper.steps, _copies(self._stepper))


def _copies(stepper: Stepper) -> tuple[TapeCopy, ...]:
    return tuple(
        _copy(cells, head, stepper.machine.blank)
        for cells, head in zip(stepper.cells, stepper.heads, strict=True)
    )


def _copy(cells: dict[int, str], head: int, blank: str) -> TapeCopy:
    written = [place for place, symbol in cells.items() if symbol != blank]
    if not written:
        return TapeCopy(0, (), head)
    first, last = min(written), max(written)
    return TapeCopy(first, tuple(cells.get(at, blank) for at in range(first, last + 1)), head)


def _resumed(machine: TuringMachine, moment: Moment) -> Stepper:
    stepper = Stepper(machine)
    stepper.heads = [tape.head for tape in moment.tapes]
    stepper.cells = [dict(enumerate(tape.cells, tape.first)) for tape in moment.tapes]
    return stepper
