"""Theorem 2, measured: tokens per step against s^(1/k'), and what loading costs."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import pytest

from tapeformer.constructions import construction
from tapeformer.machine.record import TuringMachine
from tests.constructions.follow import cost
from tests.constructions.machines import BOUNCER, SHUTTLE, ZIGZAG, hoverer


def exponent(machine: TuringMachine, levels: int, spaces: Sequence[int]) -> float:
    """The least-squares slope of log tokens per step against log s."""
    points = []
    for space in spaces:
        layout = construction("paper").layout(machine, levels=levels, space=space)
        measured = cost("paper", machine, ("a",) * (space - 2), layout, 2 * space)
        assert measured.per_step <= 12 * levels * layout.base
        assert measured.loading <= 25 * layout.base**levels
        points.append((log(space), log(measured.per_step)))
    means = [sum(column) / len(points) for column in zip(*points, strict=True)]
    joint = sum((x - means[0]) * (y - means[1]) for x, y in points)
    spread = sum((x - means[0]) ** 2 for x, _ in points)
    return float(joint / spread)


@pytest.mark.parametrize("machine", [SHUTTLE, ZIGZAG], ids=lambda machine: machine.name)
@pytest.mark.parametrize(
    ("levels", "spaces"), [(1, (16, 32, 64)), (2, (16, 64, 256)), (3, (64, 256, 512))]
)
def test_the_exponent_is_one_over_the_levels(
    machine: TuringMachine, levels: int, spaces: Sequence[int]
) -> None:
    assert abs(exponent(machine, levels, spaces) - 1 / levels) < 0.12


@pytest.mark.slow
@pytest.mark.parametrize("machine", [SHUTTLE, ZIGZAG], ids=lambda machine: machine.name)
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_the_exponent_over_the_whole_range(machine: TuringMachine, levels: int) -> None:
    first, last = {1: (4, 8), 2: (4, 10), 3: (6, 12)}[levels]
    spaces = [2**power for power in range(first, last + 1)]
    assert abs(exponent(machine, levels, spaces) - 1 / levels) < 0.1


@pytest.mark.parametrize("levels", [1, 2, 3, 4])
@pytest.mark.parametrize("base", [2, 4, 6])
def test_tokens_per_step_where_blocks_are_moved_most(levels: int, base: int) -> None:
    reaches = {1, base - 1, base, base + 1, 2 * base - 1, 2 * base, 2 * base + 1, base**2 + 1}
    for machine in (BOUNCER, *map(hoverer, sorted(reaches))):
        layout = construction("paper").layout(machine, levels, base)
        steps = min(40 * base, layout.capacity)
        assert cost("paper", machine, (), layout, steps).per_step <= 12 * levels * base


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_loading_and_rewinding(levels: int) -> None:
    for length in (0, 1, 5, 30):
        layout = construction("paper").layout(SHUTTLE, levels=levels, space=60)
        measured = cost("paper", SHUTTLE, ("a",) * length, layout, 1)
        everything = layout.base**levels
        assert measured.loading <= 5 * everything
        assert measured.boot - measured.loading <= 12 * levels * layout.base * (
            length + 1 + everything // layout.base
        )


def test_the_one_queue_baseline_costs_the_whole_ring_to_go_left() -> None:
    layout = construction("post").layout(SHUTTLE, space=62)
    measured = cost("post", SHUTTLE, ("a",) * 60, layout, 400)
    assert layout.base / 3 < measured.per_step < layout.base
