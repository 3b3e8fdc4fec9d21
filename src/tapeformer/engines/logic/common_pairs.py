"""Common pairs: what several ANDs (or ORs) of many words have in common is computed once.

An AND of many words is a tree of operations, and any pairing will do. The pair that most trees
contain becomes an operation of its own, again and again, greedily.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from tapeformer.engines.logic.program import (
    Binary,
    BinaryOpcode,
    Operation,
    Program,
    ProgramBuilder,
    renumbered,
)

MAX_OPERANDS = 24
"""Trees with more operands are left alone: they have too many pairs to count."""

TREES = (BinaryOpcode.AND, BinaryOpcode.OR)
"""Operations that are associative and commutative."""

Pair = tuple[int, int]


def with_common_pairs(program: Program) -> Program:
    """Return a program that computes the same with fewer operations."""
    trees = _Trees(program)
    shared: dict[int, Pair] = {}
    for opcode in TREES:
        first = len(program.operations) + len(shared)
        shared |= _PairSharing(trees.of(opcode), first).shared()
    return _Rebuilding(program, trees, shared).program()


class _Trees:
    """The trees of each opcode: the operands that they combine, by root."""

    def __init__(self, program: Program) -> None:
        self.operations = program.operations
        self.uses = Counter(x for operation in self.operations for x in operation.operands)
        self.uses.update([*program.next_token, program.guard, *program.margin])
        self.operands: dict[int, set[int]] = {}
        inner: set[int] = set()
        for index in reversed(range(len(self.operations))):
            if self._opcode(index) in TREES and index not in inner:
                self.operands[index] = self._leaves(index, inner)

    def _opcode(self, index: int) -> BinaryOpcode | None:
        operation = self.operations[index]
        return operation.opcode if isinstance(operation, Binary) else None

    def _leaves(self, root: int, inner: set[int]) -> set[int]:
        """Return the operands of a tree; operations that only the tree reads are part of it."""
        opcode, leaves = self._opcode(root), set()
        pending = list(self.operations[root].operands)
        while pending:
            index = pending.pop()
            if self._opcode(index) is opcode and self.uses[index] == 1:
                inner.add(index)
                pending += self.operations[index].operands
            else:
                leaves.add(index)
        return leaves

    def of(self, opcode: BinaryOpcode) -> dict[int, set[int]]:
        """Return the trees of one opcode."""
        return {
            root: found for root, found in self.operands.items() if self._opcode(root) is opcode
        }


class _PairSharing:
    """Takes pairs out of trees' operand sets and numbers them from `first`."""

    def __init__(self, trees: dict[int, set[int]], first: int) -> None:
        self.trees, self.first = trees, first
        self.holders: dict[Pair, set[int]] = {}
        for root, operands in trees.items():
            if len(operands) <= MAX_OPERANDS:
                for pair in combinations(sorted(operands), 2):
                    self.holders.setdefault(pair, set()).add(root)
        self.heap = [(-len(roots), pair) for pair, roots in self.holders.items() if len(roots) > 1]
        heapq.heapify(self.heap)

    def shared(self) -> dict[int, Pair]:
        """Return the pairs taken out, by the number that replaces each of them."""
        found: dict[int, Pair] = {}
        for pair in self._most_common():
            number = self.first + len(found)
            found[number] = pair
            for root in sorted(self.holders[pair]):
                self._replace(root, pair, number)
        return found

    def _most_common(self) -> Iterator[Pair]:
        """Yield the pair that most trees contain at the moment, until no two trees share one."""
        while self.heap:
            times, pair = heapq.heappop(self.heap)
            now = len(self.holders[pair])
            if now > 1 and now == -times:
                yield pair
            elif now > 1:
                heapq.heappush(self.heap, (-now, pair))

    def _replace(self, root: int, pair: Pair, number: int) -> None:
        """Make a tree read a pair's number instead of the pair."""
        operands = self.trees[root]
        for gone in pair:
            operands.discard(gone)
        self.holders[pair].discard(root)
        for other in operands:
            for gone in pair:
                self.holders[min(gone, other), max(gone, other)].discard(root)
            roots = self.holders.setdefault((other, number), set())
            roots.add(root)
            if len(roots) > 1:
                heapq.heappush(self.heap, (-len(roots), (other, number)))
        operands.add(number)


class _Rebuilding:
    """Writes the operations again, operands first."""

    def __init__(self, program: Program, trees: _Trees, shared: dict[int, Pair]) -> None:
        self.old, self.trees, self.shared = program, trees, shared
        self.builder = ProgramBuilder()
        self.index: dict[int, int] = {}

    def program(self) -> Program:
        """Write the operations in the order of the program, trees with their shared pairs."""
        for index, operation in enumerate(self.old.operations):
            if index in self.trees.operands:
                self.index[index] = self._tree(index)
            elif not self._is_inner(index, operation):
                self.index[index] = self.builder.add(renumbered(operation, self.index))
        return replace(
            self.old,
            operations=tuple(self.builder.operations),
            next_token=tuple(self.index[index] for index in self.old.next_token),
            guard=self.index[self.old.guard],
            margin=tuple(self.index[index] for index in self.old.margin),
        )

    def _is_inner(self, index: int, operation: Operation) -> bool:
        """Check whether an operation is inside a tree, which is written at its root."""
        is_tree = isinstance(operation, Binary) and operation.opcode in TREES
        return is_tree and index not in self.trees.operands

    def _tree(self, root: int) -> int:
        operation = self.old.operations[root]
        assert isinstance(operation, Binary)
        words = [self._word(x, operation.opcode) for x in sorted(self.trees.operands[root])]
        return self.builder.tree(operation.opcode, words)

    def _word(self, number: int, opcode: BinaryOpcode) -> int:
        """Return an operand's new index; a pair is written where it is first read."""
        if number not in self.index:
            left, right = (self._word(x, opcode) for x in self.shared[number])
            self.index[number] = self.builder.tree(opcode, [left, right])
        return self.index[number]
