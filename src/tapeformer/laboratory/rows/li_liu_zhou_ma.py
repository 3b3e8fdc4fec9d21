"""Li, Liu, Zhou and Ma 2024: the circuit is in the position encoding; a token is one bit of one gate.

The weights know no machine. Position i names itself and the two inputs of gate i + 1 in +-1 bits, so
two heads fetch the inputs, and four ReLU units apply the truth table that stands there too.
"""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

from tapeformer.laboratory.attention import Head
from tapeformer.laboratory.coordinates import Fields, Key, Map, Network, fields, numbered, relu, row
from tapeformer.laboratory.experiment import Context, TokenExperiment
from tapeformer.laboratory.gates import StepCircuit
from tapeformer.laboratory.preparation import Prepared, StepMade
from tapeformer.laboratory.row import Bounds, Row, Task
from tapeformer.laboratory.transformer import Coordinates, Layer, Transformer, factor

PAIRS = ((0, 0), (0, 1), (1, 0), (1, 1))


@lru_cache(maxsize=8)
def circuit_of(prepared: Prepared, letters: int, k: int) -> StepCircuit:
    """Return the circuit of 2^k steps."""
    return StepCircuit(prepared, letters, k)


class GateByGate:
    """The model of one circuit: only the position encoding depends on it."""

    def __init__(self, steps: StepCircuit, changed_gate: int | None = None) -> None:
        self.circuit, self.changed_gate = steps.circuit, changed_gate
        self.length = self.circuit.inputs + len(self.circuit.gates)
        self.width = max(1, self.length.bit_length())
        names = {name: range(self.width) for name in ("own", "first", "second")}
        self.fields: Fields = fields(**names, truth=PAIRS, bit=None, a=None, b=None, out=None)

    def model(self) -> Transformer:
        """Return one layer with two heads."""
        heads = (self._fetch("first", "a"), self._fetch("second", "b"))
        output = factor("bit", self.fields, {0: {"1": 1, "out": -1}, 1: {"out": 1}}, "1")
        layers = (Layer(heads, (self._gate(),)),)
        return Transformer(
            fields=self.fields,
            embed=self.embed,
            layers=layers,
            factors=(output,),
            token=lambda values: values[0],
            position=self.position,
            rational=False,
        )

    @staticmethod
    def embed(token: Any) -> Coordinates:
        """Return a bit as a coordinate."""
        return {"bit": token}

    def position(self, place: int) -> Coordinates:
        """Return the signs of position i = place + 1 and of the inputs of gate i + 1, and its table."""
        out: dict[Key, int] = self._signs("own", place + 1)
        number = place + 1 - self.circuit.inputs
        if 0 <= number < len(self.circuit.gates):
            a, b, truth = self.circuit.gates[number]
            out |= {**self._signs("first", a - 1), **self._signs("second", b - 1)}
            flip = int(number == self.changed_gate)
            out |= {("truth", pair): value ^ flip for pair, value in zip(PAIRS, truth, strict=True)}
        return out

    def _signs(self, block: str, number: int) -> dict[Key, int]:
        return {(block, bit): 2 * (number >> bit & 1) - 1 for bit in range(self.width)}

    def _fetch(self, block: str, to: str) -> Head:
        """Fetch the bit of the token that a block names: q interleaved with 1, k with -1."""
        pairs = numbered(2 * self.width)
        query = [row(2 * i, {(block, i): 1}) for i in range(self.width)]
        query += [row(2 * i + 1, bias=1) for i in range(self.width)]
        key = [row(2 * i, {("own", i): 1}) for i in range(self.width)]
        key += [row(2 * i + 1, bias=-1) for i in range(self.width)]
        value = Map(self.fields, self.fields, [row(to, {"bit": 1})])
        parts = ((value,), (Map(self.fields, pairs, query),), (Map(self.fields, pairs, key),))
        return Head(f"input {to}", *parts, codes=True)

    def _gate(self) -> Network:
        """Apply the truth table: one unit for each pair of inputs."""
        units = fields(pair=PAIRS)
        rows = []
        for first, second in PAIRS:
            signs: dict[Key, int] = {"a": 1 if first else -1, "b": 1 if second else -1}
            bias = -2 + (1 - first) + (1 - second)
            rows.append(
                row(("pair", (first, second)), {**signs, ("truth", (first, second)): 1}, bias)
            )
        out = Map(units, self.fields, [row("out", dict.fromkeys(units.keys, 1))])
        return (Map(self.fields, units, rows), relu, out)


def letters_of(task: Task) -> tuple[str, ...]:
    """Return the word, one blank at least: without an input bit every gate is a constant."""
    return task.word or (task.machine.blank,)


def level_of(task: Task) -> int:
    """Return the least k whose circuit of 2^k steps has all that are asked for."""
    return (task.prefix + task.steps).bit_length()


def longest(task: Task, context: int) -> int:
    """Return the machine's own steps of the largest circuit that fits in a context."""
    k = 0
    while k < level_of(task):
        larger = circuit_of(task.prepared, len(letters_of(task)), k + 1).circuit
        if larger.inputs + len(larger.gates) > context:
            break
        k += 1
    return max(0, (1 << k) - task.prefix - 1)


def experiment(task: Task, changed_gate: int | None = None) -> TokenExperiment:
    """Return the model of a task's circuit and its stream: the input's bits, then every gate."""
    letters = letters_of(task)
    steps = circuit_of(task.prepared, len(letters), level_of(task))
    gates = GateByGate(steps, changed_gate)
    prompt = tuple(bit for letter in letters for bit in steps.coded(letter))

    def configurations(bits: Any) -> list[tuple[str, tuple[str, ...]]]:
        values = [0, 1, *bits]

        def number(wires: Any) -> int:
            return sum(values[wire] << at for at, wire in enumerate(wires))

        return [(steps.states[number(q)], (steps.symbols[number(s)],)) for q, s in steps.seen]

    def contexts() -> list[Context]:
        task.check()
        bits = tuple(steps.circuit.values(prompt)[2:])
        wanted = task.trace.seen
        if tuple(configurations(bits)[: len(wanted)]) != wanted:
            raise AssertionError("the circuit differs from the direct simulation")
        step_of = [max(0, n - task.prefix) for n in _steps_of(steps)]
        return [Context(bits, len(prompt), tuple(step_of))]

    def made(tokens: Any) -> list[StepMade]:
        if len(tokens) < len(steps.circuit.gates):
            return []
        found = configurations((*prompt, *tokens))
        after = [state for state, _ in found[1:]]
        deltas = [task.prepared.delta[key] for key in found]
        return [
            (state, written, moves)
            for state, (_, written, moves) in zip(after, deltas, strict=False)
        ]

    return TokenExperiment(
        model=gates.model(),
        contexts=contexts,
        prompt=prompt,
        steps=made,
        stops=lambda _: False,
        exact_from=(2 * gates.width).bit_length(),
    )


def _steps_of(steps: StepCircuit) -> list[int]:
    """Return for each gate the number of the step during which it is made."""
    starts = [*steps.starts, len(steps.circuit.gates)]
    out = [0] * starts[0]
    for number, (start, end) in enumerate(pairwise(starts), 1):
        out += [number] * (end - start)
    return out


ROW = Row(
    name="li_liu_zhou_ma",
    title="Li, Liu, Zhou, Ma 2024",
    source="Li, Liu, Zhou, Ma: Chain of Thought Empowers Transformers to Solve Inherently Serial Problems, ICLR (2024)",
    provenance="key lemma from a quotation; the circuit is a reconstruction",
    printed=Bounds("O(1)", "O(log t)", "O(t log t)", "O(t log t)"),
    experiment=experiment,
    longest=longest,
    long_context=30_000,
    ablations={"one gate of the position encoding changed": partial(experiment, changed_gate=7)},
)
