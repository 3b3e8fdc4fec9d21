"""Compose circuits: append bits in order of dependence, and replace inputs by other logic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tapeformer.circuit.record import Bit, Circuit, InputBit, Literal


@dataclass
class Composer:
    """The bits of a circuit under construction; every input bit is there once."""

    bits: list[Bit] = field(default_factory=list)
    places: dict[InputBit, Literal] = field(default_factory=dict)

    def bit(self, record: Bit) -> Literal:
        """Append a bit whose literals are already there."""
        self.bits.append(record)
        return Literal(len(self.bits) - 1)

    def input(self, port: str, value: str) -> Literal:
        """Return an input bit, which is appended where it is used first."""
        record = InputBit(port, value)
        if record not in self.places:
            self.places[record] = self.bit(record)
        return self.places[record]

    def include(
        self, circuit: Circuit, replaced: Mapping[InputBit, Literal]
    ) -> dict[InputBit, Literal]:
        """Copy a circuit with some inputs replaced; return its outputs, value by value."""
        moved: list[Literal] = []

        def here(literal: Literal) -> Literal:
            target = moved[literal.bit]
            return Literal(target.bit, target.positive == literal.positive)

        for record in circuit.bits:
            if isinstance(record, InputBit):
                moved.append(replaced.get(record) or self.input(record.port, record.value))
            else:
                literals = tuple(here(literal) for literal in record.literals)
                moved.append(self.bit(replace(record, literals=literals)))
        return {
            InputBit(port.name, value): here(literal)
            for port, literals in zip(circuit.outputs, circuit.output_literals, strict=True)
            for value, literal in zip(port.values, literals, strict=True)
        }
