"""Labels tell bits apart, and rules are followed through shared, opened and dead logic."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from tapeformer.circuit import And, Builder, InputBit, Sum, Wire, negated, simplify, verify
from tapeformer.circuit.labels import with_own_labels
from tapeformer.circuit.record import MOST_RULES, Bit, Circuit
from tests.circuit.random_circuits import choices, circuit_from


def labels(circuit: Circuit) -> list[str]:
    return [bit.label for bit in circuit.bits if not isinstance(bit, InputBit)]


def labelled(circuit: Circuit, label: str) -> And | Sum:
    (found,) = (b for b in circuit.bits if not isinstance(b, InputBit) and b.label == label)
    return found


@given(choices)
def test_every_label_is_different_and_stays_as_it_is(plan: list[tuple[int, list[int]]]) -> None:
    named = with_own_labels(circuit_from(plan))
    names = [bit.label if not isinstance(bit, InputBit) else "" for bit in named.bits]
    assert len(set(filter(None, names))) == sum(map(bool, names))
    assert labels(with_own_labels(named)) == labels(named)
    assert named == circuit_from(plan)


def test_a_repeated_label_is_told_apart_by_what_the_bit_reads() -> None:
    build = Builder()
    left, right, go = (build.input(name, ("0", "1"))["1"] for name in ("left", "right", "go"))
    both = [build.all_of(go, side, label="move") for side in (left, right)]
    neither = build.one_of(*both, label="move")
    build.output("out", Wire({"no": negated(neither), "yes": neither}))
    assert sorted(labels(simplify(build.circuit()))) == [
        "move",
        "move (left=1)",
        "move (right=1)",
    ]


def test_where_reads_say_too_much_bits_are_numbered() -> None:
    build = Builder()
    bits = [build.input(f"x{i}", ("0", "1"))["1"] for i in range(8)]
    found = [build.all_of(*bits[:4], label="many"), build.all_of(*bits[4:], label="many")]
    build.output("out", Wire({"a": found[0], "b": found[1]}))
    assert labels(simplify(build.circuit())) == ["many #1", "many #2"]


def test_a_label_like_an_input_is_not_its_name() -> None:
    build = Builder()
    port = build.input("state", ("a", "b"))
    other = build.input("go", ("0", "1"))["1"]
    made = build.all_of(port["a"], other, label="state=a")
    build.output("out", Wire({"no": negated(made), "yes": made}))
    assert labels(simplify(build.circuit())) == ["state=a (state=a, go=1)"]


def test_verify_names_a_label_that_is_used_twice() -> None:
    build = Builder()
    bits = [build.input(f"x{i}", ("0", "1"))["1"] for i in range(3)]
    found = [build.all_of(bits[0], bit, label="same") for bit in bits[1:]]
    build.output("out", Wire({"a": found[0], "b": found[1]}))
    (fault,) = verify(build.circuit())
    assert "2 bits have the label 'same'" in str(fault)
    unlabelled = tuple(_without_label(bit) for bit in build.circuit().bits)
    assert not verify(replace(build.circuit(), bits=unlabelled))


def _without_label(bit: Bit) -> Bit:
    return bit if isinstance(bit, InputBit) else replace(bit, label="")


def test_equal_logic_keeps_the_rules_of_all_and_sums_have_those_of_their_parts() -> None:
    build = Builder()
    a, b, c = (build.input(name, ("0", "1"))["1"] for name in "abc")
    one = build.all_of(a, b, label="first", rules=[7])
    assert build.all_of(b, a, label="second", rules=[3]) == one
    two = build.all_of(negated(a), c, label="third", rules=[5])
    either = build.one_of(one, two, label="either")
    used = build.all_of(either, c, label="used")
    narrow = build.all_of(either, two, label="narrow")
    for name, bit in (("out", used), ("narrow", narrow)):
        build.output(name, Wire({"no": negated(bit), "yes": bit}))
    made = simplify(build.circuit())
    assert labelled(made, "first").rules == (3, 7)
    assert labelled(made, "either").rules == (3, 5, 7)
    assert labelled(made, "used").rules == (3, 5, 7)
    assert labelled(made, "narrow").rules == (5,)


def test_many_rules_are_kept_up_to_a_bound() -> None:
    build = Builder()
    port = build.input("x", tuple(map(str, range(20))))
    go = build.input("go", ("0", "1"))["1"]
    bits = [
        build.all_of(port[str(n)], go, label=f"is {n}", rules=[n + 1]) for n in reversed(range(20))
    ]
    low = build.one_of(*bits[:12], label="any")
    few = build.one_of(*bits[10:13], label="few")
    build.output("out", Wire({"no": negated(low), "yes": low}))
    both = build.all_of(low, few, label="both")
    build.output("both", Wire({"no": negated(both), "yes": both}))
    made = simplify(build.circuit())
    assert labelled(made, "any").rules == tuple(range(9, 9 + MOST_RULES + 1))
    assert labelled(made, "both").rules == (8, 9, 10)
