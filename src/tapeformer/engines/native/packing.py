"""Gates that do the same in different lanes: each role becomes one operation on a word.

A gate joins a role if its operands do: each column of a role has one operand of every member. A
few operands may differ from those of the other members, or be missing, as at the ends of a row of
equal parts; the column is then put together from several words. Roles decide speed only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tapeformer.engines.logic.and_inverter_graph import Gate
from tapeformer.engines.logic.symbolic_position import Logic
from tapeformer.engines.native.lane_assignment import Lane, Seating

WIDE = 20
"""A gate of more operands is gathered over lanes."""

MANY = 48
"""An operand that more roles have says little about where a gate belongs."""

TRIED = 4
"""Roles that are looked at for one gate."""

ALIKE = 0.5
"""Operands may share a column if they depend on so much the same words."""

Step = tuple[int, int, int]
"""An operand as seen from a lane: its role, its sign, and how far away its lane is."""


@dataclass(frozen=True)
class Spot:
    """Where a gate's bit is: a role, and a lane of it."""

    role: int
    lane: Lane


@dataclass
class Column:
    """One operand of each member, by lane: where they are, seen from there, and which they are."""

    cells: dict[int, int] = field(default_factory=dict)
    steps: set[Step] = field(default_factory=set)

    def has(self, literal: int, step: Step) -> bool:
        """Whether an operand costs nothing: another member reads the like, or the same bit."""
        return step in self.steps or literal in self.cells.values()


@dataclass
class Role:
    """What gates of different lanes have in common; `number` is a word, or a gate.

    `depth` is larger than that of all operands, so that no role can depend on itself; `reads` has
    the words that the first member depends on, as bits.
    """

    kind: str
    number: int
    depth: int
    reads: int
    members: dict[int, int] = field(default_factory=dict)
    columns: list[Column] = field(default_factory=list)


@dataclass(frozen=True)
class Fit:
    """How a gate goes into a role: for each operand its column, counted on where it is new."""

    role: int
    lane: int
    columns: tuple[int, ...]
    worth: float = 0


class Roles:
    """The role and lane of each gate, given one after another."""

    def __init__(self, logic: Logic, seating: Seating) -> None:
        self.logic, self.grid = logic, seating.grid
        self.roles: list[Role] = []
        self.spots: dict[int, Spot] = {}
        self._known: dict[tuple[object, ...], Fit] = {}
        self._having: dict[tuple[int, int], set[tuple[int, int]]] = {}
        self._inputs(seating)

    def _inputs(self, seating: Seating) -> None:
        leaves: dict[tuple[str, int], int] = {}
        for gate, (factor, value) in seating.inputs.value_of.items():
            seat = seating.seats[factor][value]
            self.spots[gate] = Spot(self._leaf(leaves, "token", seat.word), seat.lane)
        for gate, (factor, value) in seating.inputs.source_of.items():
            word = seating.seats[factor][value].word
            self.spots[gate] = Spot(self._leaf(leaves, "fetched", word), seating.brought[gate])

    def _leaf(self, leaves: dict[tuple[str, int], int], kind: str, word: int) -> int:
        if (kind, word) not in leaves:
            leaves[kind, word] = len(self.roles)
            self.roles.append(Role(kind, word, 0, 1 << len(self.roles)))
        return leaves[kind, word]

    def _step(self, literal: int, number: int) -> Step:
        spot = self.spots[literal >> 1]
        return spot.role, literal & 1, self.grid.seen_from(spot.lane, number) - number

    def assign(self, order: Iterable[int]) -> None:
        """Roles of all gates, operands first."""
        for number in order:
            if number not in self.spots:
                self.spots[number] = self._spot(number, self.logic.gates[number])

    def _spot(self, number: int, gate: Gate) -> Spot:
        lanes = [self.spots[literal >> 1].lane for literal in gate.literals]
        if gate.kind == "and" and self._is_wide(gate.literals):
            return Spot(self._new("wide", number, gate.literals), Lane())
        lane = self._lane(lanes)
        if lane.head is None:
            role = self._new(gate.kind, number, gate.literals)
            self._join(Fit(role, 0, tuple(range(len(lanes)))), number, gate.literals, 1)
            return Spot(role, lane)
        base = self.grid.numbers(lane)[0]
        literals = sorted(gate.literals, key=lambda x: (*self._step(x, base), x))
        fit = self._placed(number, gate.kind, literals, base, lane.copy is None)
        placed = self.grid.lane(fit.lane)
        return Spot(fit.role, Lane(placed.head) if lane.copy is None else placed)

    def _lane(self, lanes: Sequence[Lane]) -> Lane:
        """The lane that most operands are in; in all copies of a head if they are."""
        placed = [lane for lane in lanes if lane.copy is not None]
        placed = placed or [lane for lane in lanes if lane.head is not None]
        return min(
            placed,
            key=lambda lane: (-placed.count(lane), lane.copy or 0, lane.head or 0),
            default=Lane(),
        )

    def _is_wide(self, literals: Sequence[int]) -> bool:
        """Whether an AND is better gathered: it has many operands, or many lanes of one role."""
        spots = [(self.spots[literal >> 1], literal & 1) for literal in literals]
        same = Counter((spot.role, sign) for spot, sign in spots if spot.lane.head is not None)
        return len(literals) > WIDE or max(same.values(), default=0) > 3

    def _placed(
        self, number: int, kind: str, literals: Sequence[int], base: int, copied: bool
    ) -> Fit:
        """A gate in a lane: in a role that has its like, in one that it fits, or in a new one."""
        copies = self.grid.copies if copied else 1
        key = (kind, copied, *(self._step(literal, base) for literal in literals))
        found = self._known.get(key)
        fit = None if found is None else Fit(found.role, base + found.lane, found.columns)
        if fit is None or not self._free(fit.role, fit.lane, copies):
            fit = self._best(kind, literals, copies)
        if fit is None:
            role = self._new(kind, number, literals)
            fit = Fit(role, base, tuple(range(len(literals))))
        self._known.setdefault(key, Fit(fit.role, fit.lane - base, fit.columns))
        self._join(fit, number, literals, copies)
        return fit

    def _free(self, role: int, lane: int, copies: int) -> bool:
        """Whether a role has room for a gate, in each of its copies."""
        last = self.grid.width if copies > 1 else self.grid.width * self.grid.copies
        members = self.roles[role].members
        lanes = range(lane, lane + copies * self.grid.width, self.grid.width)
        return 0 <= lane < last and not any(number in members for number in lanes)

    def _new(self, kind: str, number: int, literals: Sequence[int]) -> int:
        roles = [self.roles[self.spots[literal >> 1].role] for literal in literals]
        depth = 1 + max((role.depth for role in roles), default=0)
        reads = 0
        for role in roles:
            reads |= role.reads
        self.roles.append(Role(kind, number, depth, reads))
        return len(self.roles) - 1

    def _join(self, fit: Fit, number: int, literals: Sequence[int], copies: int) -> None:
        role = self.roles[fit.role]
        for lane in range(fit.lane, fit.lane + copies * self.grid.width, self.grid.width):
            role.members[lane] = number
            for index, literal in zip(fit.columns, literals, strict=True):
                while index >= len(role.columns):
                    role.columns.append(Column())
                step = self._step(literal, lane)
                role.columns[index].cells[lane] = literal
                role.columns[index].steps.add(step)
                self._having.setdefault(step[:2], set()).add((fit.role, step[2]))

    def _best(self, kind: str, literals: Sequence[int], copies: int) -> Fit | None:
        """The role that a gate fits best, if it fits one well."""
        votes: Counter[tuple[int, int]] = Counter()
        for literal in literals:
            spot = self.spots[literal >> 1]
            having = self._having.get((spot.role, literal & 1), set())
            if spot.lane.head is not None and len(having) <= MANY:
                own = self.grid.numbers(spot.lane)[0]
                votes.update((role, own - away) for role, away in having)
        depth = max(self.roles[self.spots[literal >> 1].role].depth for literal in literals)
        fits = [
            self._fit(role, lane, literals)
            for (role, lane), _ in votes.most_common(TRIED)
            if self.roles[role].kind == kind
            and self.roles[role].depth > depth
            and self._free(role, lane, copies)
        ]
        good = [fit for fit in fits if fit is not None]
        return max(good, key=lambda fit: fit.worth, default=None)

    def _fit(self, number: int, lane: int, literals: Sequence[int]) -> Fit | None:
        """How a gate would go into a role."""
        role = self.roles[number]
        free = list(range(len(role.columns)))
        chosen: dict[int, int] = {}
        for literal in literals:
            step = self._step(literal, lane)
            column = next((c for c in free if role.columns[c].has(literal, step)), None)
            if column is not None:
                chosen[literal] = column
                free.remove(column)
        exact = len(chosen)
        for literal in literals:
            column = None if literal in chosen else self._alike(role, free, literal)
            if column is not None:
                chosen[literal] = column
                free.remove(column)
        new = [literal for literal in literals if literal not in chosen]
        chosen |= {literal: len(role.columns) + i for i, literal in enumerate(new)}
        worth = (exact + len(literals)) / 2 - len(new) - len(free) / 4
        if not exact or 2 * worth < len(literals) or (role.kind == "xor" and (new or free)):
            return None
        return Fit(number, lane, tuple(chosen[literal] for literal in literals), worth)

    def _alike(self, role: Role, free: Sequence[int], literal: int) -> int | None:
        """A column whose operands depend on nearly the same words."""
        reads = self.roles[self.spots[literal >> 1].role].reads
        best, found = ALIKE, None
        for index in free:
            other = next(iter(role.columns[index].cells.values()))
            others = self.roles[self.spots[other >> 1].role].reads
            alike = (reads & others).bit_count() / max(1, (reads | others).bit_count())
            if alike >= best and other & 1 == literal & 1:
                best, found = alike, index
        return found
