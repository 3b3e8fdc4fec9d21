"""Machines and words that rows are tried on."""

from __future__ import annotations

import random

import tapeformer as tf
from tapeformer import Move, Rule, TapeKind, TuringMachine
from tests.strategies import random_machine

GALLERY = {
    "binary_counter": "0000",
    "busy_beaver_4": "",
    "palindrome": "abbababba",
    "copy": "abbab",
    "unary_to_binary": "||||||||",
    "unary_multiplication": "111*1111",
    "left_end": "abba",
    "anbncn": "aabbcc",
    "balanced_brackets": "([])()",
    "binary_increment": "1011",
    "sort_bits": "10110",
    "power_of_two": "aaaaaaaa",
    "same_word": "aba#aba",
    "equal_zeros_ones": "100110",
    "busy_beaver_2_3": "",
    "busy_beaver_3": "",
    "rule_110": "||:0001",
    "busy_beaver_2": "",
    "busy_beaver_5": "",
    "binary_decrement": "1000",
    "divisible_by_three": "110101",
    "gray_code": "10110",
    "parity_of_ones": "101101",
    "countdown_digits": "312",
}
"""Machines of one tape, one-way (left_end) and two-way."""


def gallery_case(name: str) -> tuple[TuringMachine, tuple[str, ...]]:
    machine = tf.gallery_machine(name)
    return machine, tf.parse_word(machine, GALLERY[name])


def random_case(seed: int, tapes: int = 1) -> tuple[TuringMachine, tuple[str, ...]]:
    """A machine with stays, on tapes of either kind, and a word without blanks."""
    kind = TapeKind.ONE_WAY if seed % 2 else TapeKind.TWO_WAY
    machine = random_machine(seed, tapes=tapes, kind=kind)
    letters = [symbol for symbol in sorted(machine.word_symbols) if symbol != machine.blank]
    rng = random.Random(seed)
    return machine, tuple(rng.choice(letters) for _ in range(rng.randrange(6)) if letters)


def small_random_case(seed: int) -> tuple[TuringMachine, tuple[str, ...]]:
    """A machine of two symbols and three states, for rows whose context grows quickly."""
    rng = random.Random(seed)
    states, symbols = ("p", "q", "r")[: rng.randrange(1, 4)], ("_", "a")
    rules = [
        Rule(state, (read,), (rng.choice(symbols),), (rng.choice(list(Move)),), rng.choice(states))
        for state in states
        for read in symbols
        if rng.random() < 0.9
    ]
    kind = TapeKind.ONE_WAY if seed % 2 else TapeKind.TWO_WAY
    first = Rule("p", ("a",), ("a",), (Move.RIGHT,), states[-1])
    every = {(rule.state, rule.read): rule for rule in (first, *rules)}
    silent = frozenset(states) - {state for state, _ in every}
    machine = TuringMachine(
        f"small {seed}",
        1,
        "_",
        "p",
        tuple(every.values()),
        halting=silent,
        tape_kind=kind,
        more_symbols=symbols,
    )
    return machine, ("a",) * rng.randrange(3)
