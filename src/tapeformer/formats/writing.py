"""What every writer shares: refusing with all reasons, and saying what a format does not keep."""

from __future__ import annotations

from collections.abc import Mapping

from tapeformer.faults import Fault, TapeformerError
from tapeformer.machine.record import TapeKind, TuringMachine


def refuse(format_name: str, reasons: Mapping[str, bool]) -> None:
    """Raises every reason that holds why a machine does not fit a format."""
    holding = [why for why, holds in reasons.items() if holds]
    if holding:
        remedy = "use --to native, which holds every machine"
        raise TapeformerError(
            [
                Fault(f"{format_name} cannot hold this machine: {why}", remedy=remedy)
                for why in holding
            ]
        )


def one_plain_tape(machine: TuringMachine) -> dict[str, bool]:
    """Reasons that hold for every format with one tape that is infinite both ways."""
    return {
        "it has several tapes": machine.tapes > 1,
        "its tape is bounded on the left": machine.tape_kind is TapeKind.ONE_WAY,
    }


def lost_roles(machine: TuringMachine) -> list[str]:
    """What a format without accepting and rejecting states does not keep."""
    losses = []
    if machine.accepting or machine.rejecting:
        losses.append("accepting and rejecting states become plain halting states")
    if machine.no_rule_rejects:
        losses.append("a missing rule halts instead of rejecting")
    return losses
