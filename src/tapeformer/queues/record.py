"""The synchronous multi-queue machine: every queue pops one symbol and appends one in every step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from tapeformer.circuit.record import Circuit

Token: TypeAlias = tuple[str, ...]
"""One symbol for each queue, one value for each register, and the parity of its position."""


@dataclass(frozen=True)
class Queue:
    """A queue of fixed length. The machine knows only the *rule* of its length, not the number.

    Cells not yet written hold `blank`. `parity_test` says that reading before the beginning is
    noticed by equal parity (the length is even); without it such a read yields the newest cell.
    Queues of one `column` (by default each is its own) have one length rule and move together.
    """

    name: str
    alphabet: tuple[str, ...]
    blank: str
    length_rule: str
    parity_test: bool = True
    column: str = ""

    @property
    def in_column(self) -> str:
        """The column that the queue belongs to: a head may fetch all queues of a column."""
        return self.column or self.name


@dataclass(frozen=True)
class Register:
    """A part of the finite control, carried from token to token; `start` is its value in the prompt."""

    name: str
    alphabet: tuple[str, ...]
    start: str


@dataclass(frozen=True)
class QueueMachine:
    """Queues, registers and one step function, independent of every queue's length.

    `step` has an input port for each queue (its front) and each register, and an output port for
    each queue (what is appended) and each register, named as the queue or register. The first
    generated token is the step applied to the prompt.

    A prompt symbol is written, as `prompt_symbols` says, into `prompt_queue` and `prompt_copies`.
    `verdict` names the register that is `run` until the machine has stopped, then one of
    `accept reject halt out_of_space`; `stepped` the register that counts the steps of
    the Turing machine made in a token, as a number from 0; `state` the register that holds the Turing machine's state.
    `grow`, where not empty, names the register that is `1` in a token that needs a further level.
    `loading` names a register and its values in tokens that only bring the input to its place.
    `reading` is what a decoder needs to read a window back as tapes: plain data, kept in a bundle.
    `constants` are further input ports of `step`, after the registers, with values that never change.
    """

    name: str
    construction: str
    queues: tuple[Queue, ...]
    registers: tuple[Register, ...]
    step: Circuit
    prompt_queue: str
    prompt_start: str
    prompt_symbols: Mapping[str, str]
    verdict: str = "verdict"
    stepped: str = "stepped"
    state: str = "state"
    grow: str = ""
    loading: tuple[str, tuple[str, ...]] = ("", ())
    reading: Mapping[str, object] = field(default_factory=dict)
    prompt_copies: tuple[str, ...] = ()
    constants: Mapping[str, str] = field(default_factory=dict)
