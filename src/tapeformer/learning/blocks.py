"""Networks side by side: one for each seed and copy, trained in one batched product."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional


class OneHot(nn.Module):
    """Rows of values (0 is none) as vectors of 0 and 1."""

    starts: Tensor

    def __init__(self, sizes: list[int]) -> None:
        super().__init__()
        ends = torch.tensor(sizes).cumsum(0)
        self.width = int(ends[-1])
        self.register_buffer("starts", ends - torch.tensor(sizes), persistent=False)

    def forward(self, rows: Tensor) -> Tensor:
        """Return (..., width)."""
        index = torch.where(rows > 0, rows.long() - 1 + self.starts, self.width)
        flat = torch.zeros(*rows.shape[:-1], self.width + 1, device=rows.device)
        return flat.scatter_(-1, index, 1.0)[..., :-1]


class Linears(nn.Module):
    """Affine maps of one shape, `copies` for each seed: (count, n, inputs) to (count, n, outputs)."""

    def __init__(
        self, inputs: int, outputs: int, seeds: list[int], copies: int = 1, gain: float = 2.0
    ) -> None:
        super().__init__()
        drawn = [_normal(copies, inputs, outputs, seed) for seed in seeds]
        self.weight = nn.Parameter(torch.cat(drawn) * (gain / inputs) ** 0.5)
        self.bias = nn.Parameter(torch.zeros(len(self.weight), 1, outputs))

    def forward(self, x: Tensor, only: slice | None = None) -> Tensor:
        """Apply every map to its rows, or some of them to theirs."""
        chosen = only or slice(None)
        weight, bias = self.weight[chosen].to(x.dtype), self.bias[chosen].to(x.dtype)
        return torch.baddbmm(bias, x, weight)


class Networks(nn.Module):
    """ReLU networks of one shape, so many copies for each seed."""

    def __init__(self, copies: int, widths: list[int], seeds: list[int]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            Linears(inputs, outputs, [seed + 1000 * layer for seed in seeds], copies)
            for layer, (inputs, outputs) in enumerate(pairwise(widths))
        )

    def forward(self, x: Tensor, only: slice | None = None) -> Tensor:
        """Apply every network to its rows, or some of them to theirs."""
        for layer in self.layers[:-1]:
            x = functional.relu(layer(x, only))
        said: Tensor = self.layers[-1](x, only)
        return said


def _normal(copies: int, inputs: int, outputs: int, seed: int) -> Tensor:
    """Draw weights that depend on the seed only, not on what is trained beside it."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(copies, inputs, outputs, generator=generator)


def parameter_count(model: nn.Module, seeds: int) -> int:
    """Return the number of parameters for one of so many seeds."""
    return sum(parameter.numel() for parameter in model.parameters()) // seeds


class Choices(nn.Module):
    """Logits as one choice for each output: the loss of each row, and whether all choices are right."""

    places: Tensor

    def __init__(self, sizes: list[int]) -> None:
        super().__init__()
        starts = torch.tensor([0, *sizes]).cumsum(0)[:-1]
        values = torch.arange(max(sizes))
        sized = torch.tensor(sizes)[:, None]
        places = torch.where(values < sized, starts[:, None] + values, sum(sizes))
        self.register_buffer("places", places, persistent=False)
        self.width = sum(sizes)

    def by_output(self, logits: Tensor) -> Tensor:
        """Return (..., outputs, values), very small beyond an output's last value."""
        padded = functional.pad(logits.float(), (0, 1), value=-1e9)
        chosen = padded.index_select(-1, self.places.flatten())
        return chosen.view(*chosen.shape[:-1], *self.places.shape)

    def forward(self, logits: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the loss of each row of targets, and whether the row is predicted exactly."""
        chosen, there = self.by_output(logits), rows > 0
        target = (rows.long() - 1).clamp(min=0)
        loss = -chosen.log_softmax(-1).gather(-1, target[..., None])[..., 0] * there
        right = (chosen.argmax(-1) == target) | ~there
        return loss.sum(-1), right.all(-1)
