"""The rungs of the ladder: run the passes up to a stage, check it, and print it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tapeformer.circuit.show import show as show_circuit
from tapeformer.compile.options import CompileOptions
from tapeformer.compile.passes import (
    Compilation,
    Pass,
    compiled,
    made,
    queues_to_weights,
    tapes_to_queues,
)
from tapeformer.compile.sizes import for_every_word
from tapeformer.faults import Fault, TapeformerError, errors_in
from tapeformer.machine.record import TuringMachine
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
    machine: TuringMachine, options: CompileOptions, stage: str, everything: bool = False
) -> str:
    """Compile up to a stage, checking every stage on the way, and return its text."""
    chosen = for_every_word(machine, options)
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
