"""Lane assignment: which word, and which SIMD lanes of it, hold each bit of a token.

Lanes form a grid of heads and instances. A factor that only one head fetches goes to one of that
head's lanes, or to all of them if it belongs to no repeated block. A factor that no head fetches
goes to the lane of those it is used with, in the word of a factor that is used alike in other
lanes. All of this guesses from the weights which parts are alike, and affects only speed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tapeformer.engines.logic.machine_words import WORD_BITS
from tapeformer.engines.logic.netlist import Netlist, token_inputs
from tapeformer.engines.native.label_propagation import (
    clear_winner,
    nearby_winner,
    propagate_labels,
)
from tapeformer.engines.native.repeated_blocks import BlockPosition, block_positions, size_class
from tapeformer.engines.native.usage_similarity import (
    UsageProfile,
    match_profiles,
    usage_profiles,
)

MAX_LANES = WORD_BITS


class Lane(NamedTuple):
    """The lanes that hold a bit: every lane of a head if `instance` is None, all if `head` is."""

    head: int | None = None
    instance: int | None = None


@dataclass(frozen=True)
class LaneGrid:
    """The lanes of a word: a row of `heads` lanes for each instance."""

    heads: int
    instances: int

    def numbers(self, lane: Lane) -> list[int]:
        """Return the numbers of the lanes that hold a bit; none if all of them do."""
        if lane.head is None:
            return []
        instances = range(self.instances) if lane.instance is None else [lane.instance]
        return [lane.head + self.heads * instance for instance in instances]

    def nearest(self, lane: Lane, number: int) -> int:
        """Return the lane nearest to a given one among those that hold a bit."""
        if lane.head is None:
            return number
        instance = number // self.heads if lane.instance is None else lane.instance
        return lane.head + self.heads * instance

    def lane(self, number: int) -> Lane:
        """Return the lane with a number."""
        instance, head = divmod(number, self.heads)
        return Lane(head, instance)


class BitLocation(NamedTuple):
    """A word of the token, and the lanes of it that hold a bit."""

    word: int
    lane: Lane


class LaneAssignment:
    """Where the bits of a token are: `locations` has the location of each value of each factor,
    `fetched_lanes` the lane of each input gate that a head fetches."""

    def __init__(self, netlist: Netlist) -> None:
        self.netlist = netlist
        heads = 1 + max((bit.head for bit in netlist.fetched), default=0)
        self.inputs = token_inputs(netlist)
        self.positions = block_positions(netlist, self.inputs, MAX_LANES // heads)
        instances = 1 + max((at.instance for at in self.positions.values()), default=0)
        self.grid = LaneGrid(heads, instances)
        self.fetched = {factor for factor, _ in self.inputs.fetched.values()}
        self.head_of, self.instance_of = self._labels()
        self.profiles = usage_profiles(netlist, self.inputs, self.head_of)
        self.word_of = self._words([*self._fetched_groups(), *self._unfetched_groups()])
        lanes = [self._lane(factor) for factor in range(len(netlist.token))]
        self.fetched_lanes = {
            gate: Lane(self.inputs.head[gate], lanes[factor].instance)
            for gate, (factor, _) in self.inputs.fetched.items()
        }
        self.locations = tuple(
            tuple(BitLocation(self.word_of[factor] + i, lane) for i in range(self._size(factor)))
            for factor, lane in enumerate(lanes)
        )

    def _lane(self, factor: int) -> Lane:
        head = self.head_of.get(factor)
        return Lane(head, None if head is None else self.instance_of.get(factor))

    def _size(self, factor: int) -> int:
        return len(self.netlist.token[factor])

    def _labels(self) -> tuple[dict[int, int], dict[int, int]]:
        """Return the head and instance of each factor, propagated to those no head fetches."""
        fetched, head = self.inputs.fetched, self.inputs.head
        owner = {fetched[gate][0]: number for gate, number in head.items()}
        heads = {factor: owner[factor] for factor in self.positions}
        instances = {f: at.instance for f, at in self.positions.items() if at.block >= 0}
        known = {gate: instances[f] for gate, (f, _) in fetched.items() if f in instances}
        unlabelled = {g: f for g, (f, _) in self.inputs.newest.items() if f not in owner}
        heads |= propagate_labels(
            self.netlist, unlabelled, self._of_gates(heads) | head, nearby_winner
        )
        instances |= propagate_labels(
            self.netlist, unlabelled, self._of_gates(instances) | known, clear_winner
        )
        return heads, instances

    def _of_gates(self, labels: Mapping[int, int]) -> dict[int, int]:
        """Turn labels of factors into labels of the newest token's input gates."""
        return {gate: labels[f] for gate, (f, _) in self.inputs.newest.items() if f in labels}

    def middle_first(self) -> list[int]:
        """Return the factors that have a head, middle heads first."""
        middle = self.grid.heads // 2
        return sorted(self.head_of, key=lambda f: (abs(self.head_of[f] - middle), f))

    def _words(self, sharing: Iterable[Sequence[int]]) -> dict[int, int]:
        """Return each factor's first word; those that share words take as many as the largest."""
        word_of: dict[int, int] = {}
        end = 0
        for factors in sharing:
            word_of |= dict.fromkeys(factors, end)
            end += max(map(self._size, factors))
        return word_of

    def _fetched_groups(self) -> list[list[int]]:
        """Return groups of fetched factors that share words: one index, different instances."""
        sharing: dict[tuple[int, ...], list[int]] = {}
        for factor in sorted(self.fetched):
            position, size = self.positions.get(factor), self._size(factor)
            key = (factor,) if position is None else _shared_words(position, size)
            sharing.setdefault(key, []).append(factor)
        return list(sharing.values())

    def _unfetched_groups(self) -> list[list[int]]:
        """Return groups of other factors that share words, found lane by lane from the middle."""
        groups: list[list[int]] = []
        known: dict[tuple[object, ...], dict[int, UsageProfile]] = {}
        for factors in self._unfetched_by_lane():
            matches = self._matches(factors, known)
            for factor in factors:
                if factor in matches:
                    groups[matches[factor]].append(factor)
                else:
                    known.setdefault(self._kind(factor), {})[len(groups)] = self._profile(factor)
                    groups.append([factor])
        return groups

    def _matches(
        self, factors: list[int], known: Mapping[tuple[object, ...], dict[int, UsageProfile]]
    ) -> dict[int, int]:
        """Match the factors of one lane with groups that are used alike in other lanes."""
        matches: dict[int, int] = {}
        for kind in dict.fromkeys(map(self._kind, factors)):
            mine = {f: self._profile(f) for f in factors if self._kind(f) == kind}
            if factors[0] in self.head_of:
                matches |= match_profiles(mine, known.get(kind, {}))
        return matches

    def _kind(self, factor: int) -> tuple[object, ...]:
        """Return the key that factors must have in common to share words."""
        lane = self._lane(factor)
        return lane.head is None, lane.instance is None, size_class(self._size(factor))

    def _profile(self, factor: int) -> UsageProfile:
        return self.profiles.get(factor, UsageProfile())

    def _unfetched_by_lane(self) -> Iterator[list[int]]:
        """Yield factors that no head fetches, lane by lane from the middle.

        Factors that are in all lanes come last, one by one.
        """
        unfetched = [f for f in range(len(self.netlist.token)) if f not in self.fetched]
        lanes: dict[Lane, list[int]] = {}
        for factor in unfetched:
            if factor in self.head_of:
                lanes.setdefault(self._lane(factor), []).append(factor)
        middle = self.grid.heads // 2
        order = sorted(lanes, key=lambda lane: (abs((lane.head or 0) - middle), lane.instance or 0))
        yield from (lanes[lane] for lane in order)
        yield from ([factor] for factor in unfetched if factor not in self.head_of)


def _shared_words(position: BlockPosition, size: int) -> tuple[int, ...]:
    """Return the key of fetched factors that share words."""
    return position.block, position.index, size_class(size)
