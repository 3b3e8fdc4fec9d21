"""Convert automata-lib's machines, given as Python objects: DTM (one tape) and MNTM (several).

A DTM accepts on entering a final state, an MNTM where no rule applies in one; both reject where
no rule applies elsewhere. An MNTM that offers a choice is not deterministic: a conflict.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapeformer.faults import Fault, SourceLocation, TapeformerError, described
from tapeformer.machine.record import AcceptOn, Move, Rule, TuringMachine
from tapeformer.machine.verify import checked

NAME = "automata-lib"
MOVES = {"L": Move.LEFT, "N": Move.STAY, "R": Move.RIGHT}


def from_automata_lib(machine: Any, name: str = "automata-lib machine") -> TuringMachine:
    """Return the Turing machine of a `DTM` or `MNTM` object; state names become text."""
    try:
        return _converted(machine, name, type(machine).__name__)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        what = f"this object is not a complete machine: {type(error).__name__} {error}"
        raise TapeformerError(_misfit(machine, what)) from None


def _misfit(machine: object, what: str) -> Fault:
    remedy = "build it with automata.tm.dtm.DTM or automata.tm.mntm.MNTM"
    return Fault(what, None, "an automata-lib DTM or MNTM", described(machine), remedy)


def _converted(machine: Any, name: str, kind: str) -> TuringMachine:
    if kind not in ("DTM", "MNTM"):
        raise TapeformerError(_misfit(machine, "this object is not a Turing machine"))
    rules = tuple(_dtm_rules(machine) if kind == "DTM" else _mntm_rules(machine))
    in_rules = {symbol for rule in rules for symbol in (*rule.read, *rule.write)}
    return checked(
        TuringMachine(
            name=name,
            tapes=1 if kind == "DTM" else machine.n_tapes,
            blank=machine.blank_symbol,
            start=str(machine.initial_state),
            rules=rules,
            accepting=frozenset(map(str, machine.final_states)),
            accept_on=AcceptOn.ENTRY if kind == "DTM" else AcceptOn.HALT,
            no_rule_rejects=True,
            more_symbols=tuple(sorted(machine.tape_symbols - in_rules - {machine.blank_symbol})),
            origin=NAME,
            location=SourceLocation(name),
        )
    )


def _dtm_rules(machine: Any) -> Iterator[Rule]:
    for state, row in machine.transitions.items():
        for symbol, (goal, written, move) in row.items():
            yield Rule(str(state), (symbol,), (written,), (MOVES[move],), str(goal))


def _mntm_rules(machine: Any) -> Iterator[Rule]:
    for state, row in machine.transitions.items():
        for symbols, choices in row.items():
            for goal, actions in choices:
                written = tuple(symbol for symbol, _ in actions)
                moves = tuple(MOVES[move] for _, move in actions)
                yield Rule(str(state), tuple(symbols), written, moves, str(goal))
