"""Logic -> words for one stream: gates of one role, in different lanes, are one operation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tapeformer.engines.logic.bit_slicing import needed
from tapeformer.engines.logic.program import ONES, Program, Words
from tapeformer.engines.logic.symbolic_position import Logic
from tapeformer.engines.native.lane_assignment import MOST_LANES, Seat, Seating
from tapeformer.engines.native.memory_layout import Places
from tapeformer.engines.native.packing import Column, Role, Roles

Signed = tuple[int, bool]
"""A word, and whether it holds the complement of what is meant."""


def fits(logic: Logic) -> bool:
    """Whether heads fetch bits of tokens only, as they are, and there are lanes for all of them."""
    bits = {bit for factor in logic.token for bit in factor if bit > 1}
    return all(f.source in bits and f.head < MOST_LANES for f in logic.fetched)


def packed_program(logic: Logic) -> tuple[Program, Places]:
    """The program, and where it has the values of a token."""
    seating = Seating(logic)
    roles = Roles(logic, seating)
    roles.assign(needed(logic, seating.from_the_middle()))
    places = tuple(
        tuple((seat.word, _mask(seating.grid.numbers(seat.lane)) or ONES) for seat in row)
        for row in seating.seats
    )
    return _Packing(logic, seating, roles).program(), places


def _mask(lanes: Iterable[int]) -> int:
    return sum(1 << lane for lane in lanes)


class _Packing:
    """Roles become words."""

    def __init__(self, logic: Logic, seating: Seating, roles: Roles) -> None:
        self.logic, self.roles = logic, roles
        self.grid, self.seats = seating.grid, seating.seats
        self.words = Words()
        self.made: dict[int, Signed] = {}
        self.fetches: dict[int, dict[int, int]] = {}
        for bit, head in seating.inputs.head_of.items():
            masks = self.fetches.setdefault(roles.spots[bit].role, {})
            lanes = self.grid.numbers(roles.spots[bit].lane)
            masks[head] = masks.get(head, 0) | _mask(lanes)

    def program(self) -> Program:
        """All roles, operands first, then the words of the next token."""
        width = 1 + max(seat.word for row in self.seats for seat in row)
        targets: list[list[tuple[Seat, int]]] = [[] for _ in range(width)]
        for row, bits in zip(self.seats, self.logic.following, strict=True):
            for seat, literal in zip(row, bits, strict=True):
                targets[seat.word].append((seat, literal))
        following = tuple(self._following(target) for target in targets)
        guard = self._everywhere(self.logic.guard)
        margin = tuple(self._everywhere(literal) for literal in self.logic.margin)
        return Program(tuple(self.words.operations), width, following, guard, margin)

    def _following(self, target: Sequence[tuple[Seat, int]]) -> int:
        """A word of the next token from the literals of its lanes."""
        if not target:
            return self.words.constant(0)
        if target[0][0].lane.head is None:
            return self._everywhere(target[0][1])
        self._make(literal for _, literal in target)
        cells = {n: literal for seat, literal in target for n in self.grid.numbers(seat.lane)}
        return self._plain(self._assembled(cells, 0))

    def _everywhere(self, literal: int) -> int:
        """A literal in all lanes."""
        self._make([literal])
        word, inverted = self.made[self.roles.spots[literal >> 1].role]
        return self._plain((self._spread(literal, word), inverted != bool(literal & 1)))

    def _spread(self, literal: int, word: int) -> int:
        lanes = self.grid.numbers(self.roles.spots[literal >> 1].lane)
        return self.words.make("spread", word, lanes[0]) if lanes else word

    def _plain(self, signed: Signed) -> int:
        return self.words.complement(signed[0]) if signed[1] else signed[0]

    def _make(self, literals: Iterable[int]) -> None:
        """The words of the literals' roles, and of all that they depend on."""
        spots = self.roles.spots
        pending = [(spots[literal >> 1].role, False) for literal in literals]
        while pending:
            number, ready = pending.pop()
            if number in self.made:
                continue
            role = self.roles.roles[number]
            if ready:
                self.made[number] = self._word(number, role)
            else:
                pending.append((number, True))
                pending += [(spots[x >> 1].role, False) for x in self._operands(role)]

    def _operands(self, role: Role) -> list[int]:
        if role.kind == "wide":
            return list(self.logic.gates[role.number].literals)
        return [literal for column in role.columns for literal in column.cells.values()]

    def _word(self, number: int, role: Role) -> Signed:
        if role.kind == "token":
            return self.words.make("token", role.number), False
        if role.kind == "fetched":
            parts = [n for pair in sorted(self.fetches[number].items()) for n in pair]
            return self.words.make("fetched", role.number, *parts), False
        if role.kind == "constant":
            return self.words.constant(0), False
        if role.kind == "wide":
            return self._gathered(self.logic.gates[role.number].literals)
        return self._combined(role)

    def _combined(self, role: Role) -> Signed:
        operands = [self._column(role, column) for column in role.columns]
        if role.kind == "xor":
            (left, a), (right, b) = operands
            return self.words.xor(left, right), a != b
        yes = [word for word, negated in operands if not negated]
        return self.words.all_of(yes, [word for word, negated in operands if negated])

    def _column(self, role: Role, column: Column) -> Signed:
        """One operand of every member; where a member has none, nothing must hold it back."""
        missing = sum(1 << lane for lane in role.members if lane not in column.cells)
        return self._assembled(column.cells, missing)

    def _assembled(self, cells: Mapping[int, int], ones: int) -> Signed:
        """Literals in their lanes, and lanes that are 1; all others may hold anything."""
        groups: dict[tuple[int, int, bool], int] = {}
        away: dict[int, set[int]] = {}
        for lane, literal in cells.items():
            away.setdefault(literal, set()).add(self._away(literal, lane))
        for lane, literal in cells.items():
            key = self._moved(literal, lane, len(away[literal]) > 1)
            groups[key] = groups.get(key, 0) | 1 << lane
        main = max(groups, key=lambda key: (groups[key].bit_count(), key))
        word, negated = self.words.shift(main[0], main[1]), main[2]
        rest = {key: mask for key, mask in groups.items() if key != main}
        apart = sum(rest.values()) | (ones if negated else 0)
        parts = [self.words.keep(word, ONES ^ apart)]
        parts += [self._part(key, mask, negated) for key, mask in rest.items()]
        if ones and not negated:
            parts.append(self.words.constant(ones))
        return self.words.either(parts), negated

    def _away(self, literal: int, lane: int) -> int:
        """How far a literal must be moved to be in a lane."""
        return lane - self.grid.seen_from(self.roles.spots[literal >> 1].lane, lane)

    def _moved(self, literal: int, lane: int, often: bool) -> tuple[int, int, bool]:
        """The word that has a literal, how far it must be moved, and whether it is a complement."""
        word, inverted = self.made[self.roles.spots[literal >> 1].role]
        negated = inverted != bool(literal & 1)
        if often:
            return self._spread(literal, word), 0, negated
        return word, self._away(literal, lane), negated

    def _part(self, key: tuple[int, int, bool], mask: int, negated: bool) -> int:
        """Some lanes of a word, as they are or the other way."""
        word = self.words.shift(key[0], key[1])
        if key[2] == negated:
            return self.words.keep(word, mask)
        return self.words.make("less", self.words.constant(mask), word)

    def _gathered(self, literals: Iterable[int]) -> Signed:
        """An AND over lanes: the complement of whether anything speaks against it."""
        masks: dict[Signed, int] = {}
        for literal in literals:
            spot = self.roles.spots[literal >> 1]
            word, inverted = self.made[spot.role]
            key = word, inverted == bool(literal & 1)
            masks[key] = masks.get(key, 0) | (_mask(self.grid.numbers(spot.lane)) or ONES)
        groups: dict[tuple[int, bool], list[int]] = {}
        for (word, other), mask in masks.items():
            groups.setdefault((mask, other), []).append(word)
        against = []
        for (mask, other), words in groups.items():
            found = self.words.all_of(words, [])[0] if other else self.words.either(words)
            against.append(self._part((found, 0, other), mask, False))
        return self.words.make("any", self.words.either(against), ONES), True
