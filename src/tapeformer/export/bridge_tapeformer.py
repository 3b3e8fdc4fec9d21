"""TransformerLens's bridge over an exported folder: an adapter that names our modules."""

from __future__ import annotations

from typing import Any

from transformer_lens.factories import architecture_adapter_factory as factory
from transformer_lens.model_bridge.architecture_adapter import ArchitectureAdapter
from transformer_lens.model_bridge.generalized_components import (
    EmbeddingBridge,
    LinearBridge,
    UnembeddingBridge,
)
from transformer_lens.model_bridge.generalized_components.base import GeneralizedComponent
from transformer_lens.model_bridge.generalized_components.opaque_block import OpaqueBlockBridge

ARCHITECTURE = "TapeformerForCausalLM"


class TapeformerAdapter(ArchitectureAdapter):
    """Maps the names of TransformerLens to those of an exported model."""

    def __init__(self, cfg: Any) -> None:
        super().__init__(cfg)
        self.cfg.normalization_type, self.cfg.gated_mlp, self.cfg.attn_only = None, False, False
        self.cfg.positional_embedding_type = "relative_positional_bias"
        linear = {name: LinearBridge(name=name) for name in ("q", "k", "v", "o")}
        points = {"pattern": "hook_pattern", "z": "hook_z", "scores": "hook_attn_scores"}
        attention = self._part("attn", **linear, **{k: self._part(v) for k, v in points.items()})
        parts = {"attn": attention, "mlp": self._part("mlp")}
        self.component_mapping = {
            "embed": EmbeddingBridge(name="model.embed"),
            "blocks": OpaqueBlockBridge(name="model.blocks", config=self.cfg, submodules=parts),
            "unembed": UnembeddingBridge(name="model.unembed"),
        }

    def _part(self, name: str, **parts: Any) -> GeneralizedComponent:
        return GeneralizedComponent(name=name, config=self.cfg, submodules=parts)


def register() -> None:
    """Let `TransformerBridge.boot_transformers` open exported folders."""
    factory.ArchitectureAdapterFactory.register_adapter(ARCHITECTURE, TapeformerAdapter)
    factory.SUPPORTED_ARCHITECTURES[ARCHITECTURE] = TapeformerAdapter
