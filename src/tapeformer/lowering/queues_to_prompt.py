"""Say how the prompt of a queue machine becomes tokens."""

from __future__ import annotations

from tapeformer.lowering.queues_to_circuit import PARITY
from tapeformer.queues.record import QueueMachine
from tapeformer.weights.tokens import Prompt


def prompt_for(machine: QueueMachine) -> Prompt:
    """Return how prompts are written: other queues blank, registers at their start values."""
    blanks = {queue.name: queue.blank for queue in machine.queues}
    starts = {register.name: register.start for register in machine.registers}
    return Prompt(
        receivers=(machine.prompt_queue, *machine.prompt_copies),
        start=machine.prompt_start,
        symbols=dict(machine.prompt_symbols),
        fill=blanks | starts,
        parity=PARITY.name,
    )
