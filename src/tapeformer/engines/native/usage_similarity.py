"""How alike two factors are used: factors of different lanes that are used alike share words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from tapeformer.engines.logic.netlist import Netlist, TokenInputs

MIN_SIMILARITY = 0.3
"""Factors of two lanes share words if they are at least so similar."""

UsageProfile = Counter[tuple[object, ...]]
"""The gates that read a factor, by what they look like from there, and how many there are."""


def usage_profiles(
    netlist: Netlist, inputs: TokenInputs, heads: Mapping[int, int]
) -> dict[int, UsageProfile]:
    """Return the profile of each factor of the newest token.

    `heads` has the head of each factor; other heads count by their distance from it.
    """
    profiles: dict[int, UsageProfile] = {}
    for gate in netlist.gates:
        operands = [_describe(netlist, inputs, literal) for literal in gate.literals]
        for literal in gate.literals:
            if literal >> 1 in inputs.newest:
                factor, value = inputs.newest[literal >> 1]
                profile, own = profiles.setdefault(factor, Counter()), heads.get(factor, 0)
                for shape, head in operands:
                    distance = None if head is None else head - own
                    profile[value, literal & 1, gate.kind, shape, distance] += 1
    return profiles


def _describe(
    netlist: Netlist, inputs: TokenInputs, literal: int
) -> tuple[tuple[object, ...], int | None]:
    """Return what an operand looks like, and its head."""
    gate, sign = literal >> 1, literal & 1
    if gate in inputs.fetched or gate in inputs.newest:
        factor, value = inputs.fetched.get(gate) or inputs.newest[gate]
        return (sign, value, len(netlist.token[factor])), inputs.head.get(gate)
    return (sign, netlist.gates[gate].kind, len(netlist.gates[gate].literals)), None


def jaccard(left: UsageProfile, right: UsageProfile) -> float:
    """Return the weighted Jaccard similarity of two profiles, from 0 to 1."""
    shared = sum((left & right).values())
    return shared / max(1, left.total() + right.total() - shared)


def match_profiles(
    factors: Mapping[int, UsageProfile], words: Mapping[int, UsageProfile]
) -> dict[int, int]:
    """Match factors with words of similar profiles, each once, greedily; ties go to the last."""
    pairs = [
        (jaccard(mine, profile), factor, word)
        for factor, mine in factors.items()
        for word, profile in words.items()
    ]
    chosen: dict[int, int] = {}
    taken: set[int] = set()
    for similarity, factor, word in sorted(pairs, key=lambda pair: (-round(pair[0], 1), -pair[1])):
        if similarity >= MIN_SIMILARITY and factor not in chosen and word not in taken:
            chosen[factor] = word
            taken.add(word)
    return chosen
