"""Distinct situations of a block: each once, with how often it occurs in the traces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from tapeformer.learning.keys import GroupKeys, looked_up, ordered, row_hash
from tapeformer.learning.situations import Reader
from tapeformer.learning.traces import DeviceTraces

CopyOf = Callable[[Tensor], Tensor]
"""Which copy of a block serves each of some levels."""


def input_keys(inputs: Tensor, copies: Tensor) -> Tensor:
    """Return 64 bits for what a copy of a block sees."""
    return row_hash(inputs, 1) + (copies + 1) * 0x5DEECE66D


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

    def starts(self, copies: int) -> Tensor:
        """Return where the rows of each of so many copies begin."""
        counts = self.counts(copies)
        return counts.cumsum(0) - counts

    def served(self, copy_of: CopyOf) -> Table:
        """Return a table whose copies are levels as one whose copies are a model's, equal rows once."""
        copies = copy_of(self.copies)
        keys = input_keys(self.inputs, copies) + row_hash(self.outputs, 2) * 3
        kept, number = distinct(keys)
        times = torch.zeros_like(kept).index_add_(0, number, self.times)
        order = copies[kept].argsort(stable=True)
        kept = kept[order]
        return Table(self.inputs[kept], self.outputs[kept], copies[kept], times[order])

    def to(self, device: torch.device) -> Table:
        """Return the table on a device."""
        inputs, outputs = self.inputs.to(device), self.outputs.to(device)
        return Table(inputs, outputs, self.copies.to(device), self.times.to(device))


def distinct(keys: Tensor) -> tuple[Tensor, Tensor]:
    """Return the place of one row for each distinct key, and for each row which one that is."""
    kept, inverse = torch.unique(keys, return_inverse=True)
    places = torch.arange(len(keys), device=keys.device)
    first = torch.zeros(len(kept), dtype=torch.long, device=keys.device)
    return first.scatter_(0, inverse, places), inverse


def by_level(levels: Tensor) -> Tensor:
    """Return the levels themselves: a copy for each."""
    return levels


@dataclass(frozen=True, eq=False)
class _Rows:
    """Situations that were not known, and how often each occurs."""

    keys: Tensor
    inputs: Tensor
    outputs: Tensor
    copies: Tensor
    times: Tensor

    def chosen(self, rows: Tensor) -> _Rows:
        return _Rows(*(getattr(self, name)[rows] for name in _ROW_PARTS))


_ROW_PARTS = ("keys", "inputs", "outputs", "copies", "times")


def _joined(parts: list[_Rows]) -> _Rows:
    return _Rows(*(torch.cat([getattr(part, name) for part in parts]) for name in _ROW_PARTS))


def collected(
    every: Sequence[DeviceTraces], copies_of: Callable[[str], CopyOf], blocks: Iterable[str]
) -> dict[str, Collector]:
    """Collect the distinct situations of each block from traces of the same fields."""
    fields, device = every[0].fields, every[0].tokens.device
    found = {name: Collector(Reader(fields, name, device), copies_of(name)) for name in blocks}
    for traces in every:
        groups = GroupKeys(traces)
        for collector in found.values():
            collector.add(groups)
    return found


class Collector:
    """Collects the distinct situations of one block from traces that come one after another."""

    def __init__(self, reader: Reader, copy_of: CopyOf) -> None:
        self.reader, self.copies = reader, copy_of(reader.levels).tolist()
        self.parts: list[_Rows] = []
        nothing = torch.zeros(0, dtype=torch.long, device=reader.levels.device)
        self.known, self.rows, self.times = nothing, nothing, nothing

    def add(self, groups: GroupKeys) -> None:
        """Take in the situations of all tokens to predict."""
        new = _joined([self._new(number, groups) for number in range(len(self.copies))])
        kept, number = distinct(new.keys)
        times = torch.zeros_like(kept).index_add_(0, number, new.times)
        self.parts.append(replace(new.chosen(kept), times=times))
        rows = torch.arange(len(kept), device=kept.device) + len(self.times)
        self.times = torch.cat([self.times, times])
        self.known, order = torch.cat([self.known, new.keys[kept]]).sort()
        self.rows = torch.cat([self.rows, rows])[order]

    def _new(self, number: int, groups: GroupKeys) -> _Rows:
        """Count what one view sees, and return what has not been seen before."""
        traces, copy = groups.traces, self.copies[number]
        keys = groups.keys(self.reader, number, copy)
        kept, times = torch.unique_consecutive(ordered(keys), return_counts=True)
        known, place = looked_up(self.known, kept)
        self.times.index_add_(0, self.rows[place[known]], times[known])
        new = kept[~known]
        at = _places(keys, new)
        rows = self.reader.view_rows(number, traces.tokens, traces.at[at], traces.first[at])
        return _Rows(new, *rows, torch.full_like(new, copy), times[~known])

    @cached_property
    def table(self) -> Table:
        """All that was collected."""
        every = _joined(self.parts)
        order = self._order
        rows = every.chosen(order)
        return Table(rows.inputs, rows.outputs, rows.copies, self.times[order])

    @cached_property
    def _order(self) -> Tensor:
        return torch.cat([part.copies for part in self.parts]).argsort(stable=True)

    def row_numbers(self, number: int, groups: GroupKeys) -> Tensor:
        """Return the row of the table for what one view sees at each place of collected traces."""
        keys = groups.keys(self.reader, number, self.copies[number])
        place = looked_up(self.known, keys)[1]
        row = torch.empty_like(self._order)
        row[self._order] = torch.arange(len(row), device=row.device)
        return row[self.rows[place]]


def _places(keys: Tensor, wanted: Tensor) -> Tensor:
    """Return a place of each of some sorted keys."""
    there, number = looked_up(wanted, keys)
    places = there.nonzero()[:, 0]
    found = torch.zeros_like(wanted)
    found[number[places]] = places
    return found
