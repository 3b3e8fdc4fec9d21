"""64 bits for each situation, without writing out its row: what a group of slots holds is hashed once.

A long trace has billions of situations and few distinct ones. Neighbouring levels see the same
groups, so a key is a sum of the groups' hashes, each with a factor for its place in the row.
"""

from __future__ import annotations

from collections import defaultdict
from random import Random

import numpy as np
import torch
from torch import Tensor

from tapeformer.learning.situations import Group, Reader
from tapeformer.learning.traces import DeviceTraces

MOST = 1 << 52
"""Values of slots are the digits of a number below this."""
CHANCE = Random(1)
FACTORS = tuple(CHANCE.getrandbits(63) | 1 for _ in range(64))
SAID, POOLED = (CHANCE.getrandbits(63) | 1 for _ in range(2))
COPY = CHANCE.getrandbits(48) | 1


class GroupKeys:
    """Hashes of groups at every token to predict, each group hashed once for all that see it."""

    def __init__(self, traces: DeviceTraces) -> None:
        self.traces, self.columns = traces, traces.tokens.T.contiguous()
        self._read: dict[Group, Tensor] = {}
        self._said: dict[Group, Tensor] = {}

    def keys(self, reader: Reader, number: int, copy: int) -> Tensor:
        """Return the key of what one view of a block sees and says at each place."""
        view, traces = reader.views[number], self.traces
        total = self.said(view.outputs) * SAID + (copy + 1) * COPY
        for group, factor in zip(view.groups, FACTORS, strict=False):
            total.add_(self.read(group), alpha=factor)
        if reader.pooled:
            seen = reader.pooled.read(traces.tokens, traces.at, traces.first).long()
            digits = 3 ** torch.arange(seen.shape[1], device=seen.device)
            total.add_(mixed((seen * digits).sum(1)), alpha=POOLED)
        return total

    def read(self, group: Group) -> Tensor:
        """Return the hash of what heads and the current token bring of a group, at each place."""
        if group not in self._read:
            at, first = self.traces.at, self.traces.first
            total = torch.zeros_like(at)
            for back, part in _by_look_back(group).items():
                place = at - back
                live = place >= first
                found = self._held(part)[place.clamp_(min=0)]
                total += found * live if back else found
            self._read[group] = total
        return self._read[group]

    def said(self, group: Group) -> Tensor:
        """Return the hash of a group in the token after each place."""
        if group not in self._said:
            parts = _by_look_back(group).values()
            held = self._held([digit for part in parts for digit in part])
            self._said[group] = held[self.traces.at + 1]
        return self._said[group]

    def _held(self, part: list[tuple[int, int, int]]) -> Tensor:
        """Return the hash of some columns in each token."""
        size, device = self.columns.shape[1], self.columns.device
        total = torch.zeros(size, dtype=torch.long, device=device)
        for chosen in {number for _, number, _ in part}:
            digits = [(column, stride) for column, number, stride in part if number == chosen]
            held = torch.full_like(total, sum(stride for _, stride in digits))
            for column, stride in digits:
                held.add_(self.columns[column].long(), alpha=stride)
            total += mixed(held * FACTORS[-1 - chosen])
        return total


def _by_look_back(group: Group) -> dict[int, list[tuple[int, int, int]]]:
    """Return for each distance the columns read there, each a digit of one of a few numbers."""
    found: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    number, stride = 0, 1
    for slot in group:
        if stride * (slot.size + 1) > MOST:
            number, stride = number + 1, 1
        if slot.column >= 0:
            found[slot.look_back or 0].append((slot.column, number, stride))
        stride *= slot.size + 1
    return found


def mixed(numbers: Tensor) -> Tensor:
    """Return 64 well-mixed bits for each number; 0 stays 0."""
    numbers = (numbers ^ (numbers >> 30)) * -0x40A7B892E31B1A47
    numbers = (numbers ^ (numbers >> 27)) * -0x6B2FB644ECCEEE15
    return numbers ^ (numbers >> 31)


def row_hash(rows: Tensor, seed: int = 1) -> Tensor:
    """Return 64 bits for each row; equal rows give equal bits."""
    generator = torch.Generator().manual_seed(seed)
    factors = torch.randint(-(2**62), 2**62, (rows.shape[-1],), generator=generator) * 2 + 1
    return mixed((rows.long() + 1) * factors.to(rows.device)).sum(-1)


def ordered(keys: Tensor) -> Tensor:
    """Return keys in ascending order; on a processor NumPy sorts numbers faster than PyTorch."""
    if keys.device.type != "cpu":
        return keys.sort().values
    return torch.from_numpy(np.sort(keys.numpy()))


def looked_up(known: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
    """Return whether each key is among sorted ones, and where."""
    if not len(known):
        return torch.zeros_like(keys, dtype=torch.bool), torch.zeros_like(keys)
    place = torch.searchsorted(known, keys).clamp_(max=len(known) - 1)
    return known[place] == keys, place
