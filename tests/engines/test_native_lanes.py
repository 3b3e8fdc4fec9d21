"""Equal parts of a model share the lanes of a word: found from the weights, and worth it."""

from __future__ import annotations

from functools import cache

import pytest

from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.engines.logic.bit_slicing import bit_sliced_program
from tapeformer.engines.logic.cone import fan_in_cone
from tapeformer.engines.logic.netlist import Netlist, token_inputs
from tapeformer.engines.logic.synthesis import netlist_of
from tapeformer.engines.native.lane_assignment import LaneAssignment
from tapeformer.engines.native.packed_program import packed_program
from tapeformer.engines.native.packing import Packing
from tapeformer.engines.native.repeated_blocks import block_positions
from tapeformer.gallery import gallery_machine

MODELS = (
    ("busy_beaver_4", CompileOptions(levels=5)),
    ("busy_beaver_4", CompileOptions(construction="paper", levels=2, base=4)),
    ("palindrome_two_tapes", CompileOptions(levels=3)),
    ("palindrome_two_tapes", CompileOptions(construction="paper", levels=1, base=16)),
    ("binary_addition", CompileOptions(levels=2)),
)


@cache
def model(name: str, options: CompileOptions) -> tuple[tuple[str, ...], Netlist]:
    """The names of a model's factors, and its gates."""
    weights = compile_machine(gallery_machine(name), options).weights
    return tuple(factor.name for factor in weights.factors), netlist_of(weights)


def twins(name: str, levels: int) -> list[tuple[str, ...]]:
    """Name the factors of the first head that are at one index of different instances."""
    names, netlist = model(name, CompileOptions(levels=levels))
    found: dict[tuple[int, int], list[str]] = {}
    for factor, at in block_positions(netlist, token_inputs(netlist), 64).items():
        if at.block >= 0 and "2." in names[factor]:
            found.setdefault((at.block, at.index), []).append(names[factor])
    return [tuple(group) for group in found.values()]


def test_both_stacks_of_a_tape_are_instances_of_one_block() -> None:
    found = twins("busy_beaver_4", 5)
    assert len(found) == 10
    assert all(left.replace("left", "right") == right for left, right in found)


def test_stacks_of_all_tapes_are_instances_of_one_block() -> None:
    found = {len(group) for group in twins("binary_addition", 2)}
    assert found == {6}, "though tape 1 has another alphabet than tapes 2 and 3"


def test_first_levels_of_all_stacks_share_words_though_no_head_fetches_them() -> None:
    names, netlist = model("binary_addition", CompileOptions(levels=2))
    word_of = LaneAssignment(netlist).word_of
    for part in ("main1.track", "delay1.track"):
        factors = [factor for factor, name in enumerate(names) if part in name]
        assert 6 * len({word_of[factor] for factor in factors}) == len(factors), part


@pytest.mark.parametrize(("name", "options"), MODELS)
def test_no_two_values_share_a_bit(name: str, options: CompileOptions) -> None:
    _, netlist = model(name, options)
    assignment = LaneAssignment(netlist)
    taken: set[tuple[int, int]] = set()
    for factor in assignment.locations:
        for location in factor:
            lanes = assignment.grid.numbers(location.lane) or range(64)
            bits = {(location.word, lane) for lane in lanes}
            assert not bits & taken
            taken |= bits


@pytest.mark.parametrize(("name", "options"), MODELS)
def test_a_pack_never_depends_on_itself(name: str, options: CompileOptions) -> None:
    _, netlist = model(name, options)
    packing = Packing(netlist, LaneAssignment(netlist))
    packing.assign(fan_in_cone(netlist))
    for pack in packing.packs:
        for column in pack.columns:
            for literal in column.literals.values():
                assert packing.packs[packing.bits[literal >> 1].pack].depth < pack.depth


def test_further_levels_cost_little() -> None:
    counts = {}
    for levels in (6, 12):
        _, netlist = model("busy_beaver_5", CompileOptions(levels=levels))
        counts[levels] = len(packed_program(netlist)[0].operations)
        assert 2 * counts[levels] < len(bit_sliced_program(netlist).operations)
    assert counts[12] < 1.2 * counts[6]
