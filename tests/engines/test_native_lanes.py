"""Equal parts of a model share the lanes of a word: found from the weights, and worth it."""

from __future__ import annotations

from functools import cache

import pytest

from tapeformer.compile.options import CompileOptions
from tapeformer.compile.passes import compile_machine
from tapeformer.engines.logic.argmax import logic_of
from tapeformer.engines.logic.bit_slicing import bitwise_program, needed
from tapeformer.engines.logic.symbolic_position import Logic
from tapeformer.engines.native.lane_assignment import Seating
from tapeformer.engines.native.packed_program import packed_program
from tapeformer.engines.native.packing import Roles
from tapeformer.engines.native.repeated_blocks import places_of
from tapeformer.engines.native.usage_similarity import inputs_of
from tapeformer.gallery import gallery_machine

MODELS = (
    ("busy_beaver_4", CompileOptions(levels=5)),
    ("busy_beaver_4", CompileOptions(construction="paper", levels=2, base=4)),
    ("palindrome_two_tapes", CompileOptions(levels=3)),
    ("palindrome_two_tapes", CompileOptions(construction="paper", levels=1, base=16)),
    ("binary_addition", CompileOptions(levels=2)),
)


@cache
def model(name: str, options: CompileOptions) -> tuple[tuple[str, ...], Logic]:
    """The names of a model's factors, and its gates."""
    weights = compile_machine(gallery_machine(name), options).weights
    return tuple(factor.name for factor in weights.factors), logic_of(weights)


def twins(name: str, levels: int) -> list[tuple[str, ...]]:
    """The names of the factors of the first head that stand at one place of different copies."""
    names, logic = model(name, CompileOptions(levels=levels))
    found: dict[tuple[int, int], list[str]] = {}
    for factor, place in places_of(logic, inputs_of(logic), 64).items():
        if place.block >= 0 and "2." in names[factor]:
            found.setdefault((place.block, place.index), []).append(names[factor])
    return [tuple(group) for group in found.values()]


def test_both_stacks_of_a_tape_are_copies() -> None:
    found = twins("busy_beaver_4", 5)
    assert len(found) == 10
    assert all(left.replace("left", "right") == right for left, right in found)


def test_stacks_of_equal_tapes_are_copies() -> None:
    found = {len(group) for group in twins("binary_addition", 2)}
    assert found == {2, 4}, "tape 1 has another alphabet than tapes 2 and 3"


@pytest.mark.parametrize(("name", "options"), MODELS)
def test_no_two_values_share_a_bit(name: str, options: CompileOptions) -> None:
    _, logic = model(name, options)
    seating = Seating(logic)
    taken: set[tuple[int, int]] = set()
    for row in seating.seats:
        for seat in row:
            lanes = seating.grid.numbers(seat.lane) or range(64)
            bits = {(seat.word, lane) for lane in lanes}
            assert not bits & taken
            taken |= bits


@pytest.mark.parametrize(("name", "options"), MODELS)
def test_a_role_never_depends_on_itself(name: str, options: CompileOptions) -> None:
    _, logic = model(name, options)
    roles = Roles(logic, Seating(logic))
    roles.assign(needed(logic))
    for role in roles.roles:
        for column in role.columns:
            for literal in column.cells.values():
                assert roles.roles[roles.spots[literal >> 1].role].depth < role.depth


def test_further_levels_cost_little() -> None:
    counts = {}
    for levels in (6, 12):
        _, logic = model("busy_beaver_5", CompileOptions(levels=levels))
        counts[levels] = len(packed_program(logic)[0].operations)
        assert 2 * counts[levels] < len(bitwise_program(logic).operations)
    assert counts[12] < 1.2 * counts[6]
