"""The rungs of the ladder: run the passes up to a stage, check it, and print it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tapeformer.circuit.show import show as show_circuit
from tapeformer.compile.options import CompileOptions, compile_options
from tapeformer.compile.passes import (
    Compilation,
    Pass,
    compiled,
    made,
    queues_to_weights,
    tapes_to_queues,
)
from tapeformer.compile.sizes import for_every_word
from tapeformer.faults import Fault, TapeformerError, did_you_mean, errors_in, quoted
from tapeformer.machine.record import TuringMachine
from tapeformer.machine.verify import checked
from tapeformer.queues.show import show as show_queues
from tapeformer.queues.verify import verify as verify_queues
from tapeformer.queues.verify import verify_layout
from tapeformer.weights.show import show as show_weights
from tapeformer.weights.verify import verify as verify_weights

SHOWN = 40
"""Lines of each list of a stage that are printed where not all of it was asked for."""

STAGES: Mapping[str, Pass] = {
    "queues": tapes_to_queues,
    "circuit": tapes_to_queues,
    "weights": queues_to_weights,
}
"""The stages that can be printed, each with the pass that makes it."""


def stage_text(
    machine: TuringMachine,
    stage: str,
    options: CompileOptions | None = None,
    *,
    everything: bool = False,
    **named: Any,
) -> str:
    """Compile up to a stage (queues, circuit or weights), checking each, and return its text.

    Options are as for `compile_machine`; long lists are cut unless `everything` is asked for.
    """
    if stage not in STAGES:
        what, known = f"there is no stage {quoted(str(stage))}", ", ".join(STAGES)
        remedy = did_you_mean(str(stage), STAGES) or "name one of these"
        raise TapeformerError(Fault(what, expected=known, remedy=remedy))
    chosen = for_every_word(checked(machine), compile_options(options, named))
    work = compiled(machine, chosen, last=STAGES[stage], hook=check_stage)
    return show_stage(work, stage, None if everything else SHOWN)


def check_stage(step: Pass, work: Compilation) -> None:
    """Refuse a stage that is not legal, naming the pass that made it."""
    faults = errors_in(_faults(work))
    if faults:
        what = f"the pass {step.__name__} made an illegal stage"
        raise TapeformerError((Fault(what), *faults[:5]))


def _faults(work: Compilation) -> tuple[Fault, ...]:
    if work.weights is not None:
        return verify_weights(work.weights)
    if work.queue_machine is not None:
        machine = work.queue_machine
        return (*verify_queues(machine), *verify_layout(machine, made(work.layout)))
    return ()


def show_stage(work: Compilation, stage: str, limit: int | None = None) -> str:
    """Return the text of a stage that was made; of each of its lists at most `limit` lines."""
    queues, layout = made(work.queue_machine), made(work.layout)
    texts: Mapping[str, Callable[[], str]] = {
        "queues": lambda: show_queues(queues, layout, limit),
        "circuit": lambda: show_circuit(queues.step, limit),
        "weights": lambda: show_weights(made(work.weights), layout.lengths, limit),
    }
    return texts[stage]()
