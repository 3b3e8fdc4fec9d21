from __future__ import annotations

import pytest

from tapeformer.constructions import check_word, construction
from tapeformer.faults import TapeformerError
from tapeformer.machine.record import TapeKind
from tests.constructions.machines import RUNNER, random_machine


@pytest.mark.parametrize("levels", [1, 2, 3, 4])
@pytest.mark.parametrize("space", [0, 1, 14, 100, 1000])
def test_lengths_are_even_and_large_enough(levels: int, space: int) -> None:
    layout = construction("paper").layout(RUNNER, levels=levels, space=space)
    base = layout.base
    assert base % 2 == 0
    assert base**levels >= space + 2
    assert base == 2 or (base - 2) ** levels < space + 2
    assert all(length % 2 == 0 for length in layout.lengths.values())
    assert layout.lengths["marker"] == 2 * base - 2
    for i in range(1, levels + 1):
        assert layout.lengths[f"half{i}"] == base**i
    for i in range(2, levels + 1):
        assert layout.lengths[f"buffer{i}"] == 2 * base**i - base ** (i - 1)
    assert layout.capacity >= space


def test_any_two_options_fix_the_third() -> None:
    paper = construction("paper")
    assert paper.layout(RUNNER, levels=2, space=98).base == 10
    assert paper.layout(RUNNER, base=10, space=98).levels == 2
    assert paper.layout(RUNNER, levels=2, base=10).lengths["half2"] == 100


@pytest.mark.parametrize(
    ("levels", "base", "space", "message"),
    [
        (2, 3, None, "odd length.*expected an even base.*got 3.*base=4"),
        (2, 0, None, "expected an even base"),
        (0, 4, None, "needs a level.*got 0"),
        (2, 4, 15, "too small for 15 cells.*got room for 14; give base=6"),
        (None, 4, None, "two of levels, base and space"),
        (2, None, None, "two of levels, base and space"),
        (2, None, -1, "space is negative"),
    ],
)
def test_impossible_options(
    levels: int | None, base: int | None, space: int | None, message: str
) -> None:
    with pytest.raises(TapeformerError, match=message):
        construction("paper").layout(RUNNER, levels, base, space)


def test_one_queue_has_one_level_and_room_for_both_sides_of_several_tapes() -> None:
    two = random_machine(1, 2, TapeKind.TWO_WAY)
    assert construction("post").layout(two, space=10).lengths == {"ring": 22}
    assert construction("post").layout(RUNNER, space=10).lengths == {"ring": 12}
    with pytest.raises(TapeformerError, match="one level"):
        construction("post").layout(RUNNER, levels=2, space=10)
    with pytest.raises(TapeformerError, match="odd length"):
        construction("post").layout(RUNNER, base=7)


@pytest.mark.parametrize("name", ["paper", "post"])
def test_an_input_that_is_too_long(name: str) -> None:
    layout = construction(name).layout(RUNNER, levels=1, base=6)
    longest = construction(name).longest_word(layout)
    check_word(layout, "a" * longest)
    with pytest.raises(TapeformerError, match=f"too long.*at most {longest} symbols"):
        check_word(layout, "a" * (longest + 1))


def test_a_construction_that_is_not_there() -> None:
    with pytest.raises(TapeformerError, match="expected one of realtime, paper, post"):
        construction("magic")


def test_the_queue_machine_does_not_depend_on_the_base() -> None:
    machine = random_machine(3, 2, TapeKind.ONE_WAY)
    rules = {queue.length_rule for queue in construction("paper").queue_machine(machine, 3).queues}
    for base in (2, 4, 10):
        assert set(construction("paper").layout(machine, 3, base).lengths) == rules
