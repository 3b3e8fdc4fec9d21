"""Packing: isomorphic gates of different lanes become one operation on words.

This is superword-level parallelism. A gate joins a pack if its operands are those of the other
members, seen from its lane: each column of a pack has one operand of every member. A few operands
may differ from those of other members or be missing, as at the ends of a row of equal parts; the
column is then assembled from several words. Packing affects only speed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from tapeformer.engines.logic.and_inverter_graph import Gate, GateKind
from tapeformer.engines.logic.netlist import Netlist
from tapeformer.engines.native.lane_assignment import Lane, LaneAssignment

MAX_FAN_IN = 20
"""An AND gate with more operands is reduced over lanes."""

MAX_SAME_OPERAND = 3
"""So is an AND gate that reads more lanes of one pack."""

MAX_READERS = 48
"""An operand read by more packs than this says little about where a gate belongs."""

MAX_CANDIDATES = 4
"""How many packs to try for one gate."""

MIN_SIMILARITY = 0.5
"""Operands may share a column if the words they depend on are at least this similar."""


class PackKind(StrEnum):
    """What a pack is: words of a token, or a gate; REDUCTION is an AND over lanes."""

    TOKEN = "token"
    FETCHED = "fetched"
    CONSTANT = "constant"
    AND = "and"
    XOR = "xor"
    REDUCTION = "reduction"


_KIND_OF_GATE = {
    GateKind.CONSTANT: PackKind.CONSTANT,
    GateKind.AND: PackKind.AND,
    GateKind.XOR: PackKind.XOR,
}


class RelativeOperand(NamedTuple):
    """An operand as seen from a lane: its pack, its sign, and how far away its lane is."""

    pack: int
    sign: int
    distance: int


class PackedBit(NamedTuple):
    """Where a gate's output is: a pack, and the lanes in it."""

    pack: int
    lane: Lane


@dataclass
class OperandColumn:
    """One operand of each member: literals by lane, and as seen from there."""

    literals: dict[int, int] = field(default_factory=dict)
    relative: set[RelativeOperand] = field(default_factory=set)

    def has(self, literal: int, operand: RelativeOperand) -> bool:
        """Check whether an operand is free: another member has the like, or the same bit."""
        return operand in self.relative or literal in self.literals.values()


@dataclass
class Pack:
    """Isomorphic gates of different lanes; `number` is a word of the token, or the first gate.

    `depth` exceeds that of all operands, so that no pack can depend on itself; `support` is the bit
    set of the words that the first member depends on.
    """

    kind: PackKind
    number: int
    depth: int
    support: int
    members: dict[int, int] = field(default_factory=dict)
    columns: list[OperandColumn] = field(default_factory=list)


class Placement(NamedTuple):
    """How a gate joins a pack: its lane, and the column of each operand, possibly a new one."""

    pack: int
    lane: int
    columns: tuple[int, ...]
    value: float = 0


class Packing:
    """The pack and lane of each gate, found one gate after another."""

    def __init__(self, netlist: Netlist, assignment: LaneAssignment) -> None:
        self.netlist, self.grid = netlist, assignment.grid
        self.packs: list[Pack] = []
        self.bits: dict[int, PackedBit] = {}
        self._known: dict[tuple[object, ...], Placement] = {}
        self._readers: dict[tuple[int, int], set[tuple[int, int]]] = {}
        self._relatives: dict[tuple[int, int], RelativeOperand] = {}
        self._add_inputs(assignment)

    def _add_inputs(self, assignment: LaneAssignment) -> None:
        words: dict[tuple[PackKind, int], int] = {}
        for gate, (factor, value) in assignment.inputs.newest.items():
            location = assignment.locations[factor][value]
            pack = self._word(words, PackKind.TOKEN, location.word)
            self.bits[gate] = PackedBit(pack, location.lane)
        for gate, (factor, value) in assignment.inputs.fetched.items():
            location = assignment.locations[factor][value]
            pack = self._word(words, PackKind.FETCHED, location.word)
            self.bits[gate] = PackedBit(pack, assignment.fetched_lanes[gate])

    def _word(self, words: dict[tuple[PackKind, int], int], kind: PackKind, word: int) -> int:
        if (kind, word) not in words:
            words[kind, word] = len(self.packs)
            self.packs.append(Pack(kind, word, 0, 1 << len(self.packs)))
        return words[kind, word]

    def _relative(self, literal: int, number: int) -> RelativeOperand:
        found = self._relatives.get((literal, number))
        if found is None:
            bit = self.bits[literal >> 1]
            distance = self.grid.nearest(bit.lane, number) - number
            found = RelativeOperand(bit.pack, literal & 1, distance)
            self._relatives[literal, number] = found
        return found

    def assign(self, order: Iterable[int]) -> None:
        """Pack all gates, given in topological order."""
        for index in order:
            if index not in self.bits:
                self.bits[index] = self._packed(index, self.netlist.gates[index])

    def _packed(self, index: int, gate: Gate) -> PackedBit:
        kind = _KIND_OF_GATE[gate.kind]
        if kind is PackKind.AND and self._is_reduction(gate.literals):
            return PackedBit(self._new(PackKind.REDUCTION, index, gate.literals), Lane())
        lane = self._common_lane([self.bits[literal >> 1].lane for literal in gate.literals])
        if lane.head is None:
            pack = self._new(kind, index, gate.literals)
            columns = tuple(range(len(gate.literals)))
            self._join(Placement(pack, 0, columns), index, gate.literals, 1)
            return PackedBit(pack, lane)
        base = self.grid.numbers(lane)[0]
        literals = sorted(gate.literals, key=lambda x: (*self._relative(x, base), x))
        everywhere = lane.instance is None
        placement = self._place(index, kind, literals, base, everywhere)
        placed = self.grid.lane(placement.lane)
        return PackedBit(placement.pack, Lane(placed.head) if everywhere else placed)

    def _common_lane(self, lanes: Sequence[Lane]) -> Lane:
        """Return the lane of most operands: every instance of a head if no operand has just one."""
        placed = [lane for lane in lanes if lane.instance is not None]
        placed = placed or [lane for lane in lanes if lane.head is not None]
        return min(
            set(placed),
            key=lambda lane: (-placed.count(lane), lane.instance or 0, lane.head or 0),
            default=Lane(),
        )

    def _is_reduction(self, literals: Sequence[int]) -> bool:
        """Check whether an AND has many operands, or reads many lanes of one pack."""
        if not MAX_SAME_OPERAND < len(literals) <= MAX_FAN_IN:
            return len(literals) > MAX_FAN_IN
        bits = [(self.bits[literal >> 1], literal & 1) for literal in literals]
        same = Counter((bit.pack, sign) for bit, sign in bits if bit.lane.head is not None)
        return max(same.values(), default=0) > MAX_SAME_OPERAND

    def _place(
        self, index: int, kind: PackKind, literals: Sequence[int], base: int, everywhere: bool
    ) -> Placement:
        """Put a gate into the pack of a similar gate, into one that it fits, or into a new one."""
        instances = self.grid.instances if everywhere else 1
        key = (kind, everywhere, *(self._relative(literal, base) for literal in literals))
        like = self._known.get(key)
        placement = None if like is None else Placement(like.pack, base + like.lane, like.columns)
        if placement is None or not self._is_free(placement.pack, placement.lane, instances):
            placement = self._best(kind, literals, instances)
        if placement is None:
            pack = self._new(kind, index, literals)
            placement = Placement(pack, base, tuple(range(len(literals))))
        relative = Placement(placement.pack, placement.lane - base, placement.columns)
        self._known.setdefault(key, relative)
        self._join(placement, index, literals, instances)
        return placement

    def _is_free(self, pack: int, lane: int, instances: int) -> bool:
        """Check whether a pack has a free lane for a gate, in each of its instances."""
        last = self.grid.heads if instances > 1 else self.grid.heads * self.grid.instances
        members = self.packs[pack].members
        lanes = range(lane, lane + instances * self.grid.heads, self.grid.heads)
        return 0 <= lane < last and not any(number in members for number in lanes)

    def _new(self, kind: PackKind, index: int, literals: Sequence[int]) -> int:
        packs = [self.packs[self.bits[literal >> 1].pack] for literal in literals]
        depth = 1 + max((pack.depth for pack in packs), default=0)
        support = 0
        for pack in packs:
            support |= pack.support
        self.packs.append(Pack(kind, index, depth, support))
        return len(self.packs) - 1

    def _join(
        self, placement: Placement, index: int, literals: Sequence[int], instances: int
    ) -> None:
        """Make a gate a member of a pack, in each of its instances."""
        pack, heads = self.packs[placement.pack], self.grid.heads
        for lane in range(placement.lane, placement.lane + instances * heads, heads):
            pack.members[lane] = index
            for column, literal in zip(placement.columns, literals, strict=True):
                while column >= len(pack.columns):
                    pack.columns.append(OperandColumn())
                operand = self._relative(literal, lane)
                pack.columns[column].literals[lane] = literal
                pack.columns[column].relative.add(operand)
                readers = self._readers.setdefault((operand.pack, operand.sign), set())
                readers.add((placement.pack, operand.distance))

    def _best(self, kind: PackKind, literals: Sequence[int], instances: int) -> Placement | None:
        """Return the placement that fits a gate best, if one fits well."""
        votes: Counter[tuple[int, int]] = Counter()
        for literal in literals:
            bit = self.bits[literal >> 1]
            readers = self._readers.get((bit.pack, literal & 1), set())
            if bit.lane.head is not None and len(readers) <= MAX_READERS:
                own = self.grid.numbers(bit.lane)[0]
                votes.update((pack, own - distance) for pack, distance in readers)
        depth = max(self.packs[self.bits[literal >> 1].pack].depth for literal in literals)
        placements = [
            self._placement(pack, lane, literals)
            for (pack, lane), _ in votes.most_common(MAX_CANDIDATES)
            if self.packs[pack].kind is kind
            and self.packs[pack].depth > depth
            and self._is_free(pack, lane, instances)
        ]
        good = [placement for placement in placements if placement is not None]
        return max(good, key=lambda placement: placement.value, default=None)

    def _placement(self, number: int, lane: int, literals: Sequence[int]) -> Placement | None:
        """Return how a gate would join a pack, if it fits well enough."""
        pack = self.packs[number]
        free = list(range(len(pack.columns)))
        chosen: dict[int, int] = {}
        for literal in literals:
            operand = self._relative(literal, lane)
            column = next((c for c in free if pack.columns[c].has(literal, operand)), None)
            if column is not None:
                chosen[literal] = column
                free.remove(column)
        exact = len(chosen)
        for literal in literals:
            column = None if literal in chosen else self._similar_column(pack, free, literal)
            if column is not None:
                chosen[literal] = column
                free.remove(column)
        new = [literal for literal in literals if literal not in chosen]
        chosen |= {literal: len(pack.columns) + i for i, literal in enumerate(new)}
        value = (exact + len(literals)) / 2 - len(new) - len(free) / 4
        incomplete = pack.kind is PackKind.XOR and bool(new or free)
        if not exact or 2 * value < len(literals) or incomplete:
            return None
        return Placement(number, lane, tuple(chosen[literal] for literal in literals), value)

    def _similar_column(self, pack: Pack, free: Sequence[int], literal: int) -> int | None:
        """Return a free column whose operands depend on nearly the same words."""
        support = self.packs[self.bits[literal >> 1].pack].support
        best, found = MIN_SIMILARITY, None
        for column in free:
            other = next(iter(pack.columns[column].literals.values()))
            others = self.packs[self.bits[other >> 1].pack].support
            similarity = (support & others).bit_count() / max(1, (support | others).bit_count())
            if similarity >= best and other & 1 == literal & 1:
                best, found = similarity, column
        return found
