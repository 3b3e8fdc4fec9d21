"""What each block of the model sees at a token, and what it must say: rows of small numbers.

A block is a function of its own level and of the two beside it, so its inputs at a token are a row
of values, and equal rows need to be learned once. 0 is a value that is not there (no such level, or
a look-back before the start); v + 1 is the value v.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tapeformer.learning.fields import Slot, TokenFields

BESIDE = (-1, 0, 1)
WHERE = {-1: "below", 0: "own", 1: "above"}
BLOCKS = ("stack", "clock", "control")
Group = tuple[Slot, ...]
"""Slots that are read together: those of a stack's level, of a level's clock, of the control."""


@dataclass(frozen=True)
class View:
    """What one copy of a block reads and writes: slots in, slots out; `level` is 0 for the control.

    `names` says what each input is, the same for all levels.
    """

    level: int
    groups: tuple[Group, ...]
    outputs: Group
    names: tuple[str, ...]

    @property
    def inputs(self) -> tuple[Slot, ...]:
        """The slots of all groups."""
        return tuple(slot for group in self.groups for slot in group)


def views(fields: TokenFields, block: str) -> list[View]:
    """Return every place where a block is applied."""
    levels = range(1, fields.levels + 1)
    if block == "stack":
        return [_stack_view(fields, stack, level) for level in levels for stack in fields.stacks]
    if block == "clock":
        return [_clock_view(fields, level) for level in levels]
    return [_control_view(fields)]


def _stack_view(fields: TokenFields, stack: str, level: int) -> View:
    """Return what a stack's level sees: itself and its neighbours, with their clocks."""
    read = [_stack_slots(fields, stack, level + d) for d in BESIDE]
    read += [_clock_slots(fields, level + d) for d in BESIDE]
    names = [f"{WHERE[d]} {role}" for d in BESIDE for role in fields.cell_roles]
    names += [f"{WHERE[d]} clock {role}" for d in BESIDE for role in fields.clock_roles]
    return View(level, tuple(read), _stack_slots(fields, stack, level), tuple(names))


def _clock_view(fields: TokenFields, level: int) -> View:
    """Return what a level's clock sees: its neighbours, how full the level below is, the phase."""
    read = [_clock_slots(fields, level + d) for d in BESIDE]
    read += [_stack_slots(fields, stack, level - 1) for stack in fields.stacks]
    read.append((fields.named("phase"),))
    names = [f"{WHERE[d]} clock {role}" for d in BESIDE for role in fields.clock_roles]
    names += [f"below {stack} {role}" for stack in fields.stacks for role in fields.cell_roles]
    return View(level, tuple(read), _clock_slots(fields, level), (*names, "phase"))


def _control_view(fields: TokenFields) -> View:
    """Return what the control sees: itself, levels 0 and 1, and, pooled, what levels load."""
    own = tuple(fields.register(column) for column in fields.control)
    read = [own, _clock_slots(fields, 1)]
    read += [_stack_slots(fields, stack, 1) for stack in fields.stacks]
    names = [fields.factors[column].name for column in fields.control]
    names += [f"level 1 clock {role}" for role in fields.clock_roles]
    names += [f"level 1 {stack} {role}" for stack in fields.stacks for role in fields.cell_roles]
    return View(0, tuple(read), own, tuple(names))


def _stack_slots(fields: TokenFields, stack: str, level: int) -> Group:
    return tuple(fields.cell(stack, level, role) for role in fields.cell_roles)


def _clock_slots(fields: TokenFields, level: int) -> Group:
    return tuple(fields.tick(level, role) for role in fields.clock_roles)


class Reader:
    """Reads the rows of a block's views from tokens."""

    def __init__(self, fields: TokenFields, block: str, device: torch.device) -> None:
        self.block, self.fields, self.views = block, fields, views(fields, block)
        self.inputs = [_Columns(view.inputs, device) for view in self.views]
        self.outputs = [_Columns(view.outputs, device) for view in self.views]
        self.pooled = _pooled_slots(fields, device) if block == "control" else None
        self.levels = torch.tensor([view.level for view in self.views], device=device)

    @property
    def input_sizes(self) -> list[int]:
        """The number of values of each input."""
        pairs = [2] * self.pooled.pairs if self.pooled else []
        return [slot.size for slot in self.views[0].inputs] + pairs

    @property
    def input_names(self) -> list[str]:
        """What each input is."""
        pairs = [f"loaded pair {n}" for n in range(self.pooled.pairs)] if self.pooled else []
        return [*self.views[0].names, *pairs]

    @property
    def output_sizes(self) -> list[int]:
        """The number of values of each output."""
        return [slot.size for slot in self.views[0].outputs]

    def rows(self, tokens: Tensor, at: Tensor, first: Tensor) -> tuple[Tensor, Tensor]:
        """Return inputs (views, n, F) at places and outputs (views, n, F') of the tokens after them.

        `first` is where the context of each place begins.
        """
        rows = [self.view_rows(number, tokens, at, first) for number in range(len(self.views))]
        read, said = zip(*rows, strict=True)
        return torch.stack(read), torch.stack(said)

    def view_rows(
        self, number: int, tokens: Tensor, at: Tensor, first: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return inputs (n, F) and outputs (n, F') of one view."""
        read = self.inputs[number].read(tokens, at, first)
        if self.pooled:
            read = torch.cat([read, self.pooled.read(tokens, at, first)], -1)
        return read, self.outputs[number].values(tokens, at + 1)


class _Columns:
    """Some slots, ready to be gathered from tokens."""

    def __init__(self, slots: Sequence[Slot], device: torch.device) -> None:
        self.columns = torch.tensor([max(slot.column, 0) for slot in slots], device=device)
        self.there = torch.tensor([slot.column >= 0 for slot in slots], device=device)
        self.back = torch.tensor([slot.look_back or 0 for slot in slots], device=device)

    def read(self, tokens: Tensor, at: Tensor, first: Tensor) -> Tensor:
        """Return the values that the heads and the current token bring to each place."""
        place = at[:, None] - self.back
        live = (place >= first[:, None]) & self.there
        found = tokens[place.clamp(min=0), self.columns].to(torch.uint8) + 1
        return torch.where(live, found, 0).to(torch.uint8)

    def values(self, tokens: Tensor, at: Tensor) -> Tensor:
        """Return the values of the tokens at some places themselves."""
        found = tokens[at[:, None], self.columns].to(torch.uint8) + 1
        return torch.where(self.there, found, 0).to(torch.uint8)


@dataclass(frozen=True)
class _Pooled:
    """For each pair of values of `load` and the prompt's symbol: whether some level has both."""

    load: _Columns
    symbol: _Columns
    symbols: int

    @property
    def pairs(self) -> int:
        return 2 * self.symbols

    def read(self, tokens: Tensor, at: Tensor, first: Tensor) -> Tensor:
        load, symbol = (c.read(tokens, at, first).long() for c in (self.load, self.symbol))
        number = torch.where((load > 0) & (symbol > 0), (load - 1) * self.symbols + symbol, 0)
        seen = torch.zeros(len(at), self.pairs + 1, dtype=torch.uint8, device=tokens.device)
        return seen.scatter_(1, number, 1)[:, 1:] + 1


def _pooled_slots(fields: TokenFields, device: torch.device) -> _Pooled:
    levels = range(2, fields.levels + 1)
    load = [fields.tick(level, "load") for level in levels]
    symbol = [fields.tick(level, "delay.input") for level in levels]
    return _Pooled(_Columns(load, device), _Columns(symbol, device), symbol[0].size)
