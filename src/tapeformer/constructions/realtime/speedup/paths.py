"""Several steps as one rule: a path reads cells near the head, writes them, and moves the head.

The paths from a state form a tree. A step reads a cell that the path knows, since it has read or
written it before, or a new one; known cells do not branch, so there are far fewer paths than
|symbols|^steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod

from tapeformer.constructions.reach import live_rules, rule_numbers, tape_symbols
from tapeformer.machine.record import Move, Rule, TapeKind, TuringMachine

Place = tuple[int, int]
"""A tape (from 0), and a cell counted from where its head was."""
DISTANCE = {Move.LEFT: -1, Move.STAY: 0, Move.RIGHT: 1}


@dataclass(frozen=True)
class Path:
    """Some steps in a row: what must be read for them, and what comes of them.

    `first` says of places where a left move was made whether they are the first of a one-way
    tape; `cells` has what is known in the end, `least` how far left each head was.
    """

    start: str
    state: str
    heads: tuple[int, ...]
    least: tuple[int, ...]
    steps: int = 0
    reads: Mapping[Place, str] = field(default_factory=dict)
    first: Mapping[Place, bool] = field(default_factory=dict)
    cells: Mapping[Place, str] = field(default_factory=dict)
    rules: tuple[int, ...] = ()


@dataclass(frozen=True)
class Tree:
    """A path and those that begin with it; `complete`: one of these always applies."""

    path: Path
    further: tuple[Tree, ...] = ()
    complete: bool = False

    @property
    def ends_here(self) -> bool:
        """Whether a token can end with this path."""
        return self.path.steps > 0 and not self.complete


class TooManyPathsError(Exception):
    """There are more paths than were allowed for."""


def path_trees(machine: TuringMachine, steps: int, most: int | None = None) -> tuple[Tree, ...]:
    """Return the tree of paths, of up to so many steps, of each state that can make one.

    More than `most` ends of paths raise TooManyPathsError while they are counted.
    """
    return _Paths(machine, most).trees(steps)


class _Paths:
    """The rules of a machine by state, and how many ends of paths there were so far."""

    def __init__(self, machine: TuringMachine, most: int | None) -> None:
        self.machine, self.most, self.ends = machine, most, 0
        self.numbers = rule_numbers(machine)
        self.sizes = [len(tape_symbols(machine, tape)) for tape in range(machine.tapes)]
        self.rules: dict[str, list[Rule]] = {}
        for rule in live_rules(machine):
            self.rules.setdefault(rule.state, []).append(rule)

    def trees(self, steps: int) -> tuple[Tree, ...]:
        origin = (0,) * self.machine.tapes
        return tuple(self._tree(Path(q, q, origin, origin), steps) for q in self.rules)

    def _tree(self, path: Path, steps: int) -> Tree:
        met = list(self._met(path)) if steps else []
        new = [tape for tape, o in enumerate(path.heads) if (tape, o) not in path.cells]
        complete = len(met) == prod(self.sizes[tape] for tape in new) and bool(steps)
        longer = (after for rule in met for after in self._after(path, rule))
        tree = Tree(path, tuple(self._tree(after, steps - 1) for after in longer), complete)
        self.ends += tree.ends_here
        if self.most is not None and self.ends > self.most:
            raise TooManyPathsError
        return tree

    def _met(self, path: Path) -> Iterator[Rule]:
        """Yield the rules that can apply, by what is known of the cells under the heads."""
        for rule in self.rules.get(path.state, []):
            seen = zip(enumerate(path.heads), rule.read, strict=True)
            if all(path.cells.get(place, symbol) == symbol for place, symbol in seen):
                yield rule

    def _after(self, path: Path, rule: Rule) -> Iterator[Path]:
        """Yield the path with one more step; where a head may be at a wall, there are two."""
        places = list(enumerate(path.heads))
        read = zip(places, rule.read, strict=True)
        new = {place: symbol for place, symbol in read if place not in path.cells}
        for found in self._walls(path, rule):
            first = {**path.first, **found}
            moved = zip(places, rule.moves, strict=True)
            heads = tuple(
                o if move is Move.LEFT and first.get((tape, o)) else o + DISTANCE[move]
                for (tape, o), move in moved
            )
            yield Path(
                start=path.start,
                state=rule.next_state,
                heads=heads,
                least=tuple(map(min, path.least, heads)),
                steps=path.steps + 1,
                reads={**path.reads, **new},
                first=first,
                cells={**path.cells, **dict(zip(places, rule.write, strict=True))},
                rules=(*path.rules, self.numbers[rule.state, rule.read]),
            )

    def _walls(self, path: Path, rule: Rule) -> list[dict[Place, bool]]:
        """Return what may be true of heads that go left: at the first cell of their tape, or not."""
        ways: list[dict[Place, bool]] = [{}]
        if self.machine.tape_kind is not TapeKind.ONE_WAY:
            return ways
        for (tape, o), move in zip(enumerate(path.heads), rule.moves, strict=True):
            known = path.least[tape] < o or (tape, o) in path.first
            elsewhere = any(is_first for (t, _), is_first in path.first.items() if t == tape)
            if move is Move.LEFT and not known and not elsewhere:
                ways = [{**way, (tape, o): is_first} for way in ways for is_first in (False, True)]
        return ways


def ends(trees: tuple[Tree, ...]) -> int:
    """Return the number of paths with which a token can end."""
    return sum(tree.ends_here + ends(tree.further) for tree in trees)
