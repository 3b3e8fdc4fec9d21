"""Logic -> words for one stream: gates that are alike up to a shift of lanes are one operation.

Each gate has a role, which its kind and its operands' roles and relative lanes determine, and a
lane. A role is computed for all lanes at once. A gate whose role nobody shares stays in one lane,
and is spread over all of them where gates of several lanes read it. Roles decide speed only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tapeformer.engines.nativecode.bitwise import needed
from tapeformer.engines.nativecode.gates import Gate
from tapeformer.engines.nativecode.logic import Logic
from tapeformer.engines.nativecode.seats import MOST_LANES, Seat, seats
from tapeformer.engines.nativecode.words import ONES, Program, Words

Role = tuple[object, ...]
ROUNDS = 4
WIDE = 20
"""A gate of more operands is gathered over lanes."""


@dataclass(frozen=True)
class Spot:
    """Where a gate's bit is: a role, and a lane of it (None: the same bit in all lanes)."""

    role: int
    lane: int | None


def fits(logic: Logic) -> bool:
    """Whether heads fetch bits of tokens only, and there are lanes for all of them."""
    bits = {bit >> 1 for factor in logic.token for bit in factor}
    return all(f.source >> 1 in bits and f.head < MOST_LANES for f in logic.fetched)


def packed_program(logic: Logic) -> tuple[Program, tuple[tuple[Seat, ...], ...]]:
    """The program, and where it has the values of a token."""
    seated = seats(logic)
    order = needed(logic)
    spots = _Spots(logic, seated, set())
    spots.assign(order)
    for _ in range(ROUNDS):
        more = spots.lonely() - spots.alone
        if not more:
            break
        spots = _Spots(logic, seated, spots.alone | more)
        spots.assign(order)
    return _Packing(logic, seated, spots, order).program(), seated


class _Spots:
    """The role and lane of each gate."""

    def __init__(
        self, logic: Logic, seated: tuple[tuple[Seat, ...], ...], lonely: set[int]
    ) -> None:
        self.logic, self.alone = logic, lonely
        self.spots: dict[int, Spot] = {}
        self.roles: dict[Role, int] = {}
        self._inputs(seated)

    def _inputs(self, seated: tuple[tuple[Seat, ...], ...]) -> None:
        seat_of = {
            bit >> 1: seat
            for bits, row in zip(self.logic.token, seated, strict=True)
            for bit, seat in zip(bits, row, strict=True)
            if bit > 1
        }
        for gate, seat in seat_of.items():
            self.spots[gate] = Spot(self._role(("token", seat.word)), seat.lane)
        for fetched in self.logic.fetched:
            seat = seat_of[fetched.source >> 1]
            role = self._role(("fetched", seat.word))
            self.spots[fetched.literal >> 1] = Spot(role, fetched.head)

    def _role(self, role: Role) -> int:
        return self.roles.setdefault(role, len(self.roles))

    def assign(self, order: Iterable[int]) -> None:
        """Roles of all gates, operands first."""
        for number in order:
            if number not in self.spots:
                self.spots[number] = self._spot(number)

    def _spot(self, number: int) -> Spot:
        gate = self.logic.gates[number]
        operands = [(self.spots[x >> 1], x & 1) for x in gate.literals]
        if gate.kind == "and" and _is_wide(operands):
            return Spot(self._role(("wide", number)), None)
        if number in self.alone or all(spot.lane is None for spot, _ in operands):
            return Spot(self._role(("alone", number)), None)
        placed = sorted((s.role, sign, s.lane) for s, sign in operands if s.lane is not None)
        common = tuple(sorted((s.role, sign) for s, sign in operands if s.lane is None))
        lane = placed[0][2]
        relative = tuple((role, sign, own - lane) for role, sign, own in placed)
        return Spot(self._role((gate.kind, relative, common)), lane)

    def lonely(self) -> set[int]:
        """Gates in lanes whose role no other gate has."""
        members = Counter(spot.role for spot in self.spots.values())
        return {
            gate
            for gate, spot in self.spots.items()
            if members[spot.role] == 1 and spot.lane is not None and self.logic.gates[gate].literals
        }


def _is_wide(operands: list[tuple[Spot, int]]) -> bool:
    """Whether an AND is better gathered: it has many operands, or many lanes of one role."""
    same = Counter((spot.role, sign) for spot, sign in operands if spot.lane is not None)
    return len(operands) > WIDE or max(same.values(), default=0) > 3


class _Packing:
    """Roles become words."""

    def __init__(
        self, logic: Logic, seated: tuple[tuple[Seat, ...], ...], spots: _Spots, order: list[int]
    ) -> None:
        self.logic, self.seated, self.spots, self.order = logic, seated, spots, order
        self.words = Words()
        self.made: dict[int, tuple[int, bool]] = {}
        self.home: dict[int, int] = {}
        self.fetches: dict[int, dict[int, int]] = {}
        self.key_of = {role: key for key, role in spots.roles.items()}
        for fetched in logic.fetched:
            spot = spots.spots[fetched.literal >> 1]
            masks = self.fetches.setdefault(spot.role, {})
            masks[fetched.head] = masks.get(fetched.head, 0) | 1 << fetched.head

    def program(self) -> Program:
        """All roles in order, then the words of the next token."""
        for number in self.order:
            self._make(number)
        width = 1 + max(seat.word for row in self.seated for seat in row)
        targets: list[list[tuple[int | None, int]]] = [[] for _ in range(width)]
        for row, bits in zip(self.seated, self.logic.following, strict=True):
            for seat, literal in zip(row, bits, strict=True):
                targets[seat.word].append((seat.lane, literal))
        following = tuple(self._assembled(target) for target in targets)
        guard = self._everywhere(self.logic.guard)
        margin = tuple(self._everywhere(literal) for literal in self.logic.margin)
        return Program(tuple(self.words.operations), width, following, guard, margin)

    def _make(self, number: int) -> None:
        """The word of a gate's role, if it is not there yet."""
        role, gate = self.spots.spots[number].role, self.logic.gates[number]
        if role in self.made:
            return
        kind, *rest = self.key_of[role]
        if kind == "token":
            self.made[role] = self.words.make("token", _number(rest[0])), False
        elif kind == "fetched":
            parts = [n for pair in sorted(self.fetches[role].items()) for n in pair]
            self.made[role] = self.words.make("fetched", _number(rest[0]), *parts), False
        elif kind == "wide":
            self.made[role] = self._gathered(gate.literals)
        elif kind == "alone":
            self._alone(role, gate)
        else:
            self.made[role] = self._shared(gate)

    def _alone(self, role: int, gate: Gate) -> None:
        """A gate of its own: in the lane of an operand, if one is in a lane."""
        if gate.kind == "constant":
            self.made[role] = self.words.constant(0), False
            return
        spots = [self.spots.spots[literal >> 1] for literal in gate.literals]
        homes = [self._home(spot) for spot in spots]
        home = next((lane for lane in homes if lane is not None), None)
        operands = []
        for literal, spot, lane in zip(gate.literals, spots, homes, strict=True):
            word, inverted = self.made[spot.role]
            moved = word if lane is None or home is None else self.words.shift(word, home - lane)
            operands.append((moved, inverted != bool(literal & 1)))
        self.made[role] = self._combined(gate.kind, operands)
        if home is not None:
            self.home[role] = home

    def _home(self, spot: Spot) -> int | None:
        """The only lane in which a bit is, or None where it is in all."""
        return self.home.get(spot.role) if spot.lane is None else spot.lane

    def _shared(self, gate: Gate) -> tuple[int, bool]:
        """A gate of a role with others: one of them stands for all."""
        spots = [self.spots.spots[literal >> 1] for literal in gate.literals]
        placed = sorted(
            (spot.role, literal & 1, spot.lane)
            for spot, literal in zip(spots, gate.literals, strict=True)
            if spot.lane is not None
        )
        operands = []
        for literal, spot in zip(gate.literals, spots, strict=True):
            word, inverted = self._common(spot.role)
            if spot.lane is not None:
                word = self.words.shift(self.made[spot.role][0], placed[0][2] - spot.lane)
            operands.append((word, inverted != bool(literal & 1)))
        return self._combined(gate.kind, operands)

    def _common(self, role: int) -> tuple[int, bool]:
        """A role's word with the same bit in all lanes, if it is not one of several lanes."""
        word, inverted = self.made[role]
        if role in self.home:
            word = self.words.make("spread", word, self.home[role])
        return word, inverted

    def _combined(self, kind: str, operands: list[tuple[int, bool]]) -> tuple[int, bool]:
        if kind == "xor":
            (left, a), (right, b) = operands
            return self.words.xor(left, right), a != b
        yes = [word for word, negated in operands if not negated]
        return self.words.all_of(yes, [word for word, negated in operands if negated])

    def _gathered(self, literals: Iterable[int]) -> tuple[int, bool]:
        """An AND over lanes: the complement of whether anything speaks against it."""
        masks: dict[tuple[int, bool], int] = {}
        for literal in literals:
            spot = self.spots.spots[literal >> 1]
            word, inverted = self.made[spot.role]
            key, lane = (word, inverted == bool(literal & 1)), self._home(spot)
            masks[key] = masks.get(key, 0) | (ONES if lane is None else 1 << lane)
        groups: dict[tuple[int, bool], list[int]] = {}
        for (word, other), mask in masks.items():
            groups.setdefault((mask, other), []).append(word)
        against = []
        for (mask, other), words in groups.items():
            found = self.words.all_of(words, [])[0] if other else self.words.either(words)
            against.append(self.words.keep(self._signed(found, other), mask))
        return self.words.make("any", self.words.either(against), ONES), True

    def _signed(self, word: int, negated: bool) -> int:
        return self.words.complement(word) if negated else word

    def _everywhere(self, literal: int) -> int:
        """A literal in all lanes."""
        spot = self.spots.spots[literal >> 1]
        word, inverted = self._common(spot.role)
        if spot.lane is not None:
            word = self.words.make("spread", word, spot.lane)
        return self._signed(word, inverted != bool(literal & 1))

    def _assembled(self, target: list[tuple[int | None, int]]) -> int:
        """A word of the next token from the literals of its lanes."""
        if not target:
            return self.words.constant(0)
        if target[0][0] is None:
            return self._everywhere(target[0][1])
        masks: dict[tuple[int, int, bool], int] = {}
        for lane, literal in target:
            assert lane is not None
            spot = self.spots.spots[literal >> 1]
            (word, inverted), home = self.made[spot.role], self._home(spot)
            key = word, 0 if home is None else lane - home, inverted != bool(literal & 1)
            masks[key] = masks.get(key, 0) | 1 << lane
        parts = [
            (self._signed(self.words.shift(word, by), negated), mask)
            for (word, by, negated), mask in masks.items()
        ]
        return self.words.either(
            word if len(parts) == 1 else self.words.keep(word, mask) for word, mask in parts
        )


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value
