"""The module with TransformerLens's hook points: run_with_cache, run_with_hooks, ActivationCache."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from transformer_lens import ActivationCache, HookedRootModule
from transformer_lens.hook_points import HookPoint

from tapeformer.engines.transformer import Point, Shape, Transformer
from tapeformer.export.load_tapeformer import Exported


class HookedTapeformer(Transformer, HookedRootModule):
    """A compiled Turing machine whose hooks have the names of a HookedTransformer."""

    def __init__(self, shape: Shape, attention: Any = "scores", point: Point = HookPoint) -> None:
        super().__init__(shape, attention, point)
        self.cfg = SimpleNamespace(
            model_name="tapeformer",
            n_layers=len(shape.heads),
            n_heads=max(map(len, shape.heads), default=0),
            n_ctx=shape.window,
            d_model=shape.d_model,
            d_head=shape.value_width,
            d_mlp=max((width for layer in shape.hidden for width in layer or ()), default=0),
            attn_only=False,
            device="cpu",
        )
        HookedRootModule.setup(self)

    def run_with_cache(self, *given: Any, **named: Any) -> tuple[Any, ActivationCache]:
        """Return the logits and every activation by the name of its hook."""
        logits, found = super().run_with_cache(*given, **named)
        if isinstance(found, ActivationCache) or named.get("return_cache_object") is False:
            return logits, found
        return logits, ActivationCache(found, self)


def load(folder: str | Path = ".") -> HookedTapeformer:
    """Open an exported folder."""
    made = Exported(folder, kind=HookedTapeformer, point=HookPoint).module
    assert isinstance(made, HookedTapeformer)
    return made
