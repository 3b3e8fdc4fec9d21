"""Rows of highest loss: a search that goes through the whole table in turn, so that none is passed over."""

from __future__ import annotations

import torch
from torch import Tensor

from tapeformer.learning.level_model import Block
from tapeformer.learning.tables import Table

SEARCHED, AT_ONCE = 1 << 18, 1 << 14
"""Rows of a copy in one search at most, and rows that are scored at a time."""


class HardRows:
    """For each seed and copy of a block, the rows that it finds hardest (seeds, copies, size).

    A search scores the next rows of a shuffled table; those found before stay while they are harder.
    """

    def __init__(self, block: Block, rows: Table, size: int, seed: int, dtype: torch.dtype) -> None:
        self.block, self.rows, self.size, self.dtype = block, rows, size, dtype
        device = rows.inputs.device
        generator = torch.Generator(device).manual_seed(seed)
        counts, starts = rows.counts(block.copies).tolist(), rows.starts(block.copies).tolist()
        self.orders = [
            torch.randperm(count, generator=generator, device=device) + start
            for count, start in zip(counts, starts, strict=True)
        ]
        self.turns = torch.empty(sum(counts), dtype=torch.long, device=device)
        for order in self.orders:
            self.turns[order] = torch.arange(len(order), device=device)
        self.found: Tensor | None = None

    @torch.no_grad()
    def search(self, number: int) -> None:
        """Search the part of the table whose turn it is in the search of this number, from 0."""
        copies = range(self.block.copies)
        self.found = torch.stack([self._hardest(copy, number) for copy in copies], 1)

    def _hardest(self, copy: int, number: int) -> Tensor:
        """Return the hardest rows of a copy (seeds, size), some of them again if it has fewer."""
        order = self.orders[copy]
        count = min(SEARCHED, len(order))
        first = number * count % len(order)
        turn = torch.arange(first, first + count, device=order.device) % len(order)
        parts = [self._losses(part, copy) for part in torch.split(order[turn], AT_ONCE)]
        rows, losses = order[turn].expand(self.block.seeds, -1), torch.cat(parts, 1)
        if self.found is not None and count < len(order):
            before, kept = self._found_before(copy, first, count)
            rows, losses = torch.cat([rows, before], 1), torch.cat([losses, kept], 1)
        most = min(self.size, rows.shape[1])
        top: Tensor = rows.gather(1, losses.topk(most, 1).indices)
        return top.repeat(1, -(-self.size // most))[:, : self.size]

    def _found_before(self, copy: int, first: int, count: int) -> tuple[Tensor, Tensor]:
        """Return rows found before and their losses; those whose turn it is count once."""
        assert self.found is not None
        before = self.found[:, copy]
        again = (self.turns[before] - first) % len(self.orders[copy]) < count
        return before, self._losses(before, copy).masked_fill(again, -torch.inf)

    def _losses(self, rows: Tensor, copy: int) -> Tensor:
        """Return the loss of every seed (seeds, n) on the same rows (n), or on its own (seeds, n)."""
        inputs, outputs = self.rows.inputs[rows], self.rows.outputs[rows]
        return self.block.scores(inputs, outputs, copy, self.dtype)[0]
