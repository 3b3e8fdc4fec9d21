"""The module of the dense engine, for one new token at a time: the same numbers with less around them.

A new token sees everything that a cache returns, so its scores need no mask, and modules to which
nothing is hooked are called as functions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from tapeformer.engines.transformer import Attention, Block, Context, Embed, Transformer


class SteppingAttention(Attention):
    """Scores without a mask where a single token is new."""

    def scores(self, q: Tensor, k: Tensor, context: Context) -> Tensor:
        """Return (B, heads, T, keys); minus infinity at what is not seen."""
        if q.shape[2] > 1:
            return super().scores(q, k, context)
        by_distance = self.position(q, context.encoding)[..., : k.shape[2]]
        scores: Tensor = self.hook_attn_scores(q @ k.transpose(-1, -2) + by_distance.flip(-1))
        return scores


class SteppingBlock(Block):
    """A block whose attention steps."""

    attention = SteppingAttention


class SteppingEmbed(Embed):
    """An embedding that keeps where the values of each factor begin, and adds rows without a copy."""

    def forward(self, tokens: Tensor) -> Tensor:
        """Embed tokens (B, T, K)."""
        if not hasattr(self, "_starts"):
            self._starts = torch.tensor(self.starts)
        rows = (tokens + self._starts).flatten(0, 1)
        return functional.embedding_bag(rows, self.weight, mode="sum").view(*tokens.shape[:2], -1)


class SteppingTransformer(Transformer):
    """A module that runs in one type on one device, so that its positional encoding stays the same."""

    block, embedding = SteppingBlock, SteppingEmbed

    def encoding(self, like: Tensor) -> Tensor:
        """Return pos(0), pos(1), ..., made once."""
        if not hasattr(self, "_encoding"):
            self._encoding = super().encoding(like)
        return self._encoding


def without_idle_hooks(model: Transformer) -> None:
    """Replace modules that nothing is hooked to by functions: calling a module costs as much as a small product."""
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            plain = [_plain(part) for part in _parts(child)]
            if plain and None not in plain:
                delattr(module, name)
                setattr(module, name, plain if isinstance(child, nn.ModuleList) else plain[0])


def _parts(child: nn.Module) -> list[nn.Module]:
    return list(child) if isinstance(child, nn.ModuleList) else [child]


def _plain(module: nn.Module) -> Callable[[Tensor], Tensor] | None:
    """Return a function that does the same, if the module is simple and without hooks."""
    if module._forward_pre_hooks or module._forward_hooks:
        return None
    if type(module) is nn.Linear:
        return partial(_product, weight=module.weight, bias=module.bias)
    return _same if type(module) is nn.Identity else None


def _product(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return weight x + bias; for a single position as a product with a vector, which is faster."""
    if bias is None or x.shape[:2] != (1, 1):
        return functional.linear(x, weight, bias)
    return torch.addmv(bias, weight, x[0, 0])[None, None]


def _same(x: Tensor) -> Tensor:
    return x
