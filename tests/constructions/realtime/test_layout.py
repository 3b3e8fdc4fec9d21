"""Lengths, options, heads: what the base changes and what it does not."""

from __future__ import annotations

import itertools

import pytest

from tapeformer.circuit import size
from tapeformer.constructions import check_word, construction
from tapeformer.constructions.realtime.layout import capacity, fewest_levels, with_shared_rules
from tapeformer.faults import TapeformerError
from tapeformer.machine.record import TapeKind
from tests.constructions.machines import RUNNER, random_machine
from tests.constructions.realtime.workloads import REALTIME


@pytest.mark.parametrize("base", [2, 4, 6, 8])
@pytest.mark.parametrize("levels", [2, 3, 5])
def test_lengths(base: int, levels: int) -> None:
    layout = REALTIME.layout(RUNNER, levels, base)
    assert layout.window == base**levels - base ** (levels - 1)
    for i in range(2, levels + 1):
        assert layout.lengths[f"main{i}"] == base**i - base ** (i - 1)
        assert layout.lengths[f"delay{i}"] == base ** (i - 1)
    assert (layout.lengths["main1"], layout.lengths["one"]) == (base - 1, 1)


def test_any_two_options_fix_the_third() -> None:
    assert REALTIME.layout(RUNNER).base == REALTIME.layout(RUNNER).levels == 2
    assert REALTIME.layout(RUNNER, levels=12).base == 2
    assert REALTIME.layout(RUNNER, levels=12).capacity == capacity(12, 2) == 40954
    assert REALTIME.layout(RUNNER, space=40954).levels == 12
    assert REALTIME.layout(RUNNER, space=40955).levels == 13
    assert REALTIME.layout(RUNNER, levels=2, space=105).base == 6
    assert REALTIME.layout(RUNNER, base=4, space=105).levels == 3


@pytest.mark.parametrize(
    ("levels", "base", "space", "message"),
    [
        (2, 3, None, "odd length.*expected an even base"),
        (1, 4, None, "level 2 or above.*got 1.*levels=2"),
        (2, 4, 105, "too small for 105 cells.*got room for 104; give levels=3"),
        (2, None, -1, "space is negative"),
    ],
)
def test_impossible_options(
    levels: int | None, base: int | None, space: int | None, message: str
) -> None:
    with pytest.raises(TapeformerError, match=message):
        REALTIME.layout(RUNNER, levels, base, space)


def test_one_level_is_refused_by_the_queue_machine_too() -> None:
    with pytest.raises(TapeformerError, match="level 2 or above"):
        REALTIME.queue_machine(RUNNER, 1)


@pytest.mark.parametrize("base", [2, 4])
def test_the_levels_that_an_input_needs(base: int) -> None:
    for length in range(40):
        levels = fewest_levels(length, base)
        layout = REALTIME.layout(RUNNER, levels, base)
        check_word(layout, "a" * length)
        if levels > 2:
            with pytest.raises(TapeformerError, match=f"too long.*levels={levels} or more"):
                check_word(REALTIME.layout(RUNNER, levels - 1, base), "a" * length)


@pytest.mark.parametrize("tapes", [1, 3])
@pytest.mark.parametrize(("base", "heads"), [(2, 4), (4, 8), (6, 8)])
def test_heads_by_offset(tapes: int, base: int, heads: int) -> None:
    machine = random_machine(1, tapes, TapeKind.TWO_WAY)
    layout = REALTIME.layout(machine, 5, base)
    built = REALTIME.queue_machine(machine, 5)
    shared = with_shared_rules(built, layout)
    rules = {queue.length_rule for queue in shared.queues} - {"one"}
    lengths = {layout.lengths[rule] for rule in rules}
    assert len(rules) == len(lengths) == heads + (base > 2)
    assert base > 2 or lengths == {2, 4, 8, 16}
    assert base == 2 or shared == built


def test_depth_does_not_grow_with_the_levels() -> None:
    machine = random_machine(2, 2, TapeKind.ONE_WAY)
    sizes = [size(REALTIME.queue_machine(machine, levels).step) for levels in (3, 4, 5, 6)]
    assert {found.depth for found in sizes} == {4}
    grown = [after.ands - before.ands for before, after in itertools.pairwise(sizes)]
    assert len(set(grown)) == 1


def test_it_is_a_construction_like_the_others() -> None:
    assert construction("realtime").name == "realtime"
