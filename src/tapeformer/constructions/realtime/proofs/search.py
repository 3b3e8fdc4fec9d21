"""How long a stack operation can wait in a base above 2: the worst that a fixed search finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from tapeformer.constructions.realtime.layout import capacity
from tapeformer.constructions.realtime.model import StackModel

LEVELS = {4: 4, 6: 3, 8: 3}
"""The levels with which each base is searched."""


@dataclass(frozen=True)
class Workload:
    """Fill a stack, then again and again push (positive) and pop (negative) runs of symbols."""

    fill: int
    runs: tuple[int, ...]
    times: int = 1


@dataclass(frozen=True)
class Measured:
    """Tokens per operation after the filling, and the most tokens that one operation waited."""

    average: float
    longest_wait: int


@dataclass(frozen=True)
class Worst:
    """The worst average and the worst single wait that were found, each with its workload."""

    base: int
    levels: int
    average: float
    average_by: Workload
    longest_wait: int
    longest_wait_by: Workload


def measured(base: int, levels: int, workload: Workload) -> Measured:
    """Run a workload on the model of one stack, which also holds END."""
    stack = StackModel(base, levels)
    longest = max(_wait(stack, 1) for _ in range(workload.fill + 1))
    begun, operations = stack.tokens, 0
    for run in workload.runs * workload.times:
        for _ in range(abs(run)):
            longest = max(longest, _wait(stack, 1 if run > 0 else -1))
        operations += abs(run)
    return Measured((stack.tokens - begun) / operations, longest)


def _wait(stack: StackModel, want: int) -> int:
    """Return the tokens that pass before an operation is done."""
    waited = 0
    while not stack.advance(want):
        waited += 1
    return waited


def worst_found(base: int, levels: int, tries: int, seed: int = 0) -> Worst:
    """Return the worst over `tries` random workloads, and over draining a well filled stack."""
    drained = capacity(levels, base) // 2
    tried = [Workload(drained, (-drained,)), *_random_workloads(base, levels, tries, seed)]
    found = [(measured(base, levels, workload), workload) for workload in tried]
    slow, slow_by = max(found, key=lambda pair: pair[0].average)
    late, late_by = max(found, key=lambda pair: pair[0].longest_wait)
    return Worst(base, levels, slow.average, slow_by, late.longest_wait, late_by)


def _random_workloads(base: int, levels: int, tries: int, seed: int) -> Iterator[Workload]:
    """Yield swings of every size around every depth, some with a smaller swing inside."""
    rng, most = Random(seed), capacity(levels, base)
    for _ in range(tries):
        fill = int(rng.uniform(0.05, 0.8) * most)
        swing = int(base ** rng.uniform(0, levels + 0.5))
        inner = rng.choice((0, rng.randint(1, base * base)))
        if rng.random() < 0.5:
            out = -min(swing, fill - inner)
        else:
            out = min(swing, most - fill - inner - 1)
        if out:
            sign = 1 if out > 0 else -1
            runs = (out, sign * inner, -sign * inner, -out) if inner else (out, -out)
            yield Workload(fill, runs, max(1, 1500 // sum(map(abs, runs))))
