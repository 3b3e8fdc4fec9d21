"""Full attention for comparison: a standard decoder with rotary, linear-bias or no positions."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from tapeformer.learning.blocks import Choices
from tapeformer.learning.fields import TokenFields

HEAD_WIDTH = 32


class AttentionModel(nn.Module):
    """Token factors are embedded and summed; pre-norm blocks; one choice for each factor."""

    def __init__(self, fields: TokenFields, position: str, width: int, layers: int) -> None:
        super().__init__()
        sizes = [factor.size for factor in fields.factors]
        self.register_buffer("starts", torch.tensor([0, *sizes]).cumsum(0)[:-1], persistent=False)
        self.embed = nn.EmbeddingBag(sum(sizes), width, mode="sum")
        self.layers = nn.ModuleList(_Layer(width, position) for _ in range(layers))
        self.norm, self.unembed = nn.LayerNorm(width), nn.Linear(width, sum(sizes))
        self.choices = Choices(sizes)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits (B, T, all values) for tokens (B, T, K)."""
        rows = tokens.long() + self.get_buffer("starts")
        x = self.embed(rows.flatten(0, 1)).view(*tokens.shape[:2], -1)
        for layer in self.layers:
            x = layer(x)
        logits: Tensor = self.unembed(self.norm(x))
        return logits

    def scores(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return loss and exactness of every token but the first (B, T - 1)."""
        found: tuple[Tensor, Tensor] = self.choices(self(tokens[:, :-1]), tokens[:, 1:] + 1)
        return found


class _Layer(nn.Module):
    """Causal attention and a feed-forward network, each after a normalisation."""

    def __init__(self, width: int, position: str) -> None:
        super().__init__()
        self.position, self.heads = position, width // HEAD_WIDTH
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Return the stream after this layer."""
        split = self.qkv(self.norm1(x)).unflatten(-1, (3, self.heads, HEAD_WIDTH))
        q, k, v = split.permute(2, 0, 3, 1, 4)
        if self.position == "rope":
            q, k = rotated(q), rotated(k)
        if self.position == "alibi":
            bias = linear_bias(x.shape[1], self.heads, x.device).to(q.dtype)
            mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        else:
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        added: Tensor = x + self.down(functional.gelu(self.up(self.norm2(x))))
        return added


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
