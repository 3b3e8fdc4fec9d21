"""From gates to a program for one stream: each pack of isomorphic gates is one operation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tapeformer.engines.logic.bit_slicing import SignedWord
from tapeformer.engines.logic.cone import fan_in_cone
from tapeformer.engines.logic.machine_words import ONES
from tapeformer.engines.logic.netlist import Netlist
from tapeformer.engines.logic.program import (
    AnyLane,
    Broadcast,
    LoadFetched,
    LoadToken,
    Program,
    ProgramBuilder,
)
from tapeformer.engines.native.lane_assignment import MAX_LANES, BitLocation, LaneAssignment
from tapeformer.engines.native.memory_layout import ValueMasks
from tapeformer.engines.native.packing import OperandColumn, Pack, Packing, PackKind


class MovedWord(NamedTuple):
    """A word, how far to shift it, and whether it holds the complement."""

    word: int
    places: int
    complemented: bool


def is_packable(netlist: Netlist) -> bool:
    """Check whether heads fetch only plain bits of tokens, and there is a lane for each head."""
    literals = {literal for factor in netlist.token for literal in factor if literal > 1}
    return all(bit.source in literals and bit.head < MAX_LANES for bit in netlist.fetched)


def packed_program(netlist: Netlist) -> tuple[Program, ValueMasks]:
    """Return the program, and the word and mask of each value of a token."""
    assignment = LaneAssignment(netlist)
    packing = Packing(netlist, assignment)
    packing.assign(fan_in_cone(netlist, assignment.middle_first()))
    masks = tuple(
        tuple((bit.word, _mask(assignment.grid.numbers(bit.lane)) or ONES) for bit in factor)
        for factor in assignment.locations
    )
    return _PackTranslation(netlist, assignment, packing).program(), masks


def _mask(lanes: Iterable[int]) -> int:
    return sum(1 << lane for lane in lanes)


class _PackTranslation:
    """Translates packs into operations; a word may hold the complement of its pack."""

    def __init__(self, netlist: Netlist, assignment: LaneAssignment, packing: Packing) -> None:
        self.netlist, self.packing = netlist, packing
        self.grid, self.locations = assignment.grid, assignment.locations
        self.builder = ProgramBuilder()
        self.words: dict[int, SignedWord] = {}
        self.fetch_masks: dict[int, dict[int, int]] = {}
        for gate, head in assignment.inputs.head.items():
            masks = self.fetch_masks.setdefault(packing.bits[gate].pack, {})
            lanes = self.grid.numbers(packing.bits[gate].lane)
            masks[head] = masks.get(head, 0) | _mask(lanes)

    def program(self) -> Program:
        """Translate all packs, operands first, then assemble the words of the next token."""
        width = 1 + max(bit.word for factor in self.locations for bit in factor)
        targets: list[list[tuple[BitLocation, int]]] = [[] for _ in range(width)]
        for factor, literals in zip(self.locations, self.netlist.next_token, strict=True):
            for location, literal in zip(factor, literals, strict=True):
                targets[location.word].append((location, literal))
        next_token = tuple(self._next_word(target) for target in targets)
        guard = self._in_all_lanes(self.netlist.guard)
        margin = tuple(self._in_all_lanes(literal) for literal in self.netlist.margin)
        return Program(tuple(self.builder.operations), width, next_token, guard, margin)

    def _next_word(self, target: Sequence[tuple[BitLocation, int]]) -> int:
        """Return a word of the next token from the literals of its lanes."""
        if not target:
            return self.builder.constant(0)
        if target[0][0].lane.head is None:
            return self._in_all_lanes(target[0][1])
        self._translate(literal for _, literal in target)
        lanes = {n: literal for bit, literal in target for n in self.grid.numbers(bit.lane)}
        return self._plain(self._assemble(lanes, 0))

    def _in_all_lanes(self, literal: int) -> int:
        self._translate([literal])
        word, complemented = self.words[self.packing.bits[literal >> 1].pack]
        return self._plain((self._broadcast(literal, word), complemented != bool(literal & 1)))

    def _broadcast(self, literal: int, word: int) -> int:
        lanes = self.grid.numbers(self.packing.bits[literal >> 1].lane)
        return self.builder.add(Broadcast(word, lanes[0])) if lanes else word

    def _plain(self, signed: SignedWord) -> int:
        return self.builder.complement(signed[0]) if signed[1] else signed[0]

    def _translate(self, literals: Iterable[int]) -> None:
        """Translate the literals' packs and everything they depend on."""
        bits = self.packing.bits
        pending = [(bits[literal >> 1].pack, False) for literal in literals]
        while pending:
            number, ready = pending.pop()
            if number in self.words:
                continue
            pack = self.packing.packs[number]
            if ready:
                self.words[number] = self._word(number, pack)
            else:
                pending.append((number, True))
                pending += [(bits[x >> 1].pack, False) for x in self._operands(pack)]

    def _operands(self, pack: Pack) -> list[int]:
        if pack.kind is PackKind.REDUCTION:
            return list(self.netlist.gates[pack.number].literals)
        return [literal for column in pack.columns for literal in column.literals.values()]

    def _word(self, number: int, pack: Pack) -> SignedWord:
        if pack.kind is PackKind.TOKEN:
            return self.builder.add(LoadToken(pack.number)), False
        if pack.kind is PackKind.FETCHED:
            masks = tuple(sorted(self.fetch_masks[number].items()))
            return self.builder.add(LoadFetched(pack.number, masks)), False
        if pack.kind is PackKind.CONSTANT:
            return self.builder.constant(0), False
        if pack.kind is PackKind.REDUCTION:
            return self._reduce(self.netlist.gates[pack.number].literals)
        return self._combine(pack)

    def _combine(self, pack: Pack) -> SignedWord:
        operands = [self._column(pack, column) for column in pack.columns]
        if pack.kind is PackKind.XOR:
            (left, a), (right, b) = operands
            return self.builder.xor(left, right), a != b
        words = [word for word, complemented in operands if not complemented]
        complements = [word for word, complemented in operands if complemented]
        return self.builder.conjunction(words, complements)

    def _column(self, pack: Pack, column: OperandColumn) -> SignedWord:
        """Return one operand of every member; 1, neutral in an AND, for members without one."""
        missing = _mask(lane for lane in pack.members if lane not in column.literals)
        return self._assemble(column.literals, missing)

    def _assemble(self, literals: Mapping[int, int], ones: int) -> SignedWord:
        """Put literals into their lanes, and 1 into those of `ones`; other lanes are arbitrary."""
        groups = self._group_by_word(literals)
        main = max(groups, key=lambda moved: (groups[moved].bit_count(), moved))
        word, complemented = self.builder.shift(main.word, main.places), main.complemented
        rest = {moved: mask for moved, mask in groups.items() if moved != main}
        cleared = sum(rest.values()) | (ones if complemented else 0)
        parts = [self.builder.mask(word, ONES ^ cleared)]
        parts += [self._part(moved, mask, complemented) for moved, mask in rest.items()]
        if ones and not complemented:
            parts.append(self.builder.constant(ones))
        return self.builder.disjunction(parts), complemented

    def _group_by_word(self, literals: Mapping[int, int]) -> dict[MovedWord, int]:
        """Return the words to assemble, and the lanes that each of them supplies."""
        distance = {lane: self._distance(literal, lane) for lane, literal in literals.items()}
        found: dict[int, set[int]] = {}
        for lane, literal in literals.items():
            found.setdefault(literal, set()).add(distance[lane])
        groups: dict[MovedWord, int] = {}
        for lane, literal in literals.items():
            moved = self._moved(literal, None if len(found[literal]) > 1 else distance[lane])
            groups[moved] = groups.get(moved, 0) | 1 << lane
        return groups

    def _distance(self, literal: int, lane: int) -> int:
        """Return how far to shift a literal to get it into a lane."""
        return lane - self.grid.nearest(self.packing.bits[literal >> 1].lane, lane)

    def _moved(self, literal: int, distance: int | None) -> MovedWord:
        """Return the word that holds a literal, moved by a distance or broadcast to all lanes."""
        word, complemented = self.words[self.packing.bits[literal >> 1].pack]
        complemented = complemented != bool(literal & 1)
        if distance is None:
            return MovedWord(self._broadcast(literal, word), 0, complemented)
        return MovedWord(word, distance, complemented)

    def _part(self, moved: MovedWord, mask: int, complemented: bool) -> int:
        """Return some lanes of a word, complemented if asked for."""
        word = self.builder.shift(moved.word, moved.places)
        if moved.complemented == complemented:
            return self.builder.mask(word, mask)
        return self.builder.and_not(self.builder.constant(mask), word)

    def _reduce(self, literals: Iterable[int]) -> SignedWord:
        """Return an AND over lanes: the complement of "any operand is 0"."""
        masks: dict[SignedWord, int] = {}
        for literal in literals:
            bit = self.packing.bits[literal >> 1]
            word, complemented = self.words[bit.pack]
            key = word, complemented == bool(literal & 1)
            masks[key] = masks.get(key, 0) | (_mask(self.grid.numbers(bit.lane)) or ONES)
        groups: dict[tuple[int, bool], list[int]] = {}
        for (word, inverted), mask in masks.items():
            groups.setdefault((mask, inverted), []).append(word)
        zeros = []
        for (mask, inverted), words in groups.items():
            found = self._all(words) if inverted else self.builder.disjunction(words)
            zeros.append(self._part(MovedWord(found, 0, inverted), mask, False))
        return self.builder.add(AnyLane(self.builder.disjunction(zeros))), True

    def _all(self, words: Sequence[int]) -> int:
        return self.builder.conjunction(words, [])[0]
