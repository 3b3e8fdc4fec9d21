"""A small language for writing circuits: wires with finite domains, and, or, not, select, tables.

Equal logic is made once (hash-consing) and constants are folded while building, so that what is
written plainly, once per level or stack, still becomes few neurons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tapeformer.circuit.record import (
    MOST_RULES,
    And,
    Bit,
    Circuit,
    InputBit,
    Literal,
    Port,
    Sum,
    input_name,
)


@dataclass(frozen=True)
class Wire:
    """A value of a finite domain as one-hot literals: exactly one of them is true."""

    literals: Mapping[str, Literal]

    @property
    def values(self) -> tuple[str, ...]:
        """Return the domain, in order."""
        return tuple(self.literals)

    def __getitem__(self, value: str) -> Literal:
        return self.literals[value]

    def where(self, values: Iterable[str]) -> tuple[Literal, ...]:
        """Return the literals of those of `values` that are in the domain."""
        return tuple(self.literals[value] for value in values if value in self.literals)


Case = tuple[Literal, Wire | str]
OPENED = 4
"""An AND inside an AND is opened up to this many literals: less depth, and still few weights."""


class Builder:
    """Collects bits; its methods return a literal or a wire."""

    def __init__(self) -> None:
        self._inputs: list[Port] = []
        self._outputs: list[Port] = []
        self._output_literals: list[tuple[Literal, ...]] = []
        self._bits: list[Bit] = []
        self._index: dict[Bit, int] = {}
        self._rules: dict[int, tuple[int, ...]] = {}
        self._scope: list[str] = []
        self.true = self._bit(And((), "true"))
        self.false = negated(self.true)

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """Begin the labels of the bits made inside with `name/`."""
        self._scope.append(name)
        try:
            yield
        finally:
            self._scope.pop()

    def input(self, name: str, values: Sequence[str]) -> Wire:
        """Add an input port and return its wire."""
        self._inputs.append(Port(name, tuple(values)))
        return Wire({value: self._bit(InputBit(name, value)) for value in values})

    def output(self, name: str, wire: Wire) -> None:
        """Add an output port with the wire's domain."""
        self._outputs.append(Port(name, wire.values))
        self._output_literals.append(tuple(wire.literals.values()))

    def circuit(self) -> Circuit:
        """Return all that was built; dead logic is still in it, and labels may repeat."""
        rules = self._rules
        return Circuit(
            inputs=tuple(self._inputs),
            outputs=tuple(self._outputs),
            bits=tuple(_from_rules(b, rules.get(i, ())) for i, b in enumerate(self._bits)),
            output_literals=tuple(self._output_literals),
        )

    def all_of(self, *literals: Literal, label: str = "", rules: Iterable[int] = ()) -> Literal:
        """Return what is true where all are; `rules` are those of the machine that it tests.

        A small AND inside is opened, so that depth does not grow by writing.
        """
        wanted = dict.fromkeys(part for literal in literals for part in self._factors(literal))
        wanted.pop(self.true, None)
        if _settled(wanted, self.false) or _settled(literals, self.false):
            return self.false
        if len(wanted) > 1:
            made = self._bit(And(_ordered(wanted), self._path(label)))
        else:
            made = next(iter(wanted), self.true)
        return self._noted(made, rules or _in_common(self._rules_of(literals)))

    def one_of(self, *literals: Literal, label: str = "", rules: Iterable[int] = ()) -> Literal:
        """Return what is true where one is, given that at most one ever is: costs no neuron.

        A literal that is there twice is therefore never true.
        """
        count = Counter(literals)
        wanted = [lit for lit, times in count.items() if times == 1 and lit != self.false]
        if _settled(wanted, self.true):
            return self.true
        if len(wanted) > 1:
            made = self._bit(Sum(_ordered(wanted), self._path(label)))
        else:
            made = next(iter(wanted), self.false)
        return self._noted(made, rules or set().union(*self._rules_of(literals)))

    def any_of(self, *literals: Literal, label: str = "") -> Literal:
        """Return what is true where at least one is; costs a neuron, unlike `one_of`."""
        return negated(self.all_of(*map(negated, literals), label=label))

    def constant(self, value: str, values: Sequence[str]) -> Wire:
        """Return the wire that always has one value."""
        return Wire({other: self.true if other == value else self.false for other in values})

    def select(
        self, cases: Sequence[Case], values: Sequence[str], otherwise: str, label: str = ""
    ) -> Wire:
        """Return the wire or value of the one case whose guard is true, or `otherwise` if none is.

        At most one guard may be true. Where a case's wire has the value `otherwise`, no bit is
        needed for it: that value is read off as the absence of all others.
        """
        chosen: dict[str, Literal] = {}
        for value in values:
            if value != otherwise:
                terms = [self._term(guard, source, value, label) for guard, source in cases]
                chosen[value] = self.one_of(*terms, label=f"{label}={value}")
        rest = negated(self.one_of(*chosen.values(), label=f"{label}!={otherwise}"))
        return Wire({value: chosen.get(value, rest) for value in values})

    def hold(self, register: Wire, cases: Sequence[Case], otherwise: str, label: str = "") -> Wire:
        """Return the new value of a register: that of the case whose guard is true, else the old one."""
        kept = negated(self.one_of(*(guard for guard, _ in cases), label=f"{label} set"))
        return self.select([*cases, (kept, register)], register.values, otherwise, label)

    def equal(self, left: Wire, right: Wire, label: str = "") -> Literal:
        """Return what is true where two wires have the same value."""
        shared = [value for value in left.values if value in right.values]
        both = [
            self.all_of(left[value], right[value], label=f"{label} both {value}")
            for value in shared
        ]
        return self.one_of(*both, label=label)

    def table(
        self, rows: Mapping[tuple[str, ...], Sequence[str]], wires: Sequence[Wire], label: str = ""
    ) -> list[list[tuple[Literal, str]]]:
        """Return, for each result column of a lookup, its cases (row matches, value): one AND per row."""
        met = [
            (self._row(key, wires, f"{label} {' '.join(key)}"), result)
            for key, result in rows.items()
        ]
        width = max((len(result) for _, result in met), default=0)
        return [[(row, result[column]) for row, result in met] for column in range(width)]

    def _row(self, key: tuple[str, ...], wires: Sequence[Wire], label: str) -> Literal:
        return self.all_of(*(w[v] for w, v in zip(wires, key, strict=True)), label=label)

    def _term(self, guard: Literal, source: Wire | str, value: str, label: str) -> Literal:
        if isinstance(source, str):
            return guard if source == value else self.false
        bit = source.literals.get(value, self.false)
        return self.all_of(guard, bit, label=f"{label}={value} {self._told(guard)}")

    def _told(self, guard: Literal) -> str:
        """Say when a case applies, by the label of its guard."""
        bit = self._bits[guard.bit]
        name = input_name(bit) if isinstance(bit, InputBit) else bit.label
        return f"{'where' if guard.positive else 'unless'} {name}"

    def _factors(self, literal: Literal) -> tuple[Literal, ...]:
        bit = self._bits[literal.bit]
        if literal.positive and isinstance(bit, And) and 1 < len(bit.literals) <= OPENED:
            return bit.literals
        return (literal,)

    def _bit(self, bit: Bit) -> Literal:
        if bit not in self._index:
            self._index[bit] = len(self._bits)
            self._bits.append(bit)
        return Literal(self._index[bit])

    def _noted(self, made: Literal, rules: Iterable[int]) -> Literal:
        """Note that a bit comes from rules, beside those that it was already made from."""
        found = set(rules)
        if found and made.positive and not isinstance(self._bits[made.bit], InputBit):
            found.update(self._rules.get(made.bit, ()))
            self._rules[made.bit] = tuple(sorted(found)[: MOST_RULES + 1])
        return made

    def _rules_of(self, literals: Iterable[Literal]) -> list[tuple[int, ...]]:
        """Return the rules that make literals true, for those that need one."""
        return [self._rules[p.bit] for p in literals if p.positive and p.bit in self._rules]

    def _path(self, label: str) -> str:
        return "/".join([*self._scope, label] if label else self._scope)


def negated(literal: Literal) -> Literal:
    """Return one minus the literal."""
    return Literal(literal.bit, not literal.positive)


def bit_wire(bit: Literal) -> Wire:
    """Return a literal as a wire with the values 0 and 1."""
    return Wire({"0": negated(bit), "1": bit})


def _in_common(parts: Sequence[tuple[int, ...]]) -> Collection[int]:
    """Return the rules that can make all parts true; a part with many of them says nothing.

    A part may be true without a rule too, so where no rule is common to all, all are returned.
    """
    few = [set(rules) for rules in parts if len(rules) <= MOST_RULES]
    if not few:
        return parts[0] if parts else ()
    return few[0].intersection(*few[1:]) or few[0].union(*few[1:])


def _from_rules(bit: Bit, rules: tuple[int, ...]) -> Bit:
    if isinstance(bit, InputBit) or not rules:
        return bit
    return type(bit)(bit.literals, bit.label, rules)


def _settled(literals: Collection[Literal], by: Literal) -> bool:
    """Return whether a constant, or a literal and its negation, decides the result."""
    both = {literal.bit for literal in literals if not literal.positive}
    return by in literals or any(lit.positive and lit.bit in both for lit in literals)


def _ordered(literals: Iterable[Literal]) -> tuple[Literal, ...]:
    return tuple(sorted(literals, key=lambda literal: (literal.bit, not literal.positive)))
