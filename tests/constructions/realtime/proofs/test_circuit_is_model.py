"""The circuit of a level is the model; and is not, once a gate is changed."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from tapeformer.circuit.record import And, Bit, Circuit, InputBit, Literal
from tapeformer.circuit.sliced import evaluate_sliced
from tapeformer.constructions.realtime.proofs.circuit_is_model import (
    CODES,
    Slices,
    cases,
    check_circuit,
    contents_of,
    demanded,
    inputs_of,
    level_circuit,
)
from tapeformer.constructions.realtime.proofs.level_moments import Moment, moments

CODE = CODES["values"]


@pytest.mark.parametrize("name", CODES)
def test_the_circuit_is_the_model_in_a_sample_of_all_states(name: str) -> None:
    """The command checks all of them."""
    found = check_circuit(level_circuit(CODES[name]), CODES[name], every=29)
    assert found.violations == ()
    assert found.states > 500


def changed(circuit: Circuit, number: int, place: int) -> Circuit:
    """The circuit with one literal of one gate negated."""
    gate = circuit.bits[number]
    assert not isinstance(gate, InputBit)
    literals = list(gate.literals)
    literals[place] = Literal(literals[place].bit, not literals[place].positive)
    bits: list[Bit] = list(circuit.bits)
    bits[number] = replace(gate, literals=tuple(literals))
    return replace(circuit, bits=tuple(bits))


def prepared(small: int, large: int) -> list[tuple[Slices, Slices, int]]:
    """Inputs and demands of cases in random order, first those with few symbols."""
    looked = list(cases())
    Random(0).shuffle(looked)
    few = [case for case in looked if case.moment.blocks < 7]
    many = [case for case in looked if case.moment.blocks > 8 and case.flags["mark"]]
    ready = []
    for case in [*few[:small], *many[:large]]:
        ways = contents_of(case)
        ready.append((inputs_of(case, ways, CODE), demanded(case, ways, CODE), ways.every))
    return ready


def differs(circuit: Circuit, inputs: Slices, wanted: Slices, every: int) -> bool:
    found = evaluate_sliced(circuit, inputs, every)
    return any(bits != wanted.get(key, 0) for key, bits in found.items())


def test_the_check_fails_when_any_one_gate_is_changed() -> None:
    """One literal of every gate, AND or SUM, is negated in turn."""
    circuit, rng, ready = level_circuit(CODE), Random(0), prepared(500, 150)
    gates = [(n, bit) for n, bit in enumerate(circuit.bits) if not isinstance(bit, InputBit)]
    assert len(gates) > 100
    assert not any(differs(circuit, *case) for case in ready)
    for number, gate in gates:
        if gate.literals:
            wrong = changed(circuit, number, rng.randrange(len(gate.literals)))
            assert any(differs(wrong, *case) for case in ready), gate.label


def test_numbers_of_symbols_follow_each_other() -> None:
    """Over all columns, a level holds every number once, but for what is half moved."""
    for moment in moments():
        held = sorted(n for p in range(moment.ring) for n in moment.column(p))
        assert len(set(held)) == len(held)
        if moment.offset == 0 and (moment.above == "none" or not moment.position):
            assert held == list(range(moment.blocks * moment.width))


def test_a_half_moved_block() -> None:
    """The first column of the last block has gone down; the second has not."""
    moment = Moment(2, 2, 5, 1, 1, "none", below_high=False)
    assert moment.op == "pull"
    assert [moment.column(p) for p in range(4)] == [[0, 4], [1, 5, 9], [2, 6], [3, 7]]
    assert moment.column(1, tokens=1) == [1, 5]
    assert moment.leaving == 9


def test_slices_agree_with_the_evaluator_and_mark_broken_sums() -> None:
    from tapeformer.circuit.build import Builder
    from tapeformer.circuit.evaluate import evaluate

    build = Builder()
    left, right = build.input("l", ("0", "1")), build.input("r", ("0", "1"))
    build.output("o", left)
    made = build.all_of(left["1"], right["1"])
    circuit = replace(build.circuit(), output_literals=((Literal(made.bit, False), made),))
    slices = {("l", "1"): 0b0101, ("l", "0"): 0b1010, ("r", "1"): 0b0011, ("r", "0"): 0b1100}
    found = evaluate_sliced(circuit, slices, 0b1111)
    for way in range(4):
        values = {name: "1" if slices[name, "1"] >> way & 1 else "0" for name in ("l", "r")}
        assert found["o", evaluate(circuit, values)["o"]] >> way & 1
    assert any(isinstance(bit, And) for bit in circuit.bits)
