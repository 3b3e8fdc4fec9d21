"""The order of a program's operations: few live values at a time, so that registers can hold them.

Operations come root by root, operands first; for CPUs, list scheduling then reorders them. Outputs
that combine very many parts, such as the guard (an OR) and the margin (an AND), would come last and
keep all their parts alive until then. Instead, each part is combined with the ones before it as
soon as it can be computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tapeformer.engines.logic.list_scheduling import ListScheduling
from tapeformer.engines.logic.program import (
    AT_HAND,
    Binary,
    BinaryOpcode,
    LoadFetched,
    Operation,
    Program,
    StoreToken,
    renumbered,
)


@dataclass
class _Accumulator:
    """An output that combines parts by one opcode; `total` is the operation for those so far."""

    opcode: BinaryOpcode
    parts: frozenset[int]
    total: int | None = None


def root_by_root(program: Program) -> Program:
    """Return the same program with its operations grouped by output."""
    ordering = _Ordering(program)
    return ordering.emitted(ordering.by_roots())


def with_short_lifetimes(program: Program) -> Program:
    """Return the same program in an order that keeps few values alive."""
    ordering = _Ordering(program)
    return ordering.emitted(ordering.scheduled(ordering.by_roots()))


class _Ordering:
    """Reorders the operations of one program."""

    def __init__(self, program: Program) -> None:
        self.program, self.old = program, program.operations
        self.stores = {op.word: i for i, op in enumerate(self.old) if isinstance(op, StoreToken)}
        self.accumulators = [self._accumulator(program.guard, BinaryOpcode.OR)]
        self.accumulators += [self._accumulator(n, BinaryOpcode.AND) for n in program.margin]
        self.owners: dict[int, list[_Accumulator]] = {}
        for accumulator in self.accumulators:
            for part in accumulator.parts:
                self.owners.setdefault(part, []).append(accumulator)
        self.new: list[Operation] = []
        self.index: dict[int, int] = {}

    def by_roots(self) -> list[int]:
        """Return all operations, grouped by root."""
        return self._cones(self._roots())

    def emitted(self, order: Iterable[int]) -> Program:
        """Return the program with its operations in this order."""
        for index in order:
            self._emit(index)
        guard, *margin = (accumulator.total for accumulator in self.accumulators)
        assert guard is not None
        return replace(
            self.program,
            operations=tuple(self.new),
            next_token=tuple(self.index[index] for index in self.program.next_token),
            guard=guard,
            margin=tuple(total for total in margin if total is not None),
        )

    def _accumulator(self, root: int, opcode: BinaryOpcode) -> _Accumulator:
        """Return the accumulator of an output: the parts that its tree of one opcode combines."""
        parts, pending, seen = set(), [root], {root}
        while pending:
            index = pending.pop()
            operation = self.old[index]
            if isinstance(operation, Binary) and operation.opcode is opcode:
                fresh = [operand for operand in operation.operands if operand not in seen]
                seen.update(fresh)
                pending += fresh
            else:
                parts.add(index)
        return _Accumulator(opcode, frozenset(parts))

    def _roots(self) -> list[int]:
        """Return the next token's words and all parts, each part once what it shares is there."""
        outputs = [*self.stores.values(), *dict.fromkeys(self.program.next_token)]
        places = {index: place for place, index in enumerate(self._cones(outputs))}
        roots = [(places[index], 0, index) for index in outputs]
        roots += [(self._ready(places, part), 1, part) for part in self.owners]
        return [root for _, _, root in sorted(roots)]

    def _cones(self, roots: Sequence[int]) -> list[int]:
        """Return everything that the roots depend on, operands first, root by root."""
        order: list[int] = []
        seen: set[int] = set()
        for root in roots:
            pending = [(root, False)]
            while pending:
                index, done = pending.pop()
                if done:
                    order.append(index)
                elif index not in seen:
                    seen.add(index)
                    pending.append((index, True))
                    pending += [(before, False) for before in reversed(self._before(index))]
        return order

    def scheduled(self, order: Sequence[int]) -> Iterator[int]:
        """Return the same operations in an order that keeps fewer values alive."""
        before = {index: self._before(index) for index in order}
        at_hand = frozenset(index for index in order if isinstance(self.old[index], AT_HAND))
        return ListScheduling(order, before, at_hand).scheduled()

    def _before(self, index: int) -> tuple[int, ...]:
        """Return what must come before: operands, or the store of a word that is fetched."""
        operation = self.old[index]
        if isinstance(operation, LoadFetched) and operation.word in self.stores:
            return (self.stores[operation.word],)
        return operation.operands

    def _ready(self, places: dict[int, int], part: int) -> int:
        """Return the place after which a part needs nothing more that other outputs compute."""
        latest, pending, seen = -1, [part], {part}
        while pending:
            index = pending.pop()
            if index in places:
                latest = max(latest, places[index])
                continue
            fresh = [before for before in self._before(index) if before not in seen]
            seen.update(fresh)
            pending += fresh
        return latest

    def _emit(self, index: int) -> None:
        """Append an operation, then combine it with the parts before it."""
        self.index[index] = len(self.new)
        self.new.append(renumbered(self.old[index], self.index))
        for accumulator in self.owners.get(index, ()):
            before, accumulator.total = accumulator.total, self.index[index]
            if before is not None:
                accumulator.total = len(self.new)
                self.new.append(Binary(accumulator.opcode, before, self.index[index]))
