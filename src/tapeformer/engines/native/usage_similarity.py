"""What the bits of factors are used for: factors of different lanes that are used alike are alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tapeformer.engines.logic.symbolic_position import Logic

ALIKE = 0.3
"""Factors of two lanes share a word if so much of their use is alike."""

Use = Counter[tuple[object, ...]]
"""What a factor is used for, and how often."""

Value = tuple[int, int]
"""A factor and one of its values."""


@dataclass(frozen=True)
class Inputs:
    """The bits that gates read: values of the newest token, and of tokens that heads attend to.

    `head_of` has the head of each bit that one brings.
    """

    value_of: dict[int, Value]
    source_of: dict[int, Value]
    head_of: dict[int, int]


def inputs_of(logic: Logic) -> Inputs:
    """The inputs of a model whose heads fetch bits of tokens only."""
    value_of = {
        bit >> 1: (factor, value)
        for factor, bits in enumerate(logic.token)
        for value, bit in enumerate(bits)
        if bit > 1
    }
    source_of = {f.literal >> 1: value_of[f.source >> 1] for f in logic.fetched}
    return Inputs(value_of, source_of, {f.literal >> 1: f.head for f in logic.fetched})


def uses_of(logic: Logic, inputs: Inputs, heads: Mapping[int, int]) -> dict[int, Use]:
    """For each factor the gates that read it in the newest token, by what else they read.

    `heads` has the head from which each factor is seen.
    """
    uses: dict[int, Use] = {}
    for gate in logic.gates:
        seen = [_seen(logic, inputs, literal) for literal in gate.literals]
        for literal in gate.literals:
            if literal >> 1 in inputs.value_of:
                factor, value = inputs.value_of[literal >> 1]
                use, head = uses.setdefault(factor, Counter()), heads.get(factor, 0)
                for sight, where in seen:
                    away = None if where is None else where - head
                    use[value, literal & 1, gate.kind, sight, away] += 1
    return uses


def _seen(logic: Logic, inputs: Inputs, literal: int) -> tuple[tuple[object, ...], int | None]:
    """What an operand looks like, and at which head it is."""
    bit, sign = literal >> 1, literal & 1
    if bit in inputs.source_of or bit in inputs.value_of:
        source = inputs.source_of.get(bit) or inputs.value_of[bit]
        return (sign, source[1], len(logic.token[source[0]])), inputs.head_of.get(bit)
    return (sign, logic.gates[bit].kind, len(logic.gates[bit].literals)), None


def alike(left: Use, right: Use) -> float:
    """What two uses share, from 0 to 1."""
    shared = sum((left & right).values())
    return shared / max(1, left.total() + right.total() - shared)


def matched(factors: Mapping[int, Use], words: Mapping[int, Use]) -> dict[int, int]:
    """The word that each factor is used most like, each word once; the last first in a tie."""
    pairs = [
        (alike(mine, use), factor, word)
        for factor, mine in factors.items()
        for word, use in words.items()
    ]
    chosen: dict[int, int] = {}
    taken: set[int] = set()
    for worth, factor, word in sorted(pairs, key=lambda pair: (-round(pair[0], 1), -pair[1])):
        if worth >= ALIKE and factor not in chosen and word not in taken:
            chosen[factor] = word
            taken.add(word)
    return chosen
