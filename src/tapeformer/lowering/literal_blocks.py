"""Lay out the residual stream of Appendix B, with the paper's indices repaired (all from 0).

Block r is [1 | one-hot symbol | q | slot for a symbol | p | slot for a parity]. W is the identity,
so what head k of layer l fetches for queue r = k L + l must land in the head's own part of the
stream: a part is d/H wide, holds L blocks, and is padded so that d is at least the size of the
vocabulary and d/H at least K.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import ceil

from tapeformer.lowering.queues_to_circuit import token_ports
from tapeformer.queues.record import QueueMachine, Register


@dataclass(frozen=True)
class Blocks:
    """The coordinates of the residual stream."""

    machine: QueueMachine
    layers: int
    tokens: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def vocabulary(self) -> tuple[tuple[str, ...], ...]:
        """Return the tokens given, or Sigma^K x Q x P, the parity changing fastest."""
        every = product(*(port.values for port in token_ports(self.machine)))
        return self.tokens or tuple(every)

    @cached_property
    def symbols(self) -> int:
        """Return the size of the largest alphabet: 3 in the paper."""
        return max(len(queue.alphabet) for queue in self.machine.queues)

    @cached_property
    def state_bits(self) -> int:
        """Return the paper's c."""
        return sum(bits_of(register) for register in self.machine.registers)

    @cached_property
    def block(self) -> int:
        """Return the width of a block: c + 9 for three symbols."""
        return self.state_bits + 2 * self.symbols + 3

    @cached_property
    def part(self) -> int:
        """Return d/H, the width of a head."""
        queues = len(self.machine.queues)
        enough = ceil(len(self.vocabulary) * self.layers / queues)
        return max(self.block * self.layers, enough, queues)

    def start(self, r: int) -> int:
        """Return the first coordinate of block r."""
        return r // self.layers * self.part + self.inside(r)

    def inside(self, r: int) -> int:
        """Return the first column of block r in its head."""
        return r % self.layers * self.block

    @cached_property
    def d(self) -> int:
        """Return the model dimension: H parts."""
        return len(self.machine.queues) // self.layers * self.part

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Return a name for each coordinate; those outside the blocks are padding."""
        names = [f"padding {place}" for place in range(self.d)]
        for r, queue in enumerate(self.machine.queues):
            own = list(_block_names(self, r))
            names[self.start(r) : self.start(r) + self.block] = [f"{queue.name}: {n}" for n in own]
        return tuple(names)

    def symbol(self, r: int, value: int) -> int:
        """Return the coordinate of a symbol of queue r in the token."""
        return self.start(r) + 1 + value

    def state(self, r: int, bit: int) -> int:
        """Return the coordinate of a bit of the state in block r."""
        return self.start(r) + 1 + self.symbols + bit

    def slot(self, r: int, value: int) -> int:
        """Return the coordinate of a fetched symbol of queue r."""
        return self.start(r) + 1 + self.symbols + self.state_bits + value

    def parity(self, r: int) -> int:
        """Return the coordinate of the token's parity in block r."""
        return self.start(r) + self.block - 2

    def parity_slot(self, r: int) -> int:
        """Return the coordinate of the parity fetched for queue r."""
        return self.start(r) + self.block - 1


def bits_of(register: Register) -> int:
    """Return how many bits number the values of a register."""
    return (len(register.alphabet) - 1).bit_length()


def _block_names(blocks: Blocks, r: int) -> Iterator[str]:
    values = [*blocks.machine.queues[r].alphabet]
    values += [f"unused {n}" for n in range(len(values), blocks.symbols)]
    yield "constant"
    yield from (f"symbol={value}" for value in values)
    yield from (f"state bit {bit}" for bit in range(blocks.state_bits))
    yield from (f"fetched symbol={value}" for value in values)
    yield "parity"
    yield "fetched parity"
