"""The same machine in automata-lib, which people use from Python; only the tests depend on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import islice
from typing import Any

from tapeformer.machine.record import TuringMachine

MISSING = (
    "automata-lib is not installed, so nothing is measured beside it: pip install automata-lib"
)


def has_peers() -> bool:
    """Return whether there is anything to compare with."""
    return find_spec("automata") is not None


def peer_name(machine: TuringMachine) -> str:
    """Return which of automata-lib's classes a machine needs."""
    return f"automata-lib {'DTM' if machine.tapes == 1 else 'MNTM'}"


def peer_machine(machine: TuringMachine) -> Any:
    """Return the same machine for automata-lib: a DTM for one tape, an MNTM for several."""
    from automata.tm.dtm import DTM
    from automata.tm.mntm import MNTM

    one = machine.tapes == 1
    common: dict[str, Any] = {
        "states": set(machine.states),
        "input_symbols": set(machine.symbols) - {machine.blank},
        "tape_symbols": set(machine.symbols),
        "transitions": _one_tape(machine) if one else _several_tapes(machine),
        "initial_state": machine.start,
        "blank_symbol": machine.blank,
        "final_states": set(machine.stopping),
    }
    return DTM(**common) if one else MNTM(n_tapes=machine.tapes, **common)


def _one_tape(machine: TuringMachine) -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = {}
    for rule in machine.rules:
        action = (rule.next_state, rule.write[0], "LNR"[rule.moves[0] + 1])
        table.setdefault(rule.state, {})[rule.read[0]] = action
    return table


def _several_tapes(machine: TuringMachine) -> dict[str, dict[tuple[str, ...], Any]]:
    table: dict[str, dict[tuple[str, ...], Any]] = {}
    for rule in machine.rules:
        moves = ["LNR"[move + 1] for move in rule.moves]
        action = (rule.next_state, tuple(zip(rule.write, moves, strict=True)))
        table.setdefault(rule.state, {})[rule.read] = [action]
    return table


def peer_run(peer: Any, machine: TuringMachine, word: Sequence[str]) -> Iterator[Any]:
    """Return the peer's configurations, the first one before any step."""
    configurations: Iterator[Any] = peer.read_input_stepwise("".join(word) or machine.blank)
    return configurations


def peer_steps(peer: Any, machine: TuringMachine, word: Sequence[str], most: int) -> int:
    """Take so many steps of a peer, fewer where it halts; return how many."""
    return sum(1 for _ in islice(peer_run(peer, machine, word), most + 1)) - 1
