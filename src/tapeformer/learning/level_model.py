"""The model with given look-backs: a head per level fetches its columns, blocks compute the next token.

Three blocks make a token: one for each stack and level, one for each level's clock, one for the
control. `tied` copies are one network for all levels; otherwise each level has its own.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tapeformer.learning.blocks import Choices, Networks, OneHot, parameter_count
from tapeformer.learning.fields import TokenFields
from tapeformer.learning.situations import BLOCKS, Reader
from tapeformer.learning.tables import CopyOf


class Block(nn.Module):
    """One function of local situations, for several seeds at once and, if not tied, for each level."""

    def __init__(self, reader: Reader, copies: int, seeds: list[int], widths: list[int]) -> None:
        super().__init__()
        self.seeds, self.copies = len(seeds), copies
        self.one_hot, self.choices = OneHot(reader.input_sizes), Choices(reader.output_sizes)
        shape = [self.one_hot.width, *widths, self.choices.width]
        self.networks = Networks(copies, shape, seeds)

    def forward(self, inputs: Tensor, outputs: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Return loss and exactness of rows (seeds * copies, n, F), each by its own network."""
        logits = self.networks(self.one_hot(inputs).to(dtype))
        found: tuple[Tensor, Tensor] = self.choices(logits, outputs)
        return found

    def scores(
        self, inputs: Tensor, outputs: Tensor, copy: int, dtype: torch.dtype = torch.float32
    ) -> tuple[Tensor, Tensor]:
        """Return loss and exactness (seeds, n) of rows that one copy of every seed reads."""
        logits = self.logits(inputs, copy, dtype)
        found: tuple[Tensor, Tensor] = self.choices(logits, outputs.expand(self.seeds, -1, -1))
        return found

    def logits(self, inputs: Tensor, copy: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Return the logits (seeds, n, values) for one copy: of rows (n, F), or of each seed's own."""
        x = self.one_hot(inputs).to(dtype).expand(self.seeds, -1, -1)
        answered: Tensor = self.networks(x, slice(copy, None, self.copies))
        return answered

    def values(self, inputs: Tensor, copy: int) -> Tensor:
        """Return the chosen values (seeds, n, outputs)."""
        return self.choices.by_output(self.logits(inputs, copy)).argmax(-1)


class LevelModel(nn.Module):
    """The three blocks, for several seeds at once."""

    def __init__(
        self, fields: TokenFields, tied: bool, seeds: list[int], hidden: int, layers: int
    ) -> None:
        super().__init__()
        self.tied, self.levels, self.seeds = tied, fields.levels, seeds
        cpu = torch.device("cpu")
        self.blocks = nn.ModuleDict(
            {
                name: Block(
                    Reader(fields, name, cpu),
                    1 if tied or name == "control" else fields.levels,
                    [seed * 100 + number for seed in seeds],
                    [hidden] * layers,
                )
                for number, name in enumerate(BLOCKS)
            }
        )

    def block(self, name: str) -> Block:
        """Return a block by name."""
        found = self.blocks[name]
        assert isinstance(found, Block)
        return found

    def copies_of(self, name: str) -> CopyOf:
        """Return which copy of a block serves a level; levels beyond the last share its copy."""
        if self.block(name).copies == 1:
            return torch.zeros_like
        return lambda level: (level - 1).clamp(max=self.levels - 1)

    @property
    def parameter_count(self) -> int:
        """The number of parameters for one seed."""
        return parameter_count(self, len(self.seeds))


def hidden_for(fields: TokenFields, tied: bool, layers: int, parameters: int) -> int:
    """Return the width, a multiple of 8 (faster on a GPU), that comes nearest to so many parameters."""
    cpu = torch.device("cpu")
    shapes = []
    for name in BLOCKS:
        reader = Reader(fields, name, cpu)
        copies = 1 if tied or name == "control" else fields.levels
        shapes.append((copies, sum(reader.input_sizes), sum(reader.output_sizes)))

    def count(hidden: int) -> int:
        inner = (layers - 1) * hidden * (hidden + 1) + hidden
        return sum(c * (inner + i * hidden + o * (hidden + 1)) for c, i, o in shapes)

    return min(range(8, 4096, 8), key=lambda hidden: abs(count(hidden) - parameters))
