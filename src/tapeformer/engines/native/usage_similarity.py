"""How similarly two factors are used: similar factors of different lanes share words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tapeformer.engines.logic.netlist import Netlist, TokenInputs
from tapeformer.engines.native.repeated_blocks import size_class

MIN_SIMILARITY = 0.3
"""Factors of two lanes share words if they are at least this similar."""

MIN_ALIGNED = 0.2
"""The same where the order of the factors agrees: less is enough."""

UsageProfile = Counter[tuple[object, ...]]
"""The gates that read a factor: how many there are of each kind, as seen from the factor."""


def usage_profiles(
    netlist: Netlist, inputs: TokenInputs, heads: Mapping[int, int]
) -> dict[int, UsageProfile]:
    """Return the profile of each factor of the newest token.

    `heads` has each factor's head; other heads are described by their distance from it.
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
        return (sign, value, size_class(len(netlist.token[factor]))), inputs.head.get(gate)
    return (sign, netlist.gates[gate].kind, len(netlist.gates[gate].literals)), None


def jaccard(left: UsageProfile, right: UsageProfile) -> float:
    """Return the weighted Jaccard similarity of two profiles, from 0 to 1."""
    shared = sum((left & right).values())
    return shared / max(1, left.total() + right.total() - shared)


def match_profiles(
    factors: Mapping[int, UsageProfile], words: Mapping[int, UsageProfile]
) -> dict[int, int]:
    """Match factors with words of similar profiles: first in order, then greedily the rest."""
    similarity = {
        (factor, word): jaccard(mine, profile)
        for factor, mine in factors.items()
        for word, profile in words.items()
    }
    chosen = _aligned(list(factors), list(words), similarity)
    taken = set(chosen.values())
    for (factor, word), found in sorted(similarity.items(), key=lambda item: -item[1]):
        if found >= MIN_SIMILARITY and factor not in chosen and word not in taken:
            chosen[factor] = word
            taken.add(word)
    return chosen


def _aligned(
    factors: Sequence[int], words: Sequence[int], similarity: Mapping[tuple[int, int], float]
) -> dict[int, int]:
    """Match factors and words in order with the largest total similarity: a sequence alignment."""
    best: list[tuple[float, tuple[tuple[int, int], ...]]] = [(0.0, ())] * (len(words) + 1)
    for factor in factors:
        row = [best[0]]
        for column, word in enumerate(words):
            choices = [row[column], best[column + 1]]
            if similarity[factor, word] >= MIN_ALIGNED:
                total, pairs = best[column]
                choices.append((total + similarity[factor, word], (*pairs, (factor, word))))
            row.append(max(choices, key=lambda choice: choice[0]))
        best = row
    return dict(best[-1][1])
