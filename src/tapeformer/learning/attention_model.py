"""Full attention for comparison: standard decoders with rotary, linear-bias or no positions.

All seeds run side by side: every tensor has the seed as its first dimension.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from tapeformer.learning.blocks import Choices, Linears
from tapeformer.learning.fields import TokenFields

HEAD_WIDTH = 32


class AttentionModel(nn.Module):
    """Token factors are embedded and summed; pre-norm blocks; one choice for each factor."""

    def __init__(
        self, fields: TokenFields, position: str, width: int, layers: int, seeds: list[int]
    ) -> None:
        super().__init__()
        sizes = [factor.size for factor in fields.factors]
        self.register_buffer("starts", torch.tensor([0, *sizes]).cumsum(0)[:-1], persistent=False)
        self.values, drawn = sum(sizes), [1000 * seed for seed in seeds]
        self.embed = Linears(self.values, width, drawn, gain=0.02 * self.values)
        self.layers = nn.ModuleList(
            _Layer(width, position, [seed + 10 * number for seed in drawn])
            for number in range(1, layers + 1)
        )
        self.norm = _Norm(len(seeds), width)
        self.unembed = Linears(width, self.values, [seed + 1 for seed in drawn], gain=1.0)
        self.choices = Choices(sizes)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits (S, B, T, all values) for tokens (S, B, T, K)."""
        shape = tokens.shape[:3]
        rows = (tokens.long() + self.get_buffer("starts")).flatten(1, 2)
        flat = torch.zeros(*rows.shape[:2], self.values, device=tokens.device)
        x = self.embed(flat.scatter_(-1, rows, 1.0))
        for layer in self.layers:
            x = layer(x, shape)
        logits: Tensor = self.unembed(self.norm(x))
        return logits.view(*shape, -1)

    def scores(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return loss and exactness of every token but the first (S, B, T - 1)."""
        found: tuple[Tensor, Tensor] = self.choices(
            self(tokens[..., :-1, :]), tokens[..., 1:, :] + 1
        )
        return found


class _Norm(nn.Module):
    """Layer normalisation with a scale and a shift for each seed."""

    def __init__(self, seeds: int, width: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(seeds, 1, width))
        self.shift = nn.Parameter(torch.zeros(seeds, 1, width))

    def forward(self, x: Tensor) -> Tensor:
        """Return rows of mean 0 and variance 1, scaled and shifted."""
        plain = functional.layer_norm(x.float(), x.shape[-1:])
        return plain * self.scale + self.shift


class _Layer(nn.Module):
    """Causal attention and a feed-forward network, each after a normalisation."""

    def __init__(self, width: int, position: str, seeds: list[int]) -> None:
        super().__init__()
        self.position, self.heads = position, width // HEAD_WIDTH
        self.norm1, self.norm2 = _Norm(len(seeds), width), _Norm(len(seeds), width)
        self.qkv = Linears(width, 3 * width, seeds, gain=1.0)
        self.out = Linears(width, width, [seed + 2 for seed in seeds], gain=0.1)
        self.up = Linears(width, 4 * width, [seed + 3 for seed in seeds], gain=1.0)
        self.down = Linears(4 * width, width, [seed + 4 for seed in seeds], gain=0.1)

    def forward(self, x: Tensor, shape: torch.Size) -> Tensor:
        """Return the stream (S, B * T, width) after this layer."""
        seeds, batch, length = shape
        split = self.qkv(self.norm1(x)).view(seeds * batch, length, 3, self.heads, HEAD_WIDTH)
        q, k, v = split.permute(2, 0, 3, 1, 4)
        if self.position == "rope":
            q, k = rotated(q), rotated(k)
        if self.position == "alibi":
            bias = linear_bias(length, self.heads, x.device).to(q.dtype)
            mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        else:
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(seeds, batch * length, -1))
        added: Tensor = x + self.down(functional.gelu(self.up(self.norm2(x))))
        return added


def width_for(fields: TokenFields, layers: int, parameters: int) -> int:
    """Return the width that brings a decoder nearest to a number of parameters."""
    values = sum(factor.size for factor in fields.factors)

    def count(width: int) -> int:
        return layers * 12 * width * width + 2 * values * width

    return min(
        range(HEAD_WIDTH, 2048, HEAD_WIDTH), key=lambda width: abs(count(width) - parameters)
    )


def rotated(x: Tensor) -> Tensor:
    """Rotate pairs of coordinates by angles that grow with the position (RoPE)."""
    half = x.shape[-1] // 2
    rates = 10000.0 ** (-torch.arange(half, device=x.device) / half)
    angles = torch.arange(x.shape[-2], device=x.device)[:, None] * rates
    first, second = x.float().chunk(2, -1)
    cos, sin = angles.cos(), angles.sin()
    turned = torch.cat([first * cos - second * sin, first * sin + second * cos], -1)
    return turned.to(x.dtype)


def linear_bias(length: int, heads: int, device: torch.device) -> Tensor:
    """Return scores that fall with the distance, at a rate of its own for each head (ALiBi)."""
    slopes = 2.0 ** (-8.0 * torch.arange(1, heads + 1, device=device) / heads)
    places = torch.arange(length, device=device)
    distance = places[:, None] - places
    bias = -slopes[:, None, None] * distance
    return bias.masked_fill(distance < 0, float("-inf"))
