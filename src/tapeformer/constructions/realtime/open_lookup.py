"""Rules on level 0 where the table is open: every rule that there may be, tested against the table.

A rule is chosen by the state, the symbol and its entry of the table in one gate; then all rules that
do the same go on as one, so that only few gates wait for the stacks.
"""

from __future__ import annotations

from collections.abc import Mapping

from tapeformer.circuit.build import Builder, Wire
from tapeformer.circuit.record import Literal
from tapeformer.constructions.open_table import NO_RULE, entry_port, rule_text, table_entries
from tapeformer.constructions.realtime.code import Cell
from tapeformer.constructions.realtime.fields import Fields
from tapeformer.constructions.realtime.lookup import (
    Fired,
    Met,
    TapeView,
    carried_out,
    ready_for,
    tests,
    verdicts,
)
from tapeformer.machine.record import Rule

Inputs = Mapping[str, Wire]


def open_fired(
    build: Builder, fields: Fields, inputs: Inputs, view: TapeView, running: Literal
) -> Fired:
    """Look up the rule in the table and carry it out where both stacks are ready."""
    ready = ready_for(build, fields, view, "tape1")
    met: Met = []
    for (state, symbol), rules in table_entries(fields.machine).items():
        at = (inputs["state"][state], *tests(view.code, symbol, view.head))
        entry = inputs[entry_port(state, symbol)]
        for text, rule in rules.items():
            name = f"applies in {state} {symbol}: {text}"
            met.append((build.all_of(*at, entry[text], label=name), rule))
    made: Met = []
    for chosen, rule in _alike(build, met):
        needs = (running, chosen, *ready[rule.moves[0]])
        made.append((build.all_of(*needs, label=f"fires {rule_text(rule)}"), rule))
    return carried_out(build, fields, met, made, (view,), running)


def _alike(build: Builder, met: Met) -> Met:
    """Return whether a rule of each kind applies: those that do the same are one kind."""
    kinds: dict[str, Met] = {}
    for literal, rule in met:
        kinds.setdefault(rule_text(rule), []).append((literal, rule))
    return [
        (build.one_of(*(literal for literal, _ in kind), label=f"wants {text}"), _first(kind))
        for text, kind in kinds.items()
    ]


def _first(kind: Met) -> Rule:
    return kind[0][1]


def open_stops(
    build: Builder, fields: Fields, inputs: Inputs, arrived: Mapping[str, Literal], head: Cell
) -> dict[str, Literal]:
    """Return for each verdict whether the last step brings it: the table has no rule to follow."""
    code = fields.code(1)

    def stuck(state: str) -> Literal:
        ends = [
            build.all_of(
                arrived[state],
                *tests(code, symbol, head),
                inputs[entry_port(state, symbol)][NO_RULE],
                label=f"ends in {state} {symbol}",
            )
            for symbol in code.symbols
        ]
        return build.one_of(*ends, label=f"ends in {state}")

    return verdicts(build, fields, arrived, stuck)
