"""Logic -> words, one word per bit: for batches, where each place of a word is another input."""

from __future__ import annotations

from collections.abc import Iterable

from tapeformer.engines.logic.and_inverter_graph import Gate
from tapeformer.engines.logic.program import ONES, Program, Words
from tapeformer.engines.logic.symbolic_position import Logic


def needed(logic: Logic, first: Iterable[int] = ()) -> list[int]:
    """The gates that the outputs depend on, operands first, each near its first use.

    What the factors in `first` depend on comes before all else.
    """
    factors = dict.fromkeys([*first, *range(len(logic.following))])
    roots = [*(bit for f in factors for bit in logic.following[f]), logic.guard, *logic.margin]
    sources = {f.literal >> 1: f.source >> 1 for f in logic.fetched}
    order: list[int] = []
    state: dict[int, bool] = {}
    pending = [(literal >> 1, False) for literal in reversed(roots)]
    while pending:
        gate, left = pending.pop()
        if left:
            order.append(gate)
        elif gate not in state:
            state[gate] = True
            pending.append((gate, True))
            operands = [literal >> 1 for literal in logic.gates[gate].literals]
            operands += [sources[gate]] if gate in sources else []
            pending += [(operand, False) for operand in reversed(operands)]
    return order


def bitwise_program(logic: Logic) -> Program:
    """The program in which every bit of a token, and every gate, is a word of its own."""
    return _Bitwise(logic).program()


class _Bitwise:
    """Gates become words one after another; a word may hold a gate's complement."""

    def __init__(self, logic: Logic) -> None:
        self.logic, self.words = logic, Words()
        self.fetched = {f.literal >> 1: f for f in logic.fetched}
        bits = [bit >> 1 for factor in logic.token for bit in factor]
        self.place = {gate: word for word, gate in enumerate(bits) if gate}
        self.width = len(bits)
        self.kept: dict[int, int] = {}
        self.made: dict[int, tuple[int, bool]] = {}

    def program(self) -> Program:
        for gate in needed(self.logic):
            self.made[gate] = self._gate(gate, self.logic.gates[gate])
        following = tuple(self._word(bit) for factor in self.logic.following for bit in factor)
        guard = self._word(self.logic.guard)
        margin = tuple(self._word(bit) for bit in self.logic.margin)
        return Program(tuple(self.words.operations), self.width, following, guard, margin)

    def _gate(self, number: int, gate: Gate) -> tuple[int, bool]:
        """The word of a gate, and whether it holds the complement."""
        if gate.kind == "constant":
            return self.words.constant(0), False
        if gate.kind == "input":
            return self._input(number)
        if gate.kind == "xor":
            left, right = (self.made[literal >> 1] for literal in gate.literals)
            return self.words.xor(left[0], right[0]), left[1] != right[1]
        return self.words.all_of(*self._sides(gate.literals))

    def _sides(self, literals: Iterable[int]) -> tuple[list[int], list[int]]:
        sides: tuple[list[int], list[int]] = ([], [])
        for literal in literals:
            word, complement = self.made[literal >> 1]
            sides[complement != bool(literal & 1)].append(word)
        return sides

    def _input(self, number: int) -> tuple[int, bool]:
        if number in self.place:
            return self.words.make("token", self.place[number]), False
        fetched = self.fetched[number]
        source, negated = fetched.source, bool(fetched.source & 1)
        if source >> 1 in self.place:
            place = self.place[source >> 1]
            return self.words.make("fetched", place, fetched.head, ONES), negated
        if source not in self.kept:
            self.kept[source] = self.width
            self.words.make("kept", self.width, self._word(source))
            self.width += 1
        return self.words.make("fetched", self.kept[source], fetched.head, ONES), False

    def _word(self, literal: int) -> int:
        word, complement = self.made[literal >> 1]
        return self.words.complement(word) if complement != bool(literal & 1) else word
