"""How many steps a token can make: estimated from paths and names, before anything is built."""

from __future__ import annotations

from dataclasses import dataclass

from tapeformer.constructions.realtime.fields import Fields
from tapeformer.constructions.realtime.speedup.paths import ends
from tapeformer.constructions.realtime.speedup.rounds import rounds_for
from tapeformer.constructions.sizes import refuse
from tapeformer.machine.record import TuringMachine

MOST_STEPS = 64
MOST_PATHS = 20_000
MOST_DEPTH = 128
MOST_NEURONS = 1 << 20
"""About a gigabyte of memory and a minute or two of compiling."""

ROUND_DEPTH, OTHER_DEPTH = 4, 5
NEURONS_PER_VALUE = 1.5
"""Neurons for each factor of a token in each layer, most of which carry a value on: measured."""


@dataclass(frozen=True)
class Estimate:
    """What several steps in a token cost: the paths of all rounds, and the network's size."""

    paths: int
    depth: int
    neurons: int

    @property
    def fits(self) -> bool:
        """Whether such a model can be built."""
        few = self.paths <= MOST_PATHS and self.neurons <= MOST_NEURONS
        return few and self.depth <= MOST_DEPTH

    def __str__(self) -> str:
        return f"{self.paths:,} paths, depth {self.depth}, {self.neurons:,} neurons"


def estimate(machine: TuringMachine, levels: int, steps: int) -> Estimate:
    """Estimate from above what a model would need."""
    rounds = rounds_for(machine, steps)
    fields = Fields(machine, levels, steps)
    depth = ROUND_DEPTH * len(rounds) + OTHER_DEPTH
    values = len(fields.queues()) + len(fields.registers())
    neurons = round(NEURONS_PER_VALUE * values * depth)
    return Estimate(sum(ends(trees) for _, trees in rounds), depth, neurons)


def check_steps(machine: TuringMachine, levels: int, steps: int) -> None:
    """Refuse more steps in a token than a model can be built for, naming the most that can."""
    found = estimate(machine, levels, min(steps, MOST_STEPS))
    if steps <= MOST_STEPS and found.fits:
        return
    most = f"{MOST_PATHS:,} paths, depth {MOST_DEPTH}, {MOST_NEURONS:,} neurons"
    raise refuse(
        f"{steps} steps in a token are too many for this machine",
        expected=f"at most {MOST_STEPS} steps, {most}",
        got=f"{steps} steps" if steps > MOST_STEPS else str(found),
        remedy=f"give steps_per_token={largest_steps(machine, levels)} or less",
    )


def largest_steps(machine: TuringMachine, levels: int) -> int:
    """Return the most steps in a token for which a model can be built."""
    low, high = 1, MOST_STEPS + 1
    while high - low > 1:
        middle = (low + high) // 2
        fits = estimate(machine, levels, middle).fits
        low, high = (middle, high) if fits else (low, middle)
    return low
