"""What it means that a machine stops in a state: the compiler's own statement of it."""

from __future__ import annotations

from tapeformer.machine.record import TuringMachine


def verdict_of(machine: TuringMachine, state: str) -> str:
    """The verdict where no rule applies in `state`, or where entering `state` stops the machine."""
    if state in machine.accepting:
        return "accept"
    rejects = state in machine.rejecting or bool(machine.accepting)
    unplanned = machine.no_rule_rejects and state not in machine.halting
    return "reject" if rejects or unplanned else "halt"
