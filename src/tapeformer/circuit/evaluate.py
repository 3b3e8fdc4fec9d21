"""Compute a circuit: slowly with every promise checked, or compiled to straight-line Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from tapeformer.circuit.record import And, Bit, Circuit, InputBit, Literal, Port
from tapeformer.faults import Fault, TapeformerError, quoted

Step = Callable[[tuple[str, ...]], tuple[str, ...]]
REMEMBERED = 1 << 12


def evaluate(circuit: Circuit, inputs: Mapping[str, str]) -> dict[str, str]:
    """Return the value of each output port; refuse a Sum or an output with two true literals."""
    truth: list[bool] = []
    for number, bit in enumerate(circuit.bits):
        truth.append(_truth(number, bit, truth, inputs))
    outputs = zip(circuit.outputs, circuit.output_literals, strict=True)
    return {port.name: _value(port, literals, truth) for port, literals in outputs}


def _truth(number: int, bit: Bit, truth: list[bool], inputs: Mapping[str, str]) -> bool:
    if isinstance(bit, InputBit):
        return inputs[bit.port] == bit.value
    true = sum(truth[literal.bit] == literal.positive for literal in bit.literals)
    if isinstance(bit, And):
        return true == len(bit.literals)
    if true > 1:
        what = f"{true} literals of the sum at bit {number} are true"
        raise TapeformerError(Fault(what, expected="at most one", got=quoted(bit.label)))
    return true == 1


def _value(port: Port, literals: tuple[Literal, ...], truth: list[bool]) -> str:
    pairs = zip(port.values, literals, strict=True)
    values = [value for value, literal in pairs if truth[literal.bit] == literal.positive]
    if len(values) != 1:
        what = f"output {quoted(port.name)} has not exactly one value"
        raise TapeformerError(Fault(what, expected="one value", got=", ".join(values) or "none"))
    return values[0]


def checked(circuit: Circuit) -> Step:
    """Return the slow evaluator as a function of tuples, in the order of the ports."""
    names = [port.name for port in circuit.inputs]

    def step(values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(evaluate(circuit, dict(zip(names, values, strict=True))).values())

    return step


def compiled(circuit: Circuit) -> Step:
    """Return the same function as straight-line Python; results are cached."""
    scope: dict[str, Any] = {}
    exec(python_source(circuit), scope)
    step: Step = lru_cache(maxsize=REMEMBERED)(scope["step"])
    return step


def python_source(circuit: Circuit) -> str:
    """Return the source of a Python function `step(values)`, one assignment for each bit."""
    place = {port.name: index for index, port in enumerate(circuit.inputs)}
    lines = ["def step(v):"]
    for number, bit in enumerate(circuit.bits):
        lines.append(f"    b{number} = {_expression(bit, place)}")
    outputs = zip(circuit.outputs, circuit.output_literals, strict=True)
    answers = [_choice(port, literals) for port, literals in outputs]
    return "\n".join([*lines, f"    return ({''.join(f'{answer}, ' for answer in answers)})", ""])


def _expression(bit: Bit, place: Mapping[str, int]) -> str:
    if isinstance(bit, InputBit):
        return f"v[{place[bit.port]}] == {bit.value!r}"
    terms = [_term(literal) for literal in bit.literals]
    if isinstance(bit, And):
        return " and ".join(terms) or "True"
    return " or ".join(terms) or "False"


def _choice(port: Port, literals: tuple[Literal, ...]) -> str:
    pairs = list(zip(port.values, literals, strict=True))
    tests = [f"{value!r} if {_term(literal)} else " for value, literal in pairs[:-1]]
    return f"({''.join(tests)}{pairs[-1][0]!r})"


def _term(literal: Literal) -> str:
    return f"b{literal.bit}" if literal.positive else f"(not b{literal.bit})"
