"""Turing machines for the tests: random ones, and workloads that stress the stacks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

from tapeformer.machine.record import AcceptOn, Move, Rule, TapeKind, TuringMachine

LETTERS = "abc"
MOVES = {"L": Move.LEFT, "S": Move.STAY, "R": Move.RIGHT}


def random_machine(seed: int, tapes: int, kind: TapeKind) -> TuringMachine:
    """A machine with 1 to 4 states and 2 or 3 symbols that may stop in every way there is."""
    rng = Random(seed)
    symbols = ("_", *LETTERS[: rng.randint(1, 2)])
    states = [f"q{number}" for number in range(rng.randint(1, 4))]
    goals = [*states * 5, "yes", "no", "end"]
    density = rng.choice((0.8, 1.0, 1.0))
    rules = tuple(
        _random_rule(rng, state, read, symbols, goals)
        for state in states
        for read in product(symbols, repeat=tapes)
        if rng.random() < density
    )
    return TuringMachine(
        name=f"random{seed}",
        tapes=tapes,
        blank="_",
        start="q0",
        rules=rules,
        accepting=frozenset(rng.choice(([], ["yes"], ["yes", states[-1]]))),
        rejecting=frozenset(rng.choice(([], ["no"]))),
        halting=frozenset(rng.choice(([], ["end"]))),
        tape_kind=kind,
        accept_on=rng.choice(list(AcceptOn)),
        no_rule_rejects=rng.random() < 0.5,
        more_symbols=symbols,
        input_symbols=symbols[1:],
        origin="as if from a file, where a state without rules stops",
    )


def _random_rule(
    rng: Random, state: str, read: tuple[str, ...], symbols: tuple[str, ...], goals: list[str]
) -> Rule:
    write = tuple(rng.choice(symbols) for _ in read)
    moves = tuple(MOVES[rng.choice("LLRRS")] for _ in read)
    return Rule(state, read, write, moves, rng.choice(goals))


def random_word(seed: int, machine: TuringMachine, longest: int) -> tuple[str, ...]:
    rng = Random(seed)
    return tuple(rng.choice(machine.input_symbols) for _ in range(rng.randint(0, longest)))


def letters(length: int) -> tuple[str, ...]:
    """A word over a and b without a period, so that symbols out of order are seen."""
    rng = Random(length)
    return tuple(rng.choice("ab") for _ in range(length))


def one_tape(name: str, *lines: str, kind: TapeKind = TapeKind.TWO_WAY) -> TuringMachine:
    """A one-tape machine from lines `state read write move state`; it starts in the first."""
    parts = [line.split() for line in lines]
    rules = tuple(Rule(q, (r,), (w,), (MOVES[m],), p) for q, r, w, m, p in parts)
    return TuringMachine(name, 1, "_", parts[0][0], rules, tape_kind=kind, more_symbols=("a",))


SHUTTLE = one_tape(
    "fill and drain",
    *("> a a R >", "> b b R >", "> _ _ L <", "< a a L <", "< b b L <", "< _ _ R >"),
)
BOUNCER = one_tape("bouncer", "> _ a L <", "> a a R >", "< a a L <", "< _ a R >")
ZIGZAG = one_tape(
    "zigzag",
    *("1 a a R 2", "2 a a R 3", "3 a a L 1", "1 _ _ L <", "2 _ _ L <", "3 _ _ L <"),
    *("< a a L <", "< _ _ R 1"),
)
RUNNER = one_tape("runner", "> _ a R >")
LEFT_RUNNER = one_tape("left runner", "< _ a L <")
STAYER = one_tape("stayer", "1 _ a S 2", "2 a _ S 1")


def hoverer(reach: int) -> TuringMachine:
    """Goes right by `reach` cells, then left again, near the bottom of the left stack for ever."""
    lines = [f"r{i} _ _ R r{i + 1}" for i in range(reach)] + [f"r{reach} _ _ S l{reach}"]
    lines += [f"l{i} _ _ L l{i - 1}" for i in range(reach, 0, -1)] + ["l0 _ _ S r0"]
    return one_tape(f"hoverer{reach}", *lines)


def stopping_machines(accept_on: AcceptOn, no_rule_rejects: bool) -> Iterator[TuringMachine]:
    """Machines that stop at once or after a step, in a state of each kind or for want of a rule."""
    kinds = ("accepting", "rejecting", "halting")
    step = Rule("p", ("_",), ("a",), (Move.STAY,), "q")
    for kind, rules, start in product((*kinds, "other"), ((), (step,)), ("p", "q")):
        states = {name: frozenset(["q"] if name == kind else []) for name in kinds}
        yield TuringMachine(
            name="stop",
            tapes=1,
            blank="_",
            start=start,
            rules=rules,
            accepting=states["accepting"],
            rejecting=states["rejecting"],
            halting=states["halting"],
            accept_on=accept_on,
            no_rule_rejects=no_rule_rejects,
            more_symbols=("a",),
            origin="as if from a file, where a state without rules stops",
        )
