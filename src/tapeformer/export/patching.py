"""Activation patching with plain PyTorch hooks: which head carries a queue's past to the logits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from tapeformer.engines.transformer import Transformer
from tapeformer.export.roles import Role

Hook = Callable[[nn.Module, Any, Tensor], Tensor | None]


@contextmanager
def hooked(module: nn.Module, name: str, hook: Hook) -> Iterator[None]:
    """Keep a forward hook at a hook point, by its name, for a while."""
    handle = module.get_submodule(name).register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def activations(module: nn.Module, tokens: Tensor, names: Sequence[str]) -> dict[str, Tensor]:
    """Return what stands at hook points when a module reads tokens."""
    found: dict[str, Tensor] = {}
    handles = [
        module.get_submodule(name).register_forward_hook(
            lambda _, __, output, name=name: found.__setitem__(name, output.detach())
        )
        for name in names
    ]
    try:
        with torch.no_grad():
            module(tokens)
    finally:
        for handle in handles:
            handle.remove()
    return found


class HeadPatching:
    """Finds the heads that carry a queue: corrupts it, and patches what changes into a clean run.

    The corrupted run has other values of one factor in every token. A head's output there replaces
    its output in the clean run; the effect is the share of tokens for which the model then predicts
    another next token.
    """

    def __init__(self, module: Transformer, tokens: Tensor, table: Sequence[Role]) -> None:
        self.module, self.tokens = module, tokens
        self.heads = [role for role in table if role.kind == "head"]
        self.hooks = sorted({head.hook for head in self.heads})
        self.clean = activations(module, tokens, self.hooks)
        self.predicted = self._predictions()

    def effects(self, factor: int, shift: int = 1) -> dict[str, float]:
        """Return the effect of each head when `shift` is added, cyclically, to a factor's values."""
        other = self.tokens.clone()
        other[..., factor] = (other[..., factor] + shift) % self.module.shape.sizes[factor]
        sources = activations(self.module, other, self.hooks)
        return {head.component: self._effect(head, sources[head.hook]) for head in self.heads}

    def _effect(self, head: Role, source: Tensor) -> float:
        replacement = source[:, :, head.index]
        if torch.equal(replacement, self.clean[head.hook][:, :, head.index]):
            return 0.0

        def patch(_: nn.Module, __: Any, output: Tensor) -> Tensor:
            patched = output.clone()
            patched[:, :, head.index] = replacement
            return patched

        with hooked(self.module, head.hook, patch):
            return float((self._predictions() != self.predicted).any(-1).float().mean())

    def _predictions(self) -> Tensor:
        with torch.no_grad():
            predicted: Tensor = self.module(self.tokens).argmax(-1)
        return predicted


def queue_effects(
    patching: HeadPatching, factors: Sequence[str], queues: Iterable[str]
) -> dict[str, dict[str, float]]:
    """Return the effect of each head for each queue; `factors` names the factors of a token."""
    return {queue: patching.effects(factors.index(queue)) for queue in queues}
