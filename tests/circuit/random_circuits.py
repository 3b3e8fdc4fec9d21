"""Random circuits for the property tests, given as lists of small choices that hypothesis draws."""

from __future__ import annotations

from hypothesis import strategies as st

from tapeformer.circuit import Builder, Circuit, Literal, Wire, negated

DOMAINS = (("a", "b", "c"), ("0", "1"), ("x", "y", "z", "w"))
choices = st.lists(
    st.tuples(st.integers(0, 2), st.lists(st.integers(-60, 60), max_size=4)), max_size=25
)


def circuit_from(plan: list[tuple[int, list[int]]]) -> Circuit:
    """A circuit of ANDs and ORs, and sums made exclusive by adding the negated earlier terms."""
    build = Builder()
    wires = [build.input(f"in{i}", values) for i, values in enumerate(DOMAINS)]
    known = [literal for wire in wires for literal in wire.literals.values()]
    for kind, picks in plan:
        literals = [_pick(known, pick) for pick in picks]
        if kind == 0:
            known.append(build.all_of(*literals, label="and"))
        elif kind == 1:
            known.append(build.any_of(*literals, label="or"))
        else:
            known.append(build.one_of(*_exclusive(build, literals), label="sum"))
    build.output("same", wires[0])
    for number, literal in enumerate(known[-3:]):
        build.output(f"out{number}", Wire({"no": negated(literal), "yes": literal}))
    return build.circuit()


def _pick(known: list[Literal], pick: int) -> Literal:
    literal = known[abs(pick) % len(known)]
    return literal if pick >= 0 else negated(literal)


def _exclusive(build: Builder, literals: list[Literal]) -> list[Literal]:
    return [
        build.all_of(literal, *map(negated, literals[:index]))
        for index, literal in enumerate(literals)
    ]
