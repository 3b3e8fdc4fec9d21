"""What every writer shares: the reasons why a machine does not fit, and what a format loses."""

from __future__ import annotations

from collections.abc import Mapping

from tapeformer.faults import Fault, TapeformerError
from tapeformer.machine.record import TapeKind, TuringMachine


def refuse(format_name: str, reasons: Mapping[str, bool]) -> None:
    """Raise every reason that holds why a machine does not fit a format."""
    holding = [why for why, holds in reasons.items() if holds]
    if holding:
        remedy = "use the format tapeformer, which holds every machine"
        raise TapeformerError(
            [
                Fault(f"{format_name} cannot hold this machine: {why}", remedy=remedy)
                for why in holding
            ]
        )


def one_plain_tape(machine: TuringMachine) -> dict[str, bool]:
    """Return the reasons of every format with one tape that is infinite both ways."""
    return {
        "it has several tapes": machine.tapes > 1,
        "its tape is bounded on the left": machine.tape_kind is TapeKind.ONE_WAY,
    }


def unnamed_symbols(machine: TuringMachine) -> list[str]:
    """Return the symbols that no rule names, apart from the blank."""
    named = {symbol for rule in machine.rules for symbol in (*rule.read, *rule.write)}
    return [symbol for symbol in machine.symbols if symbol not in named | {machine.blank}]


def lost_roles(machine: TuringMachine) -> list[str]:
    """Return what is lost in a format without accepting and rejecting states."""
    losses = []
    if machine.accepting or machine.rejecting:
        losses.append("accepting and rejecting states become plain halting states")
    if machine.no_rule_rejects:
        losses.append("a missing rule halts instead of rejecting")
    return losses
