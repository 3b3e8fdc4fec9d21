"""A neuron that adds up sums is their conjunction, found from the weights."""

from __future__ import annotations

import pytest

from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.engines.logic.affine_forms import AffineForm, linear_combination
from tapeformer.engines.logic.sum_decomposition import SumDecomposition
from tapeformer.engines.logic.synthesis import synthesised
from tapeformer.engines.logic.threshold_synthesis import ThresholdSynthesis
from tapeformer.gallery import gallery_machine
from tapeformer.weights.family import family_of_one

A = AffineForm(0, ((1, 1), (2, 1), (5, 1)))
B = AffineForm(0, ((2, 1), (3, 1)))
C = AffineForm(1, ((3, -1), (4, -1), (5, -1)))


def total(*forms: AffineForm, constant: int = 0) -> AffineForm:
    return linear_combination(constant, [(1, form) for form in forms])


def test_parts_of_a_sum_are_found() -> None:
    sums = SumDecomposition([A, B, C, AffineForm(0, ((1, 1), (3, 1)))])
    assert sums.parts(total(A, B)) in ((A, B), (B, A))
    assert sums.parts(total(A, A, B)) is not None
    assert sums.parts(AffineForm(0, ((1, 1), (9, 1)))) is None
    assert sums.parts(total(A, AffineForm(0, ((3, 2),)))) is None


def test_a_neuron_is_the_conjunction_of_its_parts_where_it_needs_all() -> None:
    synthesis = ThresholdSynthesis()
    factors = [synthesis.add_one_hot(3) for _ in range(2)]
    left, right = (total(*bits[:2]) for bits in factors)
    neuron = synthesis.conjunction(total(left, right, constant=-1), [left, right])
    assert neuron is not None
    literals = [synthesis.as_literal(part) for part in (left, right)]
    assert synthesis.literals[neuron.terms[0][0]] == synthesis.graph.conjunction(literals)
    assert not synthesis.guards
    assert synthesis.conjunction(total(left, right), [left, right]) is None, "one would be enough"
    larger = total(left, left)
    assert synthesis.conjunction(larger, [larger]) is None, "not a bit"


@pytest.mark.parametrize("name", ["binary_addition", "fibonacci_word"])
def test_the_next_rule_costs_fewer_gates(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = compile_machine(gallery_machine(name), CompileOptions(levels=2)).weights
    few = synthesised(family_of_one(weights))
    monkeypatch.setattr(SumDecomposition, "parts", lambda *_: None)
    many = synthesised(family_of_one(weights))
    guards = [len(netlist.gates[netlist.guard >> 1].literals) for netlist in (few, many)]
    assert len(few.gates) < len(many.gates)
    assert guards[0] < guards[1]
