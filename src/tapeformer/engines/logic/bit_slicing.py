"""Bit-slicing: one word per gate, in which each bit belongs to another input of the batch."""

from __future__ import annotations

from collections.abc import Iterable

from tapeformer.engines.logic.and_inverter_graph import Gate, GateKind
from tapeformer.engines.logic.cone import fan_in_cone
from tapeformer.engines.logic.machine_words import ONES
from tapeformer.engines.logic.netlist import Netlist
from tapeformer.engines.logic.program import (
    LoadChoice,
    LoadFetched,
    LoadToken,
    Program,
    ProgramBuilder,
    StoreToken,
)

SignedWord = tuple[int, bool]
"""The index of an operation, and whether its value is the complement of the one meant."""


def bit_sliced_program(netlist: Netlist) -> Program:
    """Return the program in which each bit of a token and each gate has a word of its own."""
    return _BitSlicing(netlist).program()


class _BitSlicing:
    """Translates gates one after another; a word may hold a gate's complement."""

    def __init__(self, netlist: Netlist) -> None:
        self.netlist, self.builder = netlist, ProgramBuilder()
        self.fetched = {bit.literal >> 1: bit for bit in netlist.fetched}
        gates = [literal >> 1 for factor in netlist.token for literal in factor]
        self.token_word = {gate: word for word, gate in enumerate(gates) if gate}
        self.column = {literal >> 1: column for column, literal in enumerate(netlist.choices)}
        self.width = len(gates)
        self.stored: dict[int, int] = {}
        self.words: dict[int, SignedWord] = {}

    def program(self) -> Program:
        for gate in fan_in_cone(self.netlist):
            self.words[gate] = self._gate(gate, self.netlist.gates[gate])
        outputs = [literal for factor in self.netlist.next_token for literal in factor]
        next_token = tuple(self._word(literal) for literal in outputs)
        guard = self._word(self.netlist.guard)
        margin = tuple(self._word(literal) for literal in self.netlist.margin)
        return Program(tuple(self.builder.operations), self.width, next_token, guard, margin)

    def _gate(self, index: int, gate: Gate) -> SignedWord:
        if gate.kind is GateKind.AND:
            return self.builder.conjunction(*self._by_sign(gate.literals))
        if gate.kind is GateKind.XOR:
            left, right = (self.words[literal >> 1] for literal in gate.literals)
            return self.builder.xor(left[0], right[0]), left[1] != right[1]
        if gate.kind is GateKind.INPUT:
            return self._input(index)
        return self.builder.constant(0), False

    def _by_sign(self, literals: Iterable[int]) -> tuple[list[int], list[int]]:
        """Split literals into plain words and words to complement."""
        signs: tuple[list[int], list[int]] = ([], [])
        for literal in literals:
            word, complemented = self.words[literal >> 1]
            signs[complemented != bool(literal & 1)].append(word)
        return signs

    def _input(self, gate: int) -> SignedWord:
        if gate in self.token_word:
            return self.builder.add(LoadToken(self.token_word[gate])), False
        if gate in self.column:
            return self.builder.add(LoadChoice(self.column[gate])), False
        bit = self.fetched[gate]
        masks = ((bit.head, ONES),)
        if bit.source >> 1 in self.token_word:
            word = self.token_word[bit.source >> 1]
            return self.builder.add(LoadFetched(word, masks)), bool(bit.source & 1)
        if bit.source not in self.stored:
            self.stored[bit.source] = self.width
            self.builder.add(StoreToken(self.width, self._word(bit.source)))
            self.width += 1
        return self.builder.add(LoadFetched(self.stored[bit.source], masks)), False

    def _word(self, literal: int) -> int:
        word, complemented = self.words[literal >> 1]
        return self.builder.complement(word) if complemented != bool(literal & 1) else word
