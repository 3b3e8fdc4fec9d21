"""The configuration of an exported model: shapes, look-backs, and how prompts and verdicts look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transformers import PretrainedConfig


class TapeformerConfig(PretrainedConfig):
    """What `Shape` has, and what generating needs.

    `prompt_table` has the token of each prompt id, but for its parity; `verdict` is the factor that
    says `running` until the machine stops. `logit_scale` multiplies the logits, whose margin is 1
    at least: a sampler then picks the largest.
    """

    model_type = "tapeformer"

    def __init__(
        self,
        sizes: Sequence[int] = (2,),
        d_model: int = 1,
        key_width: int = 1,
        value_width: int = 1,
        offsets: Sequence[int] = (1,),
        heads: Sequence[Sequence[int]] = ((0,),),
        hidden: Sequence[Sequence[int] | None] = ((),),
        window: int = 2,
        layer_norm: bool = False,
        attention: str = "scores",
        logit_scale: float = 64.0,
        prompt_table: Sequence[Sequence[int]] = ((0,), (0,)),
        parity: int = 0,
        parity_values: Sequence[int] = (0, 1),
        verdict: int = 0,
        running: int = 0,
        **others: Any,
    ) -> None:
        self.sizes, self.d_model, self.offsets = list(sizes), d_model, list(offsets)
        self.key_width, self.value_width = key_width, value_width
        self.heads = [list(layer) for layer in heads]
        self.hidden = [layer if layer is None else list(layer) for layer in hidden]
        self.window, self.layer_norm, self.attention = window, layer_norm, attention
        self.logit_scale = logit_scale
        self.prompt_table = [list(row) for row in prompt_table]
        self.parity, self.parity_values = parity, list(parity_values)
        self.verdict, self.running = verdict, running
        self._tell_transformers()
        others.setdefault("tie_word_embeddings", False)
        super().__init__(**others)

    def _tell_transformers(self) -> None:
        """Set what transformers itself asks for, under its own names."""
        self.num_hidden_layers, self.hidden_size = len(self.heads), self.d_model
        self.num_attention_heads = max([1, *map(len, self.heads)])
        self.vocab_size = max(2, *self.sizes)
        self.sliding_window = self.window
        self.layer_types = ["sliding_attention"] * self.num_hidden_layers
