"""The circuit: finite-domain ports, and between them bits that are exact on a ReLU.

A port carries one value of a finite domain as one-hot bits. A bit is an input bit, an AND of
literals (one ReLU neuron) or a SUM of literals of which at most one is true (no neuron: it is
read off linearly). Negation is free: a literal is a bit or one minus it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MOST_RULES = 8
"""How many rules a bit names; a ninth only says that there are more."""


@dataclass(frozen=True, slots=True)
class Port:
    """A named wire with a finite domain, at the boundary of a circuit."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Literal:
    """A bit of the circuit, by its index, or (not `positive`) one minus it."""

    bit: int
    positive: bool = True


@dataclass(frozen=True, slots=True)
class InputBit:
    """True where input port `port` has the value `value`."""

    port: str
    value: str


@dataclass(frozen=True, slots=True)
class And:
    """True where all literals are: relu(sum - (n - 1)). With no literals, the constant true."""

    literals: tuple[Literal, ...]
    label: str = field(default="", compare=False)
    rules: tuple[int, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Sum:
    """True where one literal is; at most one ever is (the evaluator checks it). Empty: false."""

    literals: tuple[Literal, ...]
    label: str = field(default="", compare=False)
    rules: tuple[int, ...] = field(default=(), compare=False)


Bit = InputBit | And | Sum


@dataclass(frozen=True)
class Circuit:
    """Bits in order of dependence; each output port has one literal for each of its values.

    Exactly one literal of an output port is true. A label is a path such as
    `tape1.left/level2/push`: it says what the bit is for, and no two bits have the same one.
    `rules` are the machine's rules that a bit comes from, counted from 1, lowest first: those it
    tests, or that can make it true. At most `MOST_RULES` + 1 of them are kept.
    """

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    bits: tuple[Bit, ...]
    output_literals: tuple[tuple[Literal, ...], ...]


def input_name(bit: InputBit) -> str:
    """Return the name of an input bit, which no label may be."""
    return f"{bit.port}={bit.value}"
