"""Every neuron has a name of its own, which says what it carries and which rules it comes from."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapeformer import TuringMachine, gallery_machine, gallery_names
from tapeformer.circuit.verify import verify as verify_circuit
from tapeformer.compile.options import CompileOptions
from tapeformer.compile.passes import Compilation, compiled, queues_to_weights
from tapeformer.lowering.queues_to_literal import literal_transformer
from tapeformer.weights.names import carried, carry_name, rule_name, rules_of
from tapeformer.weights.record import TransformerWeights
from tapeformer.weights.verify import verify
from tests.strategies import random_machine, seeds
from tests.table_machines import table_machine

SMALL = [name for name in gallery_names() if len(gallery_machine(name).rules) <= 14]
SIZES = {
    "realtime": CompileOptions("realtime", levels=2),
    "paper": CompileOptions("paper", levels=2, base=2),
    "post": CompileOptions("post", space=8),
}


FIRES = {"realtime": "control/fires", "paper": "control/applies", "post": "applies"}
NUMBERED = re.compile(r" #\d+( at depth \d+)?$")
"""How a name ends that says too little, so that a number had to be added."""


def made(machine: TuringMachine, construction: str) -> Compilation:
    return compiled(machine, SIZES[construction], last=queues_to_weights)


def neurons(weights: TransformerWeights) -> list[str]:
    hidden = (affine for layer in weights.layers for affine in layer.feed_forward[:-1])
    return [name for affine in hidden for name in affine.names]


def check(machine: TuringMachine, construction: str) -> None:
    work = made(machine, construction)
    assert work.weights is not None
    assert work.queue_machine is not None
    assert not verify_circuit(work.queue_machine.step)
    assert not verify(work.weights)
    names = neurons(work.weights)
    assert len(names) == len(set(names))
    assert not [name for name in names if NUMBERED.search(name)]
    for name in names:
        assert all(1 <= number <= len(machine.rules) for number in rules_of(name)[0])


@pytest.mark.parametrize("name", SMALL)
def test_names_are_different_in_the_gallery(name: str) -> None:
    machine = gallery_machine(name)
    check(machine, "realtime")
    check(machine, "paper")
    if machine.tapes == 1:
        check(machine, "post")


@settings(max_examples=15)
@given(seeds, st.sampled_from(sorted(SIZES)))
def test_names_are_different_for_random_machines_with_odd_names(seed: int, how: str) -> None:
    machine = random_machine(seed, tapes=1, odd_names=True)
    work = made(machine, how)
    assert work.weights is not None
    assert not verify(work.weights)


@pytest.mark.parametrize("construction", sorted(SIZES))
def test_each_rule_that_can_apply_has_a_neuron_of_its_own(construction: str) -> None:
    machine = gallery_machine("binary_increment")
    work = made(machine, construction)
    assert work.weights is not None
    for number, rule in enumerate(machine.rules, 1):
        label = f"rule {number}: {FIRES[construction]} in {rule.state} {rule.read[0]}"
        assert label in neurons(work.weights)


def test_the_literal_construction_has_names_too() -> None:
    names = neurons(literal_transformer(table_machine(1, ["a"]).machine))
    assert len(names) == len(set(names))


def test_a_repeated_name_is_a_fault() -> None:
    weights = made(gallery_machine("busy_beaver_2"), "post").weights
    assert weights is not None
    first, *rest = weights.layers[-1].feed_forward
    edited = replace(first, names=(first.names[1], *first.names[1:]))
    layer = replace(weights.layers[-1], feed_forward=(edited, *rest))
    (fault,) = verify(replace(weights, layers=(*weights.layers[:-1], layer)))
    assert "a neuron of layer.0.feed_forward appears 2 times" in str(fault)


@settings(max_examples=40)
@given(st.text(), st.lists(st.integers(1, 10**4), max_size=8, unique=True), st.booleans())
def test_names_are_read_back(label: str, rules: list[int], more: bool) -> None:
    name = rule_name(f"control/{label}", rules, more)
    expected = (tuple(rules), more) if rules else ((), False)
    assert rules_of(name) == rules_of(carry_name(name, 3)) == expected
    assert carried(name) is None
    assert carried(carry_name(name, 3)) == name
