"""`tapeformer show`: print what a machine is, or draw its state diagram."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tapeformer.cli import options
from tapeformer.cli.options import takes_machine
from tapeformer.cli.output import print_json, print_table, write_file
from tapeformer.machine.record import AcceptOn, TapeKind, TuringMachine

Svg = Annotated[
    Path | None,
    typer.Option("--svg", help="Write the state diagram to this file (small machines)."),
]


@takes_machine
def show(
    machine: TuringMachine,
    svg: Svg = None,
    everything: options.Everything = False,
    as_json: options.Json = False,
) -> None:
    """Show a machine: states, alphabet, rules, sizes, source."""
    if svg is not None:
        from tapeformer.drawing.diagram import diagram

        write_file(svg, diagram(machine))
    if as_json:
        print_json(_record(machine))
        return
    from tapeformer.drawing.tables import facts_table, rules_table

    print_table(facts_table(machine), "", rules_table(machine, everything))


def _record(machine: TuringMachine) -> dict[str, Any]:
    return {
        "machine": machine.name,
        "description": machine.description,
        "format": machine.origin,
        "tapes": machine.tapes,
        "tape_kind": TapeKind(machine.tape_kind).value,
        "blank": machine.blank,
        "start": machine.start,
        "states": list(machine.states),
        "symbols": list(machine.symbols),
        "accepting": sorted(machine.accepting),
        "rejecting": sorted(machine.rejecting),
        "halting": sorted(machine.halting),
        "accept_on": AcceptOn(machine.accept_on).value,
        "warnings": [str(fault) for fault in machine.faults],
        "rules": [
            {
                "state": rule.state,
                "read": list(rule.read),
                "write": list(rule.write),
                "moves": [move.letter for move in rule.moves],
                "next": rule.next_state,
            }
            for rule in machine.rules
        ],
    }
