"""Paths of several steps: exactly what the rules do one after another."""

from __future__ import annotations

import pytest

from tapeformer import gallery_machine
from tapeformer.constructions.realtime.speedup.paths import (
    Path,
    TooManyPathsError,
    Tree,
    ends,
    path_trees,
)
from tapeformer.constructions.realtime.speedup.rounds import FEW_PATHS, rounds_for
from tapeformer.machine.record import TapeKind
from tests.constructions.machines import one_tape


def paths(trees: tuple[Tree, ...]) -> list[Path]:
    return [
        path
        for tree in trees
        for path in [*([tree.path] if tree.ends_here else []), *paths(tree.further)]
    ]


def test_the_beaver_s_paths_are_few() -> None:
    machine = gallery_machine("busy_beaver_5")
    assert [ends(path_trees(machine, steps)) for steps in (1, 2, 4, 8)] == [10, 19, 48, 210]


def test_known_cells_do_not_branch() -> None:
    lines = ("0 _ a R 1", "0 a a R 1", "1 _ _ L 2", "1 a _ L 2", "2 a _ S 2")
    machine = one_tape("there and back", *lines)
    found = [path for path in paths(path_trees(machine, 3)) if path.start == "0"]
    assert {path.steps for path in found} == {3}
    assert {tuple(sorted(path.reads)) for path in found} == {((0, 0), (0, 1))}


def test_a_wall_is_asked_for_once() -> None:
    machine = one_tape("left", "a _ x L a", "a x _ L a", kind=TapeKind.ONE_WAY)
    at_wall = [path for path in paths(path_trees(machine, 2)) if path.first.get((0, 0))]
    assert at_wall
    assert all(path.heads == (0,) and len(path.first) == 1 for path in at_wall)


def test_paths_are_not_counted_further_than_asked() -> None:
    with pytest.raises(TooManyPathsError):
        path_trees(gallery_machine("binary_multiplication"), 6, most=500)


@pytest.mark.parametrize("steps", [1, 2, 5, 7, 16])
def test_rounds_make_all_steps(steps: int) -> None:
    rounds = rounds_for(gallery_machine("palindrome"), steps)
    assert sum(size for size, _ in rounds) == steps
    assert all(ends(trees) <= FEW_PATHS for _, trees in rounds)
