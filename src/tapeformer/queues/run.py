"""The direct runner of queue machines: it only appends tokens, as a Transformer does.

A token is a tuple of strings: one symbol for each queue, one value for each register, and the
parity of its place, counted from 1. Queue r of length s is read from the token s places before
the new one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tapeformer.circuit.evaluate import Step, compiled
from tapeformer.faults import check_symbols, quoted
from tapeformer.layout import Layout
from tapeformer.queues.record import QueueMachine, Token
from tapeformer.queues.verdicts import RUNNING


def factor_names(machine: QueueMachine) -> tuple[str, ...]:
    """Return the names of a token's factors, in order."""
    registers = (register.name for register in machine.registers)
    return (*(queue.name for queue in machine.queues), *registers, "parity")


def prompt(machine: QueueMachine, word: Sequence[str]) -> tuple[Token, ...]:
    """Return the tokens of the start symbol and the word; everything else is blank or as at the start."""
    known = machine.prompt_symbols
    expected = f"one of {', '.join(map(quoted, known))}"
    check_symbols(word, known, machine.name, "INPUT, symbol", expected, "use only these symbols")
    cells = [machine.prompt_start, *(known[symbol] for symbol in word)]
    return tuple(_prompt_token(machine, cell, place) for place, cell in enumerate(cells, 1))


def _prompt_token(machine: QueueMachine, cell: str, place: int) -> Token:
    receivers = {machine.prompt_queue, *machine.prompt_copies}
    queues = (cell if q.name in receivers else q.blank for q in machine.queues)
    return (*queues, *(register.start for register in machine.registers), str(place % 2))


class QueueRun:
    """A run under way: the last `layout.window` tokens, and how many there were in all."""

    def __init__(
        self, machine: QueueMachine, layout: Layout, word: Sequence[str], step: Step | None = None
    ) -> None:
        self.machine = machine
        self.step = step or compiled(machine.step)
        self.lengths = [layout.lengths[queue.length_rule] for queue in machine.queues]
        self.constants = tuple(machine.constants.values())
        self.size = layout.window
        self.count = 0
        self._ring: list[Token] = [()] * self.size
        for token in prompt(machine, word):
            self._append(token)

    @classmethod
    def resumed(
        cls,
        machine: QueueMachine,
        layout: Layout,
        kept: Sequence[Token],
        count: int,
        step: Step | None = None,
    ) -> QueueRun:
        """Return a run of `count` tokens so far, of which the last are kept; older ones count as blank."""
        run = cls(machine, layout, (), step)
        queues = (queue.blank for queue in machine.queues)
        blank = (*queues, *(register.start for register in machine.registers), "0")
        run._ring = [blank] * run.size
        run.count = count - len(kept)
        for token in kept:
            run._append(token)
        return run

    def advance(self) -> Token:
        """Append one token."""
        token = self.following()
        self._append(token)
        return token

    def following(self) -> Token:
        """Return the token that comes next."""
        last = self._ring[(self.count - 1) % self.size]
        values = self.step((*self.fronts(), *last[len(self.lengths) : -1], *self.constants))
        return (*values, str((self.count + 1) % 2))

    def fronts(self) -> tuple[str, ...]:
        """Return what each queue pops next."""
        if self.count < self.size:
            return tuple(map(self._early_front, range(len(self.lengths))))
        ring, count, size = self._ring, self.count, self.size
        return tuple(
            [ring[(count - length) % size][index] for index, length in enumerate(self.lengths)]
        )

    def window(self) -> tuple[Token, ...]:
        """Return the last tokens, oldest first, as many as the longest queue needs."""
        start = max(0, self.count - self.size)
        return tuple(self._ring[place % self.size] for place in range(start, self.count))

    def _early_front(self, index: int) -> str:
        """Return a front where the queue may reach before the beginning."""
        queue, length = self.machine.queues[index], self.lengths[index]
        if length <= self.count:
            return self._ring[(self.count - length) % self.size][index]
        return queue.blank if queue.parity_test else self._ring[self.count - 1][index]

    def _append(self, token: Token) -> None:
        self._ring[self.count % self.size] = token
        self.count += 1


def generate(
    machine: QueueMachine, layout: Layout, word: Sequence[str], step: Step | None = None
) -> Iterator[Token]:
    """Yield the tokens after the prompt, up to and with the one that carries a verdict."""
    run = QueueRun(machine, layout, word, step)
    at = factor_names(machine).index(machine.verdict)
    while True:
        token = run.advance()
        yield token
        if token[at] != RUNNING:
            return
