"""Repeated blocks within a head: guesses, from the sizes of factors, what it fetches repeatedly.

A head may fetch several instances of one structure, one after another. Their factors then have
similar sizes in the same order, and few gates read more than one instance. A wrong guess only
costs speed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tapeformer.engines.logic.netlist import Netlist, TokenInputs

MAX_INSTANCES = 12

MAX_SHARED = 0.25
"""The share of gates that may read several instances."""

MANY = 3
"""Sizes from here on count as alike: one structure over several alphabets has several sizes."""

SupportCounts = Counter[int]
"""How many gates have each support: a bit set of indices into a head's list of factors."""


@dataclass(frozen=True)
class RepeatedBlock:
    """A block of factors that occurs several times in a row in a head's list."""

    start: int
    size: int
    instances: int

    @property
    def saved(self) -> int:
        """Return how many factors can share the words of others."""
        return self.size * (self.instances - 1)

    def masks(self) -> list[int]:
        """Return the indices of each instance as a bit set."""
        whole = (1 << self.size) - 1
        return [whole << self.start + i * self.size for i in range(self.instances)]


@dataclass(frozen=True)
class BlockPosition:
    """Where a factor is: in which instance of which block (-1: of none), and at which index."""

    instance: int
    block: int
    index: int


def size_class(size: int) -> int:
    """Return the class of a factor's size: factors of one class may be alike."""
    return min(size, MANY)


def block_positions(netlist: Netlist, inputs: TokenInputs, limit: int) -> dict[int, BlockPosition]:
    """Return the position of each factor that exactly one head fetches.

    Heads with equal lists get equal positions; a block has at most `limit` instances.
    """
    owned = _owned_by_heads(inputs)
    alike: dict[tuple[int, ...], list[int]] = {}
    for head, factors in owned.items():
        alike.setdefault(tuple(len(netlist.token[f]) for f in factors), []).append(head)
    positions: dict[int, BlockPosition] = {}
    for sizes, heads in alike.items():
        index_of = {f: i for head in heads for i, f in enumerate(owned[head])}
        supports = _supports(netlist, inputs, index_of)
        classes = [size_class(size) for size in sizes]
        found = list(_blocks(classes, 0, len(sizes), min(limit, MAX_INSTANCES), supports))
        for head in heads:
            positions |= _positions(owned[head], sorted(found, key=lambda block: block.start))
    return positions


def _owned_by_heads(inputs: TokenInputs) -> dict[int, list[int]]:
    """Return, for each head, the factors that only it fetches, in order."""
    heads: dict[int, set[int]] = {}
    for gate, (factor, _) in inputs.fetched.items():
        heads.setdefault(factor, set()).add(inputs.head[gate])
    owned: dict[int, list[int]] = {}
    for factor, found in sorted(heads.items()):
        if len(found) == 1:
            owned.setdefault(min(found), []).append(factor)
    return owned


def _supports(netlist: Netlist, inputs: TokenInputs, index_of: dict[int, int]) -> SupportCounts:
    """Count the gates by the fetched factors that they depend on."""
    fetched = inputs.fetched.items()
    support = {gate: 1 << index_of[factor] for gate, (factor, _) in fetched if factor in index_of}
    counts: SupportCounts = Counter()
    for index, gate in enumerate(netlist.gates):
        found = 0
        for literal in gate.literals:
            found |= support.get(literal >> 1, 0)
        if found:
            support[index] = found
            counts[found] += 1
    return counts


def _blocks(
    sizes: Sequence[int], low: int, high: int, limit: int, supports: SupportCounts
) -> Iterator[RepeatedBlock]:
    """Yield the repeated block of a stretch that saves most, then those to its left and right."""
    best, best_value = None, 0.0
    for block in sorted(_candidates(sizes, low, high, limit), key=lambda block: -block.saved):
        if block.saved <= best_value:
            break
        value = _value(block, supports)
        if value > best_value:
            best, best_value = block, value
    if best is not None:
        yield best
        yield from _blocks(sizes, low, best.start, limit, supports)
        yield from _blocks(sizes, best.start + best.size * best.instances, high, limit, supports)


def _candidates(sizes: Sequence[int], low: int, high: int, limit: int) -> Iterator[RepeatedBlock]:
    """Yield every block of two factors or more that is repeated in a row, by similar sizes."""
    for size in range(2, (high - low) // 2 + 1):
        run = 0
        for index in range(low, high - size):
            run = run + 1 if sizes[index] == sizes[index + size] else 0
            for instances in range(2, min(limit, run // size + 1) + 1):
                yield RepeatedBlock(index + 1 - size * (instances - 1), size, instances)


def _value(block: RepeatedBlock, supports: SupportCounts) -> float:
    """Return the factors saved, discounted by the share of gates that read several instances."""
    one = several = 0
    masks = block.masks()
    for support, gates in supports.items():
        instances = sum(bool(support & mask) for mask in masks)
        one += gates * (instances == 1)
        several += gates * (instances > 1)
    return block.saved * (1 - several / (MAX_SHARED * max(1, one + several)))


def _positions(factors: Sequence[int], blocks: Sequence[RepeatedBlock]) -> dict[int, BlockPosition]:
    """Return the factors' positions; a factor outside all repeated blocks gets block -1."""
    positions = {}
    for number, block in enumerate(blocks):
        for offset in range(block.size * block.instances):
            instance, index = divmod(offset, block.size)
            positions[factors[block.start + offset]] = BlockPosition(instance, number, index)
    for index, factor in enumerate(factors):
        positions.setdefault(factor, BlockPosition(0, -1, index))
    return positions
