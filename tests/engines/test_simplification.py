"""Fewer gates and operations compute the same, for every token that there can be."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import reduce

import pytest

from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.engines.logic.and_inverter_graph import AndInverterGraph, GateKind
from tapeformer.engines.logic.bit_slicing import bit_sliced_program
from tapeformer.engines.logic.common_pairs import with_common_pairs
from tapeformer.engines.logic.cone import fan_in_cone
from tapeformer.engines.logic.netlist import FetchedBit, Netlist
from tapeformer.engines.logic.not_logic import NotLogicError
from tapeformer.engines.logic.rewriting import one_hot_inputs
from tapeformer.engines.logic.simplification import PASSES, simplified
from tapeformer.engines.logic.synthesis import synthesised
from tapeformer.gallery import gallery_machine
from tapeformer.weights.family import family_of_one
from tapeformer.weights.record import TransformerWeights
from tests.engines.test_gate_order import outputs
from tests.small_models import SmallModel

CASES = 256
"""Random tokens that are tried at once, one in each bit of a number."""

ALL = (1 << CASES) - 1


def random_inputs(netlist: Netlist, seed: int) -> list[int]:
    """Words for all inputs, in their order; of a group that is one-hot one bit in each case."""
    chance = random.Random(seed)
    order = [2 * i for i, gate in enumerate(netlist.gates) if gate.kind is GateKind.INPUT]
    words = {literal: chance.getrandbits(CASES) for literal in order}
    for group in one_hot_inputs(netlist):
        words |= dict.fromkeys(group, 0)
        for case in range(CASES if group else 0):
            words[chance.choice(group)] |= 1 << case
    return [words[literal] for literal in order]


def evaluate(netlist: Netlist, inputs: Sequence[int]) -> tuple[list[int], dict[int, int]]:
    """All outputs for words as inputs, and what heads will fetch, by the number of the input."""
    values, given = [0] * len(netlist.gates), iter(inputs)

    def value(literal: int) -> int:
        return values[literal >> 1] ^ (ALL if literal & 1 else 0)

    for index, gate in enumerate(netlist.gates):
        words = map(value, gate.literals)
        if gate.kind is GateKind.INPUT:
            values[index] = next(given)
        elif gate.kind is GateKind.AND:
            values[index] = reduce(lambda left, right: left & right, words)
        elif gate.kind is GateKind.XOR:
            values[index] = reduce(lambda left, right: left ^ right, words)
    order = [i for i, gate in enumerate(netlist.gates) if gate.kind is GateKind.INPUT]
    number = {gate: place for place, gate in enumerate(order)}
    stored = {number[bit.literal >> 1]: value(bit.source) for bit in netlist.fetched}
    tokens = [literal for factor in netlist.next_token for literal in factor]
    return [value(literal) for literal in (*tokens, netlist.guard, *netlist.margin)], stored


def operands(netlist: Netlist) -> int:
    """Count the operands of all gates in use."""
    return sum(len(netlist.gates[index].literals) for index in fan_in_cone(netlist))


def check(netlist: Netlist) -> Netlist:
    """Compare the netlist before and after every pass."""
    given = random_inputs(netlist, 1)
    expected, fetched = evaluate(netlist, given)
    for rewriting in PASSES:
        netlist = rewriting(netlist).rewritten()
        found, fewer = evaluate(netlist, given)
        assert found == expected, rewriting.__name__
        assert fewer.items() <= fetched.items(), rewriting.__name__
    return netlist


def gates(weights: TransformerWeights) -> Netlist:
    return synthesised(family_of_one(weights))


@pytest.mark.parametrize(
    ("name", "options", "part"),
    [
        ("busy_beaver_5", CompileOptions(levels=5), 0.8),
        ("palindrome_two_tapes", CompileOptions(levels=3), 0.8),
        ("binary_addition", CompileOptions(levels=3), 0.75),
        ("palindrome", CompileOptions(construction="paper", levels=2, base=4), 1.0),
        ("busy_beaver_3", CompileOptions(construction="post", space=20), 1.0),
    ],
)
def test_a_model_computes_the_same_with_fewer_operands(
    name: str, options: CompileOptions, part: float
) -> None:
    netlist = gates(compile_machine(gallery_machine(name), options).weights)
    assert operands(check(netlist)) < part * operands(netlist)


def test_small_models_that_no_compiler_made() -> None:
    checked = 0
    for seed in range(80):
        try:
            netlist = gates(SmallModel(seed).weights)
        except NotLogicError:
            continue
        check(netlist)
        checked += 1
    assert checked > 20


def random_netlist(seed: int) -> Netlist:
    """Gates without a purpose, whose operands are often related."""
    chance, graph = random.Random(seed), AndInverterGraph()
    sizes = [chance.choice((2, 3, 4, 5)) for _ in range(4)]
    token = tuple(tuple(graph.input() for _ in range(size)) for size in sizes)
    whole = [FetchedBit(0, source, graph.input()) for source in token[0]]
    some = [FetchedBit(1, source, graph.input()) for source in token[1][1:]]
    choice = tuple(graph.input() for _ in range(2))
    literals = [literal for factor in (*token, choice) for literal in factor]
    literals += [bit.literal for bit in (*whole, *some)]
    for _ in range(60):
        chosen = chance.sample(literals, chance.randint(2, 5))
        chosen += [
            x for old in chosen for x in graph.gates[old >> 1].literals if chance.random() < 0.4
        ]
        made = graph.conjunction(x ^ (chance.random() < 0.4) for x in chosen)
        if chance.random() < 0.1:
            made = graph.xor(*chance.sample(literals, 2))
        literals.append(made)
    stored = FetchedBit(1, literals[-1], graph.input())
    last = graph.conjunction([stored.literal, literals[-2] ^ 1])
    outputs = tuple(tuple(chance.sample(literals[-20:], size)) for size in sizes)
    fetched = (*whole, *some, stored)
    return Netlist(tuple(graph.gates), token, fetched, outputs, last, (literals[-3],), None, choice)


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_random_gates(first: int) -> None:
    for seed in range(first, first + 50):
        check(random_netlist(seed))


def test_what_a_value_implies_is_left_out() -> None:
    graph = AndInverterGraph()
    token = (tuple(graph.input() for _ in range(3)), tuple(graph.input() for _ in range(2)))
    (a, b, c), (x, _) = token
    both = graph.conjunction([a, x])
    neither = graph.conjunction([a, both ^ 1, b ^ 1])
    either = graph.disjunction([graph.conjunction([b, x]), graph.conjunction([c, x])])
    outputs = ((neither, either, graph.conjunction([a ^ 1, b ^ 1])), (x, x ^ 1))
    netlist = simplified(Netlist(tuple(graph.gates), token, (), outputs, 0, (), None))
    (neither, either, rest), _ = netlist.next_token
    (a, b, c), (x, _) = netlist.token
    assert netlist.gates[neither >> 1].literals == (a, x ^ 1)
    assert netlist.gates[either >> 1].literals == (a ^ 1, x)
    assert not either & 1
    assert rest == c


def test_a_value_that_is_not_fetched_may_be_there() -> None:
    """A head that fetches only two of three values may fetch neither as 1."""
    graph = AndInverterGraph()
    token = (tuple(graph.input() for _ in range(3)),)
    fetched = tuple(FetchedBit(0, source, graph.input()) for source in token[0][1:])
    neither = graph.conjunction(bit.literal ^ 1 for bit in fetched)
    outputs = ((neither, *token[0][1:]),)
    netlist = Netlist(tuple(graph.gates), token, fetched, outputs, 0, (), None)
    check(netlist)
    assert len(one_hot_inputs(netlist)) == 1


@pytest.mark.parametrize("name", ["busy_beaver_5", "palindrome_two_tapes"])
def test_common_pairs_compute_the_same_with_fewer_operations(name: str) -> None:
    weights = compile_machine(gallery_machine(name), CompileOptions(levels=4)).weights
    program = bit_sliced_program(gates(weights))
    shared = with_common_pairs(program)
    assert outputs(shared, 3) == outputs(program, 3)
    assert len(shared.operations) < 0.95 * len(program.operations)


def test_common_pairs_of_small_models() -> None:
    for seed in range(40):
        try:
            program = bit_sliced_program(gates(SmallModel(seed).weights))
        except NotLogicError:
            continue
        assert outputs(with_common_pairs(program), seed) == outputs(program, seed)
