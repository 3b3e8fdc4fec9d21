"""How the sizes of a model are chosen where its user left them open."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from tapeformer.bundle.record import Bundle
from tapeformer.compile.options import CompileOptions
from tapeformer.constructions import construction
from tapeformer.constructions.sizes import Need
from tapeformer.faults import counted
from tapeformer.machine.record import TuringMachine

SEARCHED_STEPS = 10**7
"""How far a direct simulation looks for the space that a construction must know in advance."""

log = logging.getLogger("tapeformer")


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
    space = _simulated_space(machine, word, SEARCHED_STEPS)
    return _chosen(machine, options, Need(len(word), space, growing=True))


def for_steps(
    machine: TuringMachine, options: CompileOptions, word: Sequence[str], steps: int
) -> CompileOptions:
    """Choose sizes that hold all of a run up to some steps, so that nothing has to grow."""
    space = _simulated_space(machine, word, min(steps, SEARCHED_STEPS))
    return for_runs(machine, options, len(word), space)


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


def _simulated_space(machine: TuringMachine, word: Sequence[str], steps: int) -> Callable[[], int]:
    def found() -> int:
        """Find the cells that a tape needs by a direct simulation, and say so."""
        from tapeformer.simulator.fast import simulate

        result = simulate(machine, word, max_steps=steps)
        space = max(*result.cells, len(word), 1)
        log.info(
            "no size was given: space=%s, from a direct simulation of %s",
            space,
            counted(result.steps, "step"),
        )
        return space

    return found
