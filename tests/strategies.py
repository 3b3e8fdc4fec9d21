"""Random machines and words, for property tests."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from tapeformer import AcceptOn, Move, Rule, TapeKind, TuringMachine

PLAIN_SYMBOLS = ("0", "1", "a", "b")
ODD_SYMBOLS = ("b>", "((a))", "#", "~", "'", '"', "null", "é", "😀", "a,b", " ", "0x1", "\t", "*")
PLAIN_STATES = ("q0", "q1", "q2", "q3", "q4")
ODD_STATES = ("qChainIsOne?", "on", "no", "state one", "-", "[x]", "héllo", "halt now", "1e3", "&a")


def random_machine(
    seed: int,
    tapes: int | None = None,
    kind: TapeKind | None = None,
    odd_names: bool = False,
    stay: bool = True,
    roles: bool = True,
) -> TuringMachine:
    """A machine made from a seed: enough rules to run for a while, some missing."""
    rng = random.Random(seed)
    tapes = tapes or rng.choice((1, 1, 2, 3))
    symbols = _some(rng, PLAIN_SYMBOLS + (ODD_SYMBOLS if odd_names else ()), 2, 4)
    states = _some(rng, PLAIN_STATES + (ODD_STATES if odd_names else ()), 2, 6)
    stops = states[max(1, len(states) - rng.randrange(0, 4)) :]
    moves = list(Move) if stay else [Move.LEFT, Move.RIGHT]
    density = rng.choice((0.8, 0.95, 1.0))
    rules = [
        Rule(
            state,
            read,
            tuple(rng.choice(symbols) for _ in range(tapes)),
            tuple(rng.choice(moves) for _ in range(tapes)),
            rng.choice(states),
        )
        for state in states
        if state not in stops
        for read in _reads(symbols, tapes)
        if rng.random() < density
    ]
    parts: list[list[str]] = [[], [], []]
    for state in stops:
        parts[rng.randrange(3) if roles else 2].append(state)
    with_rules = {rule.state for rule in rules}
    parts[2] += [state for state in states if state not in with_rules and state not in stops]
    return TuringMachine(
        name=f"random {seed}",
        tapes=tapes,
        blank=symbols[0],
        start=states[0],
        rules=tuple(rules),
        accepting=frozenset(parts[0]),
        rejecting=frozenset(parts[1]),
        halting=frozenset(parts[2]),
        tape_kind=kind or rng.choice(tuple(TapeKind)),
        accept_on=rng.choice(tuple(AcceptOn)) if roles else AcceptOn.ENTRY,
        no_rule_rejects=roles and rng.random() < 0.3,
        more_symbols=tuple(s for s in symbols[1:] if not _in_rules(s, rules)),
    )


def random_word(machine: TuringMachine, seed: int, longest: int = 12) -> tuple[str, ...]:
    """A word over the machine's symbols."""
    rng = random.Random(seed)
    return tuple(rng.choice(machine.symbols) for _ in range(rng.randrange(longest + 1)))


def _some(rng: random.Random, names: tuple[str, ...], least: int, most: int) -> list[str]:
    return rng.sample(names, rng.randint(least, min(most, len(names))))


def _reads(symbols: list[str], tapes: int) -> list[tuple[str, ...]]:
    reads: list[tuple[str, ...]] = [()]
    for _ in range(tapes):
        reads = [(*read, symbol) for read in reads for symbol in symbols]
    return reads


def _in_rules(symbol: str, rules: list[Rule]) -> bool:
    return any(symbol in rule.read or symbol in rule.write for rule in rules)


seeds = st.integers(min_value=0, max_value=2**32 - 1)
