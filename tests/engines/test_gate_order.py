"""The order of gates changes nothing but how many values are alive at once."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import pytest

from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.engines.logic.bit_slicing import bit_sliced_program
from tapeformer.engines.logic.gate_order import root_by_root, with_short_lifetimes
from tapeformer.engines.logic.list_scheduling import ListScheduling
from tapeformer.engines.logic.machine_words import ONES
from tapeformer.engines.logic.not_logic import NotLogicError
from tapeformer.engines.logic.program import (
    Binary,
    BinaryOpcode,
    Constant,
    LoadFetched,
    LoadToken,
    Operation,
    Program,
    StoreToken,
)
from tapeformer.engines.logic.synthesis import synthesised
from tapeformer.gallery import gallery_machine
from tapeformer.weights.family import family_of_one
from tapeformer.weights.record import TransformerWeights
from tests.small_models import SmallModel

OPERATORS = {
    BinaryOpcode.AND: lambda left, right: left & right,
    BinaryOpcode.OR: lambda left, right: left | right,
    BinaryOpcode.XOR: lambda left, right: left ^ right,
    BinaryOpcode.AND_NOT: lambda left, right: left & ~right,
}


def most_alive(operations: Sequence[Operation], outputs: Iterable[int]) -> int:
    """Return the largest number of live values (computed, and yet to be read) at any time."""
    last = dict.fromkeys(outputs, len(operations))
    for index, operation in enumerate(operations):
        for operand in operation.operands:
            last[operand] = max(last.get(operand, 0), index)
    change = [0] * (len(operations) + 2)
    for index, end in last.items():
        change[index] += 1
        change[end] -= 1
    alive = most = 0
    for step in change:
        alive += step
        most = max(most, alive)
    return most


def outputs(program: Program, seed: int) -> tuple[list[int], ...]:
    """All outputs for random words; a head with distance 0 fetches what was just stored."""
    values: list[int] = []
    stored: dict[int, int] = {}
    for operation in program.operations:
        match operation:
            case Binary(opcode, left, right):
                values.append(OPERATORS[opcode](values[left], values[right]))
            case LoadToken(word):
                values.append(random.Random(f"{seed} {word}").getrandbits(64))
            case LoadFetched(word, masks):
                given = random.Random(f"{seed} {word} {masks}").getrandbits(64)
                values.append(given if word < len(program.next_token) else stored[word])
            case StoreToken(word, operand):
                stored[word] = values[operand]
                values.append(0)
            case Constant(bits):
                values.append(bits)
            case _:
                raise TypeError(operation)
    indices = (program.next_token, (program.guard,), program.margin)
    return tuple([values[index] & ONES for index in part] for part in indices)


def check(weights: TransformerWeights) -> tuple[Program, Program]:
    program = bit_sliced_program(synthesised(family_of_one(weights)))
    ordered, plain = with_short_lifetimes(program), root_by_root(program)
    for seed in range(5):
        assert outputs(ordered, seed) == outputs(plain, seed) == outputs(program, seed)
    return program, ordered


@pytest.mark.parametrize(
    ("construction", "levels", "base", "part"), [("realtime", 4, 2, 0.8), ("paper", 3, 4, 0.5)]
)
def test_fewer_values_are_alive(construction: str, levels: int, base: int, part: float) -> None:
    options = CompileOptions(construction, levels, base)
    bundle = compile_machine(gallery_machine("busy_beaver_5"), options)
    alive = [
        most_alive(program.operations, (program.guard, *program.margin))
        for program in check(bundle.weights)
    ]
    assert alive[1] < part * alive[0]


def test_a_value_is_read_before_the_next_one_is_made() -> None:
    operands = {0: (), 1: (), 2: (), 3: (0,), 4: (1,), 5: (2, 3), 6: (4, 5)}
    order = list(ListScheduling(tuple(operands), operands, frozenset([2])).scheduled())
    assert order == [0, 3, 2, 5, 1, 4, 6]


def test_small_models_with_words_that_are_stored() -> None:
    stores = 0
    for seed in range(60):
        try:
            program, _ = check(SmallModel(seed).weights)
        except NotLogicError:
            continue
        stores += any(isinstance(operation, StoreToken) for operation in program.operations)
    assert stores > 3
