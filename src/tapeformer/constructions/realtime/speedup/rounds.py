"""The steps of a token, in rounds: each round finds the path of its steps and takes it at once.

A round is four layers of ANDs: read the cells near the head, find the path, write and move, keep
the rest. Where no path applies everything stays as it is, and so to the last round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tapeformer.circuit.build import Builder, negated
from tapeformer.circuit.record import Literal
from tapeformer.constructions.realtime.code import Cell
from tapeformer.constructions.realtime.fields import Fields
from tapeformer.constructions.realtime.lookup import tests
from tapeformer.constructions.realtime.speedup.paths import (
    Path,
    TooManyPathsError,
    Tree,
    path_trees,
)
from tapeformer.constructions.realtime.speedup.window import Bits, Window
from tapeformer.machine.record import TuringMachine

FEW_PATHS = 120
"""A round is made longer while it has no more paths than this: more cost more than rounds."""

Taken = list[tuple[Literal, Path]]


@dataclass(frozen=True)
class Progress:
    """State and windows after some rounds, and for each step of them whether it was made."""

    state: Mapping[str, Literal]
    windows: tuple[Window, ...]
    made: Bits = ()


def rounds_for(machine: TuringMachine, steps: int) -> tuple[tuple[int, tuple[Tree, ...]], ...]:
    """Return the fewest rounds of about equal length with few paths each: the steps of each, its trees."""
    trees = {1: path_trees(machine, 1)}
    for length in range(2, steps + 1):
        try:
            trees[length] = path_trees(machine, length, FEW_PATHS)
        except TooManyPathsError:
            break
    rounds = -(-steps // max(trees))
    longest = -(-steps // rounds)
    sizes = [min(longest, steps - done) for done in range(0, steps, longest)]
    return tuple((size, trees[size]) for size in sizes)


def steps_made(
    build: Builder,
    fields: Fields,
    start: Progress,
    walls: Sequence[Literal],
    running: Literal,
) -> Progress:
    """Return all steps of a token; `walls`: for each tape whether the centre is a one-way tape's first."""
    now = start
    for number, (steps, trees) in enumerate(rounds_for(fields.machine, fields.steps), 1):
        with build.scope(f"round{number}"):
            now = _Round(build, fields, now, walls, running, steps).taken(trees)
    return now


class _Round:
    """One round: from what is before it to what is after it."""

    def __init__(
        self,
        build: Builder,
        fields: Fields,
        before: Progress,
        walls: Sequence[Literal],
        running: Literal,
        steps: int,
    ) -> None:
        self.build, self.fields, self.before = build, fields, before
        self.walls, self.running, self.steps = walls, running, steps
        self._near: dict[tuple[int, int], Cell] = {}

    def taken(self, trees: tuple[Tree, ...]) -> Progress:
        """Return what comes of the path that applies."""
        build = self.build
        taken = [end for tree in trees for end in self._ends(tree, build.false)]
        made = tuple(
            build.one_of(*(lit for lit, path in taken if path.steps >= step), label=f"step {step}")
            for step in range(1, self.steps + 1)
        )
        windows = tuple(
            self._moved(tape, window, taken) for tape, window in enumerate(self.before.windows)
        )
        return Progress(self._state(taken, made[0]), windows, (*self.before.made, *made))

    def _ends(self, tree: Tree, here: Literal) -> Iterator[tuple[Literal, Path]]:
        """Yield each path with which the round can end, with whether it does."""
        further = [(self._met(longer.path), longer) for longer in tree.further]
        if tree.ends_here:
            longer_ones = (literal for literal, _ in further)
            label = f"goes on after {' '.join(map(str, tree.path.rules))}"
            yield negated(self.build.one_of(negated(here), *longer_ones, label=label)), tree.path
        for literal, longer in further:
            if literal != self.build.false:
                yield from self._ends(longer, literal)

    def _met(self, path: Path) -> Literal:
        """Return whether the cells near the heads are those that a path reads, walls included."""
        wanted = [self.running, self.before.state[path.start]]
        for (tape, offset), symbol in path.reads.items():
            wanted += tests(self.fields.code(tape + 1), symbol, self._read(tape, offset))
        for (tape, offset), is_first in path.first.items():
            first = self._first(tape, offset)
            wanted.append(first if is_first else negated(first))
        walls = "".join(" at the wall" if is_first else "" for is_first in path.first.values())
        label = f"{path.start} by rules {' '.join(map(str, path.rules))}{walls}"
        return self.build.all_of(*wanted, label=label, rules=path.rules)

    def _read(self, tape: int, offset: int) -> Cell:
        if (tape, offset) not in self._near:
            with self.build.scope(f"tape{tape + 1}"):
                self._near[tape, offset] = self.before.windows[tape].near(self.build, offset)
        return self._near[tape, offset]

    def _first(self, tape: int, offset: int) -> Literal:
        """Return whether the cell at an offset from the head is the first of a one-way tape."""
        window = self.before.windows[tape]
        here = window.at[window.block - offset]
        return self.build.all_of(here, self.walls[tape], label=f"tape{tape + 1} {offset} is first")

    def _state(self, taken: Taken, fire: Literal) -> dict[str, Literal]:
        build = self.build
        return {
            q: build.one_of(
                *(literal for literal, path in taken if path.state == q),
                build.all_of(bit, negated(fire), label=f"stays in {q}"),
                label=f"state={q}",
            )
            for q, bit in self.before.state.items()
        }

    def _moved(self, tape: int, window: Window, taken: Taken) -> Window:
        with self.build.scope(f"tape{tape + 1}"):
            cells = self._written(tape, window, taken)
            return Window(window.code, cells, self._at(tape, window, taken))

    def _written(self, tape: int, window: Window, taken: Taken) -> tuple[Bits, ...]:
        """Return the cells, written near the head as the path says."""
        build, code = self.build, window.code
        offsets = range(1 - self.steps, self.steps)
        touches, writes = {}, {}
        for o in offsets:
            there = [(lit, path.cells[tape, o]) for lit, path in taken if (tape, o) in path.cells]
            touches[o] = build.one_of(*(lit for lit, _ in there), label=f"touches {o}")
            for bit in range(code.width):
                having = (lit for lit, symbol in there if bit in code.planes(symbol))
                writes[o, bit] = build.one_of(*having, label=f"writes {o} bit{bit}")
        cells = []
        for place, cell in enumerate(window.cells):
            near = [(o, window.at[place - o]) for o in offsets if 0 <= place - o < len(window.at)]
            touched = build.one_of(
                *(build.all_of(at, touches[o], label=f"touches {place} by {o}") for o, at in near),
                label=f"touches {place}",
            )
            cells.append(
                tuple(self._cell(place, near, writes, touched, *b) for b in enumerate(cell))
            )
        return tuple(cells)

    def _cell(
        self,
        place: int,
        near: Sequence[tuple[int, Literal]],
        writes: Mapping[tuple[int, int], Literal],
        touched: Literal,
        bit: int,
        value: Literal,
    ) -> Literal:
        """Return a bit of a cell: written by the path, or as it was."""
        build, name = self.build, f"cell {place} bit{bit}"
        return build.one_of(
            *(build.all_of(at, writes[o, bit], label=f"{name} by {o}") for o, at in near),
            build.all_of(value, negated(touched), label=f"{name} kept"),
            label=name,
        )

    def _at(self, tape: int, window: Window, taken: Taken) -> Bits:
        """Return where the head is after the round."""
        build, size = self.build, len(window.at)
        moves = {
            d: build.one_of(*(lit for lit, p in taken if p.heads[tape] == d), label=f"moves {d}")
            for d in range(-self.steps, self.steps + 1)
            if d
        }
        moves[0] = negated(build.one_of(*moves.values(), label="moves"))
        return tuple(
            build.one_of(
                *(
                    build.all_of(window.at[place - d], move, label=f"to {place} by {d}")
                    for d, move in moves.items()
                    if 0 <= place - d < size
                ),
                label=f"at {place}",
            )
            for place in range(size)
        )
