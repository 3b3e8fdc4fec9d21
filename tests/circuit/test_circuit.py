from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given

from tapeformer.circuit import (
    And,
    Builder,
    Circuit,
    InputBit,
    Literal,
    Port,
    Sum,
    Wire,
    checked,
    compiled,
    evaluate,
    negated,
    show,
    simplify,
    size,
    verify,
)
from tapeformer.circuit.labels import with_own_labels
from tapeformer.faults import TapeformerError
from tests.circuit.random_circuits import DOMAINS, choices, circuit_from


@given(choices)
def test_compiled_and_simplified_agree_with_the_slow_evaluator(
    plan: list[tuple[int, list[int]]],
) -> None:
    circuit = circuit_from(plan)
    smaller = simplify(circuit)
    assert not verify(with_own_labels(circuit))
    assert not verify(smaller)
    assert size(smaller).ands <= size(circuit).ands
    assert simplify(smaller) == smaller
    slow, fast, after = checked(circuit), compiled(circuit), checked(smaller)
    for values in product(*DOMAINS):
        assert slow(values) == fast(values) == after(values)


def test_constants_fold_and_equal_logic_is_made_once() -> None:
    build = Builder()
    a, b = build.input("p", ("a", "b")).literals.values()
    assert build.all_of(a, build.true) == a
    assert build.all_of(a, negated(a)) == build.false
    assert build.all_of() == build.true
    assert build.one_of() == build.false
    assert build.one_of(a, build.false) == a
    assert build.one_of(a, negated(a)) == build.true
    assert build.all_of(a, b) == build.all_of(b, a, b)


def test_an_and_inside_an_and_is_opened() -> None:
    build = Builder()
    wires = [build.input(str(i), ("0", "1")) for i in range(4)]
    bits = [wire["1"] for wire in wires]
    nested = build.all_of(build.all_of(build.all_of(bits[0], bits[1]), bits[2]), bits[3])
    build.output("out", Wire({"0": negated(nested), "1": nested}))
    assert size(simplify(build.circuit())).depth == 1


def test_select_hold_equal_and_table() -> None:
    build = Builder()
    left, right = (build.input(name, ("a", "b", "c")) for name in ("left", "right"))
    same = build.equal(left, right, "same")
    build.output("chosen", build.select([(same, "c"), (negated(same), right)], left.values, "a"))
    build.output("held", build.hold(left, [(right["c"], "b")], "a"))
    rows: dict[tuple[str, ...], tuple[str, ...]] = {("a", "b"): ("yes",), ("c", "c"): ("yes",)}
    (column,) = build.table(rows, (left, right), "rows")
    build.output("table", build.select(column, ("no", "yes"), "no"))
    circuit = build.circuit()
    for a, b in product("abc", repeat=2):
        got = evaluate(circuit, {"left": a, "right": b})
        assert got["chosen"] == ("c" if a == b else b)
        assert got["held"] == ("b" if b == "c" else a)
        assert got["table"] == ("yes" if (a, b) in rows else "no")


def test_a_sum_with_two_true_literals_is_caught() -> None:
    build = Builder()
    one, two = (build.input(name, ("0", "1"))["1"] for name in ("one", "two"))
    either = build.one_of(one, two, label="either")
    build.output("out", Wire({"0": negated(either), "1": either}))
    circuit = build.circuit()
    assert evaluate(circuit, {"one": "1", "two": "0"}) == {"out": "1"}
    with pytest.raises(TapeformerError, match="at most one"):
        evaluate(circuit, {"one": "1", "two": "1"})


def test_an_output_without_exactly_one_value_is_caught() -> None:
    build = Builder()
    one = build.input("one", ("0", "1"))["1"]
    build.output("out", Wire({"a": one, "b": one}))
    with pytest.raises(TapeformerError, match="exactly one value"):
        evaluate(build.circuit(), {"one": "1"})


def test_verify_lists_all_faults() -> None:
    circuit = Circuit(
        inputs=(Port("p", ("a", "a")), Port("p", ())),
        outputs=(Port("out", ("x", "y")),),
        bits=(
            InputBit("p", "b"),
            And((Literal(5),)),
            Sum((Literal(0), Literal(0))),
        ),
        output_literals=((Literal(9),),),
    )
    told = "\n".join(map(str, verify(circuit)))
    for part in ("2 times", "no values", "reads no input", "does not come before", "one literal"):
        assert part in told
    assert verify(replace(circuit, output_literals=()))


def test_show_prints_labels_and_sizes() -> None:
    build = Builder()
    wire = build.input("p", ("a", "b"))
    other = build.input("q", ("0", "1"))
    with build.scope("tape1.left"), build.scope("level2"):
        both = build.all_of(wire["a"], other["1"], label="push", rules=[3])
    build.output("out", Wire({"0": negated(both), "1": both}))
    text = show(simplify(build.circuit()))
    assert text.splitlines()[0] == "input bits 4, ands 1, sums 0, depth 1"
    assert "and  tape1.left/level2/push = p=a & q=1    # rule 3" in text
    assert "output out=0 = not tape1.left/level2/push" in text


def test_show_cuts_long_lists_short() -> None:
    build = Builder()
    bits = [build.input(f"x{i}", ("0", "1"))["1"] for i in range(6)]
    for number, bit in enumerate(bits[1:]):
        both = build.all_of(bits[0], bit, label=f"both {number}")
        build.output(f"out{number}", Wire({"0": negated(both), "1": both}))
    text = show(simplify(build.circuit()), limit=2)
    assert "both 1 =" in text
    assert "both 2 =" not in text
    assert "... and 3 more gates" in text
    assert text.endswith("... and 8 more output values")
