"""Spare neurons beside the compiled ones, the same for all levels.

They bring the compiled Transformer to the size of other arms; without noise their weights are 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from tapeformer.learning.blocks import Linears
from tapeformer.weights.tying import LEVELLED


class LevelColumns:
    """Where the fields of each level stand in the residual stream, in one order for all levels."""

    def __init__(self, fields: Sequence[str], levels: int, device: torch.device) -> None:
        places = {}
        for place, field in enumerate(fields):
            if found := LEVELLED.search(field):
                places[int(found[2]), LEVELLED.sub(r"\1", field)] = place
        names = sorted({name for _, name in places})
        self.levels, self.width = levels, len(names)
        own = [
            places.get((level, name), len(fields))
            for level in range(1, levels + 1)
            for name in names
        ]
        back = {place: number for number, place in enumerate(own)}
        self.own = torch.tensor(own, device=device)
        self.back = torch.tensor([back.get(n, len(own)) for n in range(len(fields))], device=device)

    def gathered(self, stream: Tensor) -> Tensor:
        """Return the fields of each level (..., levels, width) of a stream; 0 where there is none."""
        own = functional.pad(stream, (0, 1)).index_select(-1, self.own)
        return own.view(*own.shape[:-1], self.levels, self.width)

    def scattered(self, own: Tensor) -> Tensor:
        """Return a stream with these fields of each level; 0 elsewhere."""
        return functional.pad(own.flatten(-2), (0, 1)).index_select(-1, self.back)


class SpareNeurons(nn.Module):
    """One hidden layer for each seed that reads a level and the two beside it, and writes the level."""

    def __init__(self, width: int, hidden: int, seeds: list[int], noise: float) -> None:
        super().__init__()
        self.up = Linears(3 * width, hidden, [s + 1000 for s in seeds], gain=3 * width * noise**2)
        self.down = Linears(hidden, width, [s + 2000 for s in seeds], gain=hidden * noise**2)

    def forward(self, stream: Tensor, columns: LevelColumns) -> Tensor:
        """Return what is added to a stream (seeds, n, fields)."""
        own = columns.gathered(stream)
        beside = functional.pad(own, (0, 0, 1, 1))
        seen = torch.cat([beside[:, :, :-2], own, beside[:, :, 2:]], -1)
        said: Tensor = self.down(functional.relu(self.up(seen.flatten(1, 2))))
        return columns.scattered(said.view_as(own))


def spare_for(width: int, parameters: int) -> int:
    """Return the most spare neurons that stay within a number of parameters."""
    return max(1, (parameters - width) // (4 * width + 1))
