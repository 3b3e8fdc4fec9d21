"""Circuits: the one definition of a step function, from which runners and weights both come."""

from tapeformer.circuit.build import Builder, Wire, negated
from tapeformer.circuit.evaluate import checked, compiled, evaluate
from tapeformer.circuit.record import And, Bit, Circuit, InputBit, Literal, Port, Sum
from tapeformer.circuit.show import Size, depths, show, size
from tapeformer.circuit.simplify import simplify
from tapeformer.circuit.verify import verify

__all__ = [
    "And",
    "Bit",
    "Builder",
    "Circuit",
    "InputBit",
    "Literal",
    "Port",
    "Size",
    "Sum",
    "Wire",
    "checked",
    "compiled",
    "depths",
    "evaluate",
    "negated",
    "show",
    "simplify",
    "size",
    "verify",
]
