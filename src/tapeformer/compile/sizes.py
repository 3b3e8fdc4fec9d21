"""How the sizes of a model are chosen where its user left them open."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from tapeformer.bundle.record import Bundle
from tapeformer.compile.options import CompileOptions
from tapeformer.constructions import construction
from tapeformer.constructions.sizes import Need
from tapeformer.faults import counted
from tapeformer.machine.record import TuringMachine
from tapeformer.simulator.outcome import Outcome

if TYPE_CHECKING:
    from tapeformer.simulator.result import Result

SEARCHED_STEPS = 10**7
"""How far a direct simulation looks for the space that a construction must know in advance."""

log = logging.getLogger("tapeformer")


class SpaceSearch:
    """Finds the space that a run of up to some steps needs, by a direct simulation when asked."""

    def __init__(self, machine: TuringMachine, word: Sequence[str], steps: int) -> None:
        self.machine, self.word, self.steps = machine, word, steps

    @cached_property
    def result(self) -> Result:
        """The simulation, up to as many steps as are searched."""
        from tapeformer.simulator.fast import simulate

        return simulate(self.machine, self.word, max_steps=min(self.steps, SEARCHED_STEPS))

    @property
    def whole(self) -> bool:
        """Whether all of the run was simulated: only then is the space surely enough."""
        stopped = self.result.outcome not in (Outcome.LIMIT, Outcome.OUT_OF_SPACE)
        return stopped or self.result.steps == self.steps

    def space(self) -> int:
        """Return the cells that a tape was seen to need."""
        return max(*self.result.cells, len(self.word), 1)


def for_every_word(machine: TuringMachine, options: CompileOptions) -> CompileOptions:
    """Choose sizes for a model that must do for every input that fits."""
    return _chosen(machine, options, Need())


def for_words(machine: TuringMachine, options: CompileOptions, longest: int) -> CompileOptions:
    """Choose sizes for inputs up to a length, run by one model that cannot grow."""
    return _chosen(machine, options, Need(length=longest))


def for_word(
    machine: TuringMachine, options: CompileOptions, word: Sequence[str]
) -> CompileOptions:
    """Choose sizes for one input; a model that grows begins as small as the input allows."""
    space = _noted(SpaceSearch(machine, word, SEARCHED_STEPS))
    return _chosen(machine, options, Need(len(word), space, growing=True))


def for_steps(
    machine: TuringMachine, options: CompileOptions, word: Sequence[str], steps: int
) -> CompileOptions:
    """Choose sizes that hold a run up to some steps, or as many of them as are searched."""
    return for_runs(machine, options, len(word), _noted(SpaceSearch(machine, word, steps)))


def for_runs(
    machine: TuringMachine, options: CompileOptions, longest: int, space: Callable[[], int]
) -> CompileOptions:
    """Choose sizes that hold all of some runs; `space` finds the cells that a tape of them needs."""
    if options.grows:
        options = replace(options, space=space())
    return _chosen(machine, options, Need(longest, space))


def larger(options: CompileOptions, bundle: Bundle) -> CompileOptions:
    """Return the options of the model that a run continues with when this one is full."""
    layout = bundle.layout
    more_levels = construction(layout.construction).more_levels
    assert more_levels is not None
    return replace(options, levels=more_levels(layout.levels, layout.base), base=layout.base)


def _chosen(machine: TuringMachine, options: CompileOptions, need: Need) -> CompileOptions:
    return options.with_sizes(options.made_by.choose(machine, options.sizes, need))


def _noted(search: SpaceSearch) -> Callable[[], int]:
    def found() -> int:
        """Return the space that a search finds, and log it."""
        space, made = search.space(), counted(search.result.steps, "step")
        log.info("no size was given: space=%s, from a direct simulation of %s", space, made)
        return space

    return found
