"""Checks that the dense engine hooks into its module, so that nothing it computes is rounded.

A module without hooks computes the same numbers; hooks refuse those that a type does not hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tapeformer.engines.attention import Attending, check_whole
from tapeformer.engines.exact import SumCheck
from tapeformer.engines.norm import normalised
from tapeformer.engines.transformer import Attention, Cache, LayerNorm, Transformer
from tapeformer.weights.positions import HIGHEST_POSITION


class RecordingCache(Cache):
    """A cache that shows the keys and values that it returned last."""

    last: tuple[Tensor, Tensor]

    def update(self, k: Tensor, v: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        """Append the new positions of a layer; return those that its queries can see."""
        self.last = super().update(k, v, layer)
        return self.last


def guard_sums(model: Transformer, cache: RecordingCache, check: SumCheck) -> None:
    """Check every product and every residual sum, unless the weights alone tell that all are exact."""
    if check.idle:
        return
    for module in model.modules():
        if isinstance(module, nn.Linear):
            module.register_forward_pre_hook(_product_check(module, check))
        elif isinstance(module, Attention):
            module.position.register_forward_pre_hook(_score_check(cache, check))
    for block in model.layers:
        for point in (block.hook_resid_mid, block.hook_resid_post):
            point.register_forward_pre_hook(lambda _, given: check.below_limit(_largest(given[0])))


def guard_reads(model: Transformer, cache: RecordingCache, attending: Attending) -> None:
    """Compare what heads read with the hardmax, where they may mix several positions."""
    if attending in ("leftmost", "rightmost"):
        return
    for block in model.layers:
        scores: list[Tensor] = []

        def keep(_: nn.Module, given: Any, kept: list[Tensor] = scores) -> None:
            kept[:] = given

        def compare(_: nn.Module, given: Any, kept: list[Tensor] = scores) -> None:
            check_whole(given[0].transpose(1, 2), kept[0], cache.last[1])

        block.attn.hardmax.register_forward_pre_hook(keep)
        block.attn.hook_z.register_forward_pre_hook(compare)


def guard_norms(model: Transformer, dtype: np.dtype[Any]) -> None:
    """Normalise in whole numbers: exact, or refused."""

    def exact(_: nn.Module, given: Any, _found: Tensor) -> Tensor:
        (stream,) = given
        rows = stream.double().numpy().reshape(-1, stream.shape[-1])
        whole = np.array([normalised(row, dtype) for row in rows])
        return torch.as_tensor(whole).to(stream.dtype).view(stream.shape)

    for module in model.modules():
        if isinstance(module, LayerNorm):
            module.register_forward_hook(exact)


def _product_check(linear: nn.Linear, check: SumCheck) -> Any:
    """Bound the partial sums of a product: by the largest input, |weights| in a row, and |bias|."""
    row = int(linear.weight.double().abs().sum(1).max()) if linear.weight.numel() else 0
    bias = 0 if linear.bias is None else _largest(linear.bias)

    def bounded(_: nn.Module, given: Any) -> None:
        check.below_limit(row * _largest(given[0]) + bias)

    return bounded


def _score_check(cache: RecordingCache, check: SumCheck) -> Any:
    def bounded(_: nn.Module, given: Any) -> None:
        query, keys = given[0], cache.last[0]
        if query.numel():
            total = int(query.double().abs().sum(-1).max() + 1)
            check.below_limit(total * (_largest(keys) + HIGHEST_POSITION))

    return bounded


def _largest(numbers: Tensor) -> int:
    return int(numbers.double().abs().max()) if numbers.numel() else 0
