"""Random machines that wander over a tape: traces that show a level more than one machine does."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random

from tapeformer.machine.record import Move, Rule, TuringMachine


def wanderer(machine: TuringMachine, states: int, seed: int) -> TuringMachine:
    """Return a random machine with the symbols and tapes of another; it never stops."""
    chance = Random(seed)
    names = [f"q{number}" for number in range(states)]
    rules = tuple(
        _rule(chance, state, read, machine.symbols, names)
        for state in names
        for read in product(machine.symbols, repeat=machine.tapes)
    )
    return replace(
        machine,
        name=f"wanderer {seed}",
        start=names[0],
        rules=rules,
        accepting=frozenset(),
        rejecting=frozenset(),
        halting=frozenset(),
        more_symbols=machine.symbols,
        input_symbols=tuple(s for s in machine.symbols if s != machine.blank),
        cases=(),
        description="",
    )


def _rule(
    chance: Random, state: str, read: tuple[str, ...], symbols: tuple[str, ...], names: list[str]
) -> Rule:
    write = tuple(chance.choice(symbols) for _ in read)
    moves = tuple(chance.choice((Move.LEFT, Move.RIGHT)) for _ in read)
    return Rule(state, read, write, moves, chance.choice(names))
