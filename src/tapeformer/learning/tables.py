"""Distinct situations of a block: each once, with how often it occurs in the traces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from tapeformer.learning.situations import Reader, distinct, row_hash
from tapeformer.learning.traces import DeviceTraces

PLACES = {"cpu": 1 << 12, "cuda": 1 << 15}
"""Tokens whose situations are read at a time."""
CopyOf = Callable[[Tensor], Tensor]
"""Which copy of a block serves each of some levels."""


@dataclass(frozen=True, eq=False)
class Situations:
    """Rows of a block at some tokens, equal ones once; `inverse` (views, n) says which is where."""

    inputs: Tensor
    outputs: Tensor
    copies: Tensor
    times: Tensor
    inverse: Tensor


def situations(reader: Reader, copy_of: CopyOf, traces: DeviceTraces, places: slice) -> Situations:
    """Read the distinct situations of a block at some tokens."""
    inputs, outputs = reader.rows(traces.tokens, traces.at[places], traces.first[places])
    shape = inputs.shape[:2]
    copies = copy_of(reader.levels)[:, None].expand(shape).flatten()
    inputs, outputs = inputs.flatten(0, 1), outputs.flatten(0, 1)
    kept, inverse = distinct(_keys(inputs, outputs, copies))
    times = torch.bincount(inverse, minlength=len(kept))
    return Situations(inputs[kept], outputs[kept], copies[kept], times, inverse.view(shape))


def _keys(inputs: Tensor, outputs: Tensor, copies: Tensor) -> Tensor:
    return input_keys(inputs, copies) + row_hash(outputs, 2) * 3


def input_keys(inputs: Tensor, copies: Tensor) -> Tensor:
    """Return 64 bits for what a copy of a block sees."""
    return row_hash(inputs, 1) + (copies + 1) * 0x5DEECE66D


def chunks(traces: DeviceTraces) -> Iterator[slice]:
    """Yield all tokens to predict, some at a time."""
    size = PLACES[traces.tokens.device.type]
    for start in range(0, len(traces.at), size):
        yield slice(start, start + size)


@dataclass(frozen=True, eq=False)
class Table:
    """The distinct situations of some traces, sorted by copy; `times` says how often each occurs."""

    inputs: Tensor
    outputs: Tensor
    copies: Tensor
    times: Tensor

    def __len__(self) -> int:
        return len(self.inputs)

    def counts(self, copies: int) -> Tensor:
        """Return how many rows each of so many copies has."""
        return torch.bincount(self.copies, minlength=copies)

    def served(self, copy_of: CopyOf) -> Table:
        """Return a table whose copies are levels as one whose copies are a model's."""
        return replace(self, copies=copy_of(self.copies))

    def to(self, device: torch.device) -> Table:
        """Return the table on a device."""
        inputs, outputs = self.inputs.to(device), self.outputs.to(device)
        return Table(inputs, outputs, self.copies.to(device), self.times.to(device))


def by_level(levels: Tensor) -> Tensor:
    """Return the levels themselves: a copy for each."""
    return levels


def table(reader: Reader, copy_of: CopyOf, every: Iterable[DeviceTraces]) -> Table:
    """Collect the distinct situations of a block."""
    collector = Collector(reader, copy_of)
    for traces in every:
        collector.add(traces)
    return collector.table()


class Collector:
    """Collects the distinct situations of one block from traces that come one after another."""

    def __init__(self, reader: Reader, copy_of: CopyOf) -> None:
        self.reader, self.copy_of = reader, copy_of
        self.parts: list[Situations] = []
        device = reader.levels.device
        self.keys = torch.zeros(0, dtype=torch.long, device=device)
        self.rows = torch.zeros(0, dtype=torch.long, device=device)
        self.times = torch.zeros(0, dtype=torch.long, device=device)

    def add(self, traces: DeviceTraces) -> None:
        """Take in the situations of all tokens to predict."""
        for places in chunks(traces):
            self._merge(situations(self.reader, self.copy_of, traces, places))

    def _merge(self, found: Situations) -> None:
        keys = _keys(found.inputs, found.outputs, found.copies)
        known, place = looked_up(self.keys, keys)
        self.times.index_add_(0, self.rows[place[known]], found.times[known])
        new = (~known).nonzero()[:, 0]
        if not len(new):
            return
        kept = (found.inputs[new], found.outputs[new], found.copies[new], found.times[new])
        self.parts.append(Situations(*kept, inverse=new))
        rows = torch.arange(len(new), device=new.device) + len(self.times)
        self.times = torch.cat([self.times, found.times[new]])
        every, order = torch.cat([self.keys, keys[new]]).sort()
        self.keys, self.rows = every, torch.cat([self.rows, rows])[order]

    def table(self) -> Table:
        """Return all that was collected."""
        inputs, outputs, copies = (
            torch.cat([getattr(part, name) for part in self.parts])
            for name in ("inputs", "outputs", "copies")
        )
        order = copies.argsort(stable=True)
        return Table(inputs[order], outputs[order], copies[order], self.times[order])


def looked_up(known: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
    """Return whether each key is among sorted ones, and where."""
    if not len(known):
        return torch.zeros_like(keys, dtype=torch.bool), torch.zeros_like(keys)
    place = torch.searchsorted(known, keys).clamp(max=len(known) - 1)
    return known[place] == keys, place
