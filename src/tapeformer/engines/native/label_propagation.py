"""Where factors belong that no head fetches: with those that they are used with, by vote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from tapeformer.engines.logic.symbolic_position import Logic

SPAN = 8
"""A factor used with heads farther apart than this belongs to none of them."""

NEAR = 6
"""A gate that depends on more heads, or copies, says nothing about where its operands belong."""

WEIGHT = 60
"""What a gate's vote is worth, shared by the numbers that it depends on."""

ROUNDS = 4
"""How often factors are placed by those placed before."""

Winner = Callable[[Counter[int]], int | None]
"""The number that has won a vote, if any has."""


def near(count: Counter[int]) -> int | None:
    """The head with most votes, if all that have any are near each other."""
    if max(count) - min(count) > SPAN:
        return None
    return max(count, key=lambda head: (count[head], head))


def most(count: Counter[int]) -> int | None:
    """The copy with more than half of the votes."""
    copy, votes = count.most_common(1)[0]
    return copy if 2 * votes > count.total() else None


def voted(
    logic: Logic,
    free: Mapping[int, int],
    known: dict[int, int],
    winner: Winner,
) -> dict[int, int]:
    """A number for each factor that is mostly used with one.

    `free` has the factor of each bit that is to be given one, `known` the numbers of other inputs.
    """
    numbers: dict[int, int] = {}
    readers = [
        (index, {free[literal >> 1] for literal in gate.literals if literal >> 1 in free})
        for index, gate in enumerate(logic.gates)
    ]
    readers = [reader for reader in readers if reader[1]]
    for _ in range(ROUNDS):
        given = {gate: numbers[factor] for gate, factor in free.items() if factor in numbers}
        votes = _votes(readers, _related(logic, known | given), numbers)
        found = {factor: winner(count) for factor, count in votes.items()}
        more = {factor: number for factor, number in found.items() if number is not None}
        if not more:
            break
        numbers |= more
    return numbers


def _votes(
    readers: Iterable[tuple[int, set[int]]], related: Sequence[int], given: Mapping[int, int]
) -> dict[int, Counter[int]]:
    """The numbers that factors are used with that were not given one."""
    votes: dict[int, Counter[int]] = {}
    for gate, factors in readers:
        found = related[gate]
        if 0 < found.bit_count() <= NEAR:
            worth = WEIGHT // found.bit_count()
            for factor in factors - given.keys():
                count = votes.setdefault(factor, Counter())
                for number in _members(found):
                    count[number] += worth
    return votes


@cache
def _members(bits: int) -> tuple[int, ...]:
    return tuple(number for number in range(bits.bit_length()) if bits >> number & 1)


def _related(logic: Logic, known: Mapping[int, int]) -> list[int]:
    """For each gate the numbers that it depends on, or else those of what depends on it, as bits."""
    behind = [1 << known[gate] if gate in known else 0 for gate in range(len(logic.gates))]
    for number, gate in enumerate(logic.gates):
        for literal in gate.literals:
            behind[number] |= behind[literal >> 1]
    related = list(behind)
    for number in range(len(logic.gates) - 1, 0, -1):
        for literal in logic.gates[number].literals:
            if not behind[literal >> 1]:
                related[literal >> 1] |= related[number]
    return related
