"""Small queue machines given by a random table, and a direct runner that looks the table up."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from tapeformer.circuit.record import And, Bit, Circuit, InputBit, Literal, Port, Sum
from tapeformer.lowering.queues_to_prompt import prompt_for
from tapeformer.lowering.queues_to_weights import transformer
from tapeformer.queues.record import Queue, QueueMachine, Register
from tapeformer.weights.record import Token, TransformerWeights
from tapeformer.weights.tokens import prompt_tokens, token_of

Table = dict[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class TableMachine:
    """A queue machine with the table that its circuit was made from."""

    machine: QueueMachine
    table: Table

    def prompt(self, weights: TransformerWeights, word: str) -> tuple[Token, ...]:
        return prompt_tokens(prompt_for(self.machine), weights.factors, word)

    def run(self, lengths: dict[str, int], word: str, tokens: int) -> list[Token]:
        """What must be generated after the prompt, as token numbers of the factored model."""
        rows = self._rows(lengths, word, tokens)
        factors = transformer(self.machine).factors
        names = [factor.name for factor in factors]
        return [token_of(factors, dict(zip(names, row, strict=True))) for row in rows]

    def _rows(self, lengths: dict[str, int], word: str, tokens: int) -> list[tuple[str, ...]]:
        queues, registers = self.machine.queues, self.machine.registers
        rest = [queue.blank for queue in queues[1:]] + [register.start for register in registers]
        rows = [(symbol, *rest, str(i % 2)) for i, symbol in enumerate(word, start=1)]
        for i in range(len(word) + 1, len(word) + tokens + 1):
            fronts = [
                self._front(rows, number, queue, lengths[queue.length_rule])
                for number, queue in enumerate(queues)
            ]
            following = self.table[(*fronts, *rows[-1][len(queues) : -1])]
            rows.append((*following, str(i % 2)))
        return rows[len(word) :]

    @staticmethod
    def _front(rows: Sequence[tuple[str, ...]], number: int, queue: Queue, length: int) -> str:
        if length <= len(rows):
            return rows[-length][number]
        return queue.blank if queue.parity_test else rows[-1][number]


def table_machine(
    seed: int,
    rules: Sequence[str],
    untested: Sequence[str] = (),
    alphabet: Sequence[str] = ("0", "1", "_"),
    states: int = 2,
) -> TableMachine:
    """A random machine with a queue for each rule; rules in `untested` have no parity test."""
    queues = tuple(
        Queue(f"q{place}", tuple(alphabet), alphabet[-1], rule, rule not in untested)
        for place, rule in enumerate(rules)
    )
    registers = (Register("state", tuple(f"s{n}" for n in range(states)), "s0"),)
    ports = (
        *(Port(queue.name, queue.alphabet) for queue in queues),
        *(Port(register.name, register.alphabet) for register in registers),
    )
    chance = random.Random(seed)
    table = {
        row: tuple(chance.choice(port.values) for port in ports)
        for row in product(*(port.values for port in ports))
    }
    symbols = {symbol: symbol for symbol in alphabet[:-1]}
    step = table_circuit(ports, table)
    machine = QueueMachine("table", "post", queues, registers, step, "q0", "", symbols)
    return TableMachine(machine, table)


def table_circuit(ports: tuple[Port, ...], table: Table) -> Circuit:
    """One AND for each row of the table, one SUM for each value of each output."""
    bits: list[Bit] = [InputBit(port.name, value) for port in ports for value in port.values]
    places = {bit: Literal(place) for place, bit in enumerate(bits)}
    sums: dict[tuple[str, str], list[Literal]] = {}
    for row, following in table.items():
        inputs = (
            places[InputBit(port.name, value)] for port, value in zip(ports, row, strict=True)
        )
        bits.append(And(tuple(inputs), "row " + " ".join(row)))
        for port, value in zip(ports, following, strict=True):
            sums.setdefault((port.name, value), []).append(Literal(len(bits) - 1))
    outputs = []
    for port in ports:
        start = len(bits)
        bits += [
            Sum(tuple(sums.get((port.name, value), ())), f"next {port.name}={value}")
            for value in port.values
        ]
        outputs.append(tuple(Literal(place) for place in range(start, len(bits))))
    return Circuit(ports, ports, tuple(bits), tuple(outputs))
