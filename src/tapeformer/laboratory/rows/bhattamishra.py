"""Bhattamishra, Patel and Goyal 2020: a decoder whose output vector is fed back; a tape is two numbers.

The vector holds a stack on either side of each head as one rational number, so the precision grows
with the depth of the stacks. Nothing is ever rounded to a token.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from tapeformer.laboratory.arithmetic import Arithmetic, Array, Exact, Ieee
from tapeformer.laboratory.attention import Cache, attend, remember
from tapeformer.laboratory.coordinates import (
    Fields,
    applied,
    maps_in,
)
from tapeformer.laboratory.experiment import (
    Generated,
    Goes,
    Lengths,
    Shape,
    Wrong,
    sized,
)
from tapeformer.laboratory.preparation import (
    STOP,
    Prepared,
    StepMade,
    Sweep,
    fresh,
    refuse_blank_in_word,
    two_way,
)
from tapeformer.laboratory.row import Bounds, Row, Task
from tapeformer.laboratory.stack_network import END, SIDES, StackNetwork
from tapeformer.laboratory.transformer import Token, columns
from tapeformer.machine.record import Move, TuringMachine


def loaded(machine: TuringMachine) -> Prepared:
    """Start behind the word, which n + 1 vectors have pushed, and go back to its start: n + 2 steps."""
    prepared = two_way(machine)
    inner, before = prepared.machine, prepared.prefix
    turn, back = fresh("turn", inner), fresh("back", inner)
    sweep = Sweep(inner)
    rules = [sweep.rule(turn, inner.blank, Move.LEFT, back), *sweep.back(back)]
    made = replace(inner, start=turn, rules=(*rules, *inner.rules), cases=())
    return replace(prepared, machine=made, prefix=lambda n: n + 2 + before(n), head=lambda n: n)


@dataclass(frozen=True)
class VectorExperiment:
    """A recurrence of vectors beside the trace that its state and symbols must show."""

    task: Task
    net: StackNetwork

    @cached_property
    def wanted(self) -> tuple[Any, ...]:
        """The state and symbols read before every step of the prepared machine."""
        self.task.check()
        trace = self.task.trace
        stop = ((STOP, trace.seen[-1][1]),) if trace.stopped else ()
        return (*trace.seen, *stop)

    @cached_property
    def exact_from(self) -> int | None:
        """The mantissa of this run's sums: multiples of the last digit's place, below twice the base."""
        if self.net.base & (self.net.base - 1):
            return None
        return self._deepest(len(self.wanted)) + (2 * self.net.base).bit_length()

    def _deepest(self, steps: int) -> int:
        """Return the binary digits behind the point that the stacks have had."""
        return max(Fraction(x).denominator.bit_length() - 1 for x in self._stacks(steps))

    def _stacks(self, steps: int) -> Iterator[Any]:
        keys = [self.net.fields.index[f"{side}.{t}"] for side in SIDES for t in self.net.tapes]
        for _, x in zip(
            range(len(self.task.word) + steps + 1), self.vectors(Exact()), strict=False
        ):
            yield from (x[key, 0] for key in keys)

    def reference(self) -> Arithmetic:
        """Return rationals."""
        return Exact()

    def vectors(self, numbers: Arithmetic) -> Iterator[Array]:
        """Feed each output vector back, from the first on."""
        net, machine = self.net, self.task.machine
        letters = enumerate((*self.task.word, END), 1)
        encoded = [{("x", letter): 1, "one": 1, "t": place} for place, letter in letters]
        cache = Cache()
        remember(net.cross, columns(net.fields, encoded, numbers), cache, numbers)
        first = {("q", net.load): 1, **{(f"c.{t}", machine.blank): 1 for t in net.tapes}}
        x, time = columns(net.fields, [first], numbers), 0
        while True:
            time += 1
            with np.errstate(all="ignore"):
                place = columns(net.fields, [{"one": 1, "t": time}], numbers)
                x = numbers.rounded(x + place)
                x = numbers.rounded(x + attend(net.cross, x, cache, numbers)[0])
                x = applied(net.network, x, numbers)
            yield x

    def shown(self, x: Array) -> tuple[str, tuple[str, ...]]:
        """Read state and symbols from a vector."""
        net = self.net
        state = _largest(x, net.fields, "q", net.states)
        return state, tuple(_largest(x, net.fields, f"c.{t}", net.symbols) for t in net.tapes)

    def first_wrong(self, numbers: Arithmetic) -> Wrong | None:
        """Return the first vector that shows another state or symbol."""
        vectors = self.vectors(numbers)
        for _ in self.task.word:
            next(vectors)
        for place, wanted in enumerate(self.wanted):
            seen = self.shown(next(vectors))
            if seen != wanted:
                step = max(0, place - self.task.prefix)
                return Wrong(
                    step,
                    len(self.task.word) + place + 1,
                    self._reason(place, wanted, seen, numbers),
                )
        return None

    def _reason(self, place: int, wanted: Any, seen: Any, numbers: Arithmetic) -> str:
        text = f"vector {place} shows {seen[0]} {' '.join(seen[1])}, not {wanted[0]} {' '.join(wanted[1])}"
        if isinstance(numbers, Exact):
            return f"{text}: the model itself is wrong"
        return f"{text}: the stacks need {self.stack_bits(place)} bits by then"

    def stack_bits(self, place: int) -> int:
        """Return the longest mantissa of a stack up to a step of the prepared machine."""
        return max(Fraction(x).numerator.bit_length() for x in self._stacks(place))

    def shape(self) -> Shape:
        """Return the size of the decoder."""
        net, cross = self.net, self.net.cross
        maps = maps_in((*net.network, *cross.query, *cross.key, *cross.value))
        return sized(net.fields.size, (1,), maps, [net.network])

    def lengths(self) -> Lengths:
        """Return the vectors; heads look at the word and its end mark only."""
        vectors = len(self.task.word) + len(self.wanted)
        return Lengths(vectors, vectors + len(self.task.word) + 1, len(self.task.word) + 1)

    def seconds_per_token(self, tokens: int = 16) -> float:
        """Return the mean time of one vector in double precision."""
        vectors = self.vectors(Ieee("double"))
        started = perf_counter()
        for _ in range(tokens):
            next(vectors)
        return (perf_counter() - started) / tokens

    def boot(self) -> int:
        """Return the vectors before the machine's first step: the word, its end, and the prefix."""
        return len(self.task.word) + self.task.prefix + 1

    def generate(self, numbers: Arithmetic, goes: Goes) -> Generated:
        """Run the recurrence; a token is the state and the symbols that a vector shows."""
        made: list[Token] = []
        lengths = self.lengths()
        for x in self.vectors(numbers):
            made.append(self.shown(x))
            if not goes(made) or made[-1][0] == STOP or len(made) >= lengths.tokens:
                break
        return Generated(tuple(made), len(self.task.word) + 1, lengths.window, float("inf"))

    def read(self, tokens: Sequence[Token]) -> list[StepMade]:
        """Read vectors behind the word as configurations, and two of them as a step."""
        made: list[StepMade] = []
        delta = self.task.prepared.delta
        for before, (state, _) in pairwise(tokens[len(self.task.word) :]):
            _, written, moves = delta.get(before, (STOP, before[1], (0,) * len(before[1])))
            made.append((state, written, moves))
        return made


def _largest(x: Array, names: Fields, block: str, values: tuple[str, ...]) -> str:
    return values[int(np.argmax([x[names.index[block, value], 0] for value in values]))]


def experiment(task: Task, **options: Any) -> VectorExperiment:
    """Return the recurrence of a task."""
    return VectorExperiment(task, StackNetwork(task.prepared, **options))


ROW = Row(
    name="bhattamishra",
    title="Bhattamishra et al. 2020",
    source="Bhattamishra, Patel, Goyal: On the Computational Power of Transformers and Its Implications in Sequence Modeling, CoNLL (2020)",
    provenance="a reconstruction from the abstract and general knowledge of the proof",
    printed=Bounds("unbounded", "O(1)", "n + t", "O(t)"),
    experiment=experiment,
    prepare=loaded,
    several_tapes=True,
    check_word=refuse_blank_in_word,
    ablations={"a base that is no power of two": partial(experiment, dyadic=False)},
)
