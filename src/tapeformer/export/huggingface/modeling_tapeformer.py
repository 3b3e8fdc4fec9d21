"""A compiled Turing machine for `AutoModelForCausalLM`: ids have the shape (B, T, K).

A prompt may be (B, T): the ids of the tokenizer, one for each input symbol. Padding is -1 in every
factor, on the left of prompts and on the right of finished sequences.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import torch
from torch import Tensor, nn
from transformers import GenerationMixin, PreTrainedModel
from transformers.cache_utils import DynamicCache
from transformers.generation.stopping_criteria import MaxLengthCriteria
from transformers.generation.utils import GenerateDecoderOnlyOutput
from transformers.modeling_outputs import CausalLMOutputWithPast

from tapeformer.engines.transformer import Shape, Transformer
from tapeformer.export.huggingface.configuration_tapeformer import TapeformerConfig

PAD = -1
IGNORED = -100
"""Labels without a loss; padding counts as such."""


class TapeformerForCausalLM(PreTrainedModel, GenerationMixin):
    """The module, prompts of two dimensions, a loss, and a loop that generates K factors at once."""

    config_class = TapeformerConfig
    base_model_prefix = "model"
    main_input_name = "input_ids"
    _no_split_modules = ["Block"]  # noqa: RUF012

    def __init__(self, config: TapeformerConfig) -> None:
        super().__init__(config)
        shape = Shape(**{field.name: getattr(config, field.name) for field in fields(Shape)})
        attention: Any = config.attention
        self.model = Transformer(shape, attention)
        self.post_init()

    def widen(self, prompt: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        """Return the tokens (B, T, K) of prompt ids (B, T)."""
        config = self.config
        real = torch.ones_like(prompt) if attention_mask is None else attention_mask
        tokens = torch.tensor(config.prompt_table, device=prompt.device)[prompt]
        parities = torch.tensor(config.parity_values, device=prompt.device)
        tokens[..., config.parity] = parities[real.cumsum(1) % 2]
        return torch.where(real.bool()[..., None], tokens, PAD)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        past_key_values: Any = None,
        labels: Tensor | None = None,
        use_cache: bool | None = None,
        output_attentions: bool | None = None,
        output_hidden_states: bool | None = None,
        logits_to_keep: int = 0,
        return_dict: bool | None = None,
        **_: Any,
    ) -> Any:
        """Return logits (B, T, K, V), and a loss for `labels` (B, T, K), which are shifted inside.

        `attention_mask` (B, T) includes the cached tokens.
        """
        if input_ids.ndim == 2:
            input_ids = self.widen(input_ids, attention_mask)
        if attention_mask is None and past_key_values is None and bool((input_ids < 0).any()):
            attention_mask = input_ids[..., 0] >= 0
        if use_cache and past_key_values is None:
            past_key_values = DynamicCache(config=self.config)
        given = input_ids.clamp(min=0)
        stream, streams, patterns = self.model.trace(given, past_key_values, attention_mask)
        seen = self.model.ln_final(stream[:, -logits_to_keep:])
        logits = self.model.by_factor(self.model.unembed(seen)) * self.config.logit_scale
        output = CausalLMOutputWithPast(
            loss=None if labels is None else self.loss(logits, labels),
            logits=logits,
            past_key_values=past_key_values,
            hidden_states=(*streams, stream) if output_hidden_states else None,
            attentions=tuple(map(self._one_hot, patterns)) if output_attentions else None,
        )
        return output if return_dict is not False else output.to_tuple()

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the mean cross-entropy over all factors of the tokens that follow."""
        if labels.ndim == 2:
            wanted = (labels >= 0).long()
            labels = self.widen(labels.clamp(min=0), wanted)
        goals = labels[:, 1:].flatten()
        scores = logits[:, :-1].flatten(0, 2).float()
        return nn.functional.cross_entropy(scores, goals.masked_fill(goals < 0, IGNORED))

    def _one_hot(self, pattern: Tensor) -> Tensor:
        """Return the pattern (B, heads, T, keys) where only the positions read are known."""
        if self.config.attention == "scores":
            return pattern
        return nn.functional.one_hot(pattern[..., 0]).to(self.dtype)

    def _refuse(self, *_: Any, **__: Any) -> None:
        raise ValueError(
            "this model generates greedily or by sampling: a beam has no meaning for K argmaxes"
        )

    _beam_search = _assisted_decoding = _refuse

    def _sample(
        self,
        input_ids: Tensor,
        logits_processor: Any,
        stopping_criteria: Any,
        generation_config: Any,
        synced_gpus: bool = False,
        streamer: Any = None,
        **given: Any,
    ) -> Any:
        """Generate one token after another, an argmax per factor, up to the verdict or a limit.

        The loop of transformers knows flat ids only. Of its warpers, temperature is heeded.
        """
        del logits_processor, synced_gpus
        if not given.get("use_cache", True):
            raise ValueError("this model generates with its cache only: it is exact and bounded")
        run = _Run(self, input_ids, generation_config, given)
        room = stopping_criteria.max_length - input_ids.shape[1]
        others = [part for part in stopping_criteria if not isinstance(part, MaxLengthCriteria)]
        while len(run.rows) < room and bool(run.running.any()):
            new = run.step()
            if others:
                so_far = run.sequences()
                run.running &= ~torch.stack([stop(so_far, None) for stop in others]).any(0)
            if streamer is not None:
                streamer.put(new.cpu())
        if streamer is not None:
            streamer.end()
        return run.output()


class _Run:
    """A batch of sequences under way; those that have come to their verdict are padded."""

    def __init__(self, model: TapeformerForCausalLM, prompt: Tensor, how: Any, given: Any) -> None:
        mask, cache = given.get("attention_mask"), given.get("past_key_values")
        self.model, self.how = model, how
        self.prompt = model.widen(prompt, mask) if prompt.ndim == 2 else prompt
        self.mask = None if mask is None or bool(mask.all()) else mask
        if cache is None or not cache.get_seq_length():
            cache = DynamicCache(config=model.config)
        self.cache, self.new, self.rows = cache, self.prompt, []  # type: Any, Tensor, list[Tensor]
        self.running = torch.ones(len(prompt), dtype=torch.bool, device=prompt.device)
        self.kept: dict[str, tuple[Any, ...]] = {}

    def step(self) -> Tensor:
        """Append a token to every sequence that runs; return (B, 1, K)."""
        how, config = self.how, self.model.config
        out = self.model(
            self.new,
            attention_mask=self.mask,
            past_key_values=self.cache,
            logits_to_keep=1,
            output_attentions=how.output_attentions,
            output_hidden_states=how.output_hidden_states,
        )
        scores = out.logits[:, -1].float()
        chosen = _sampled(scores, how.temperature or 1.0) if how.do_sample else scores.argmax(-1)
        self.new = torch.where(self.running[:, None], chosen, PAD)[:, None]
        self.rows.append(self.new)
        self.running = self.running & (self.new[:, 0, config.verdict] == config.running)
        if self.mask is not None:
            self.mask = nn.functional.pad(self.mask[:, 1 - config.window :], (0, 1), value=1)
        if how.return_dict_in_generate:
            self._keep(scores, out)
        return self.new

    def _keep(self, scores: Tensor, out: Any) -> None:
        """Keep what was asked for beside the sequences."""
        found = {"logits": scores, "scores": scores}
        found |= {"attentions": out.attentions, "hidden_states": out.hidden_states}
        for name, value in found.items():
            if getattr(self.how, f"output_{name}"):
                self.kept[name] = (*self.kept.get(name, ()), value)

    def sequences(self) -> Tensor:
        """Return prompts and generated tokens."""
        return torch.cat([self.prompt, *self.rows], 1)

    def output(self) -> Any:
        """Return what `generate` returns."""
        if not self.how.return_dict_in_generate:
            return self.sequences()
        return GenerateDecoderOnlyOutput(
            sequences=self.sequences(), past_key_values=self.cache, **self.kept
        )


def _sampled(scores: Tensor, temperature: float) -> Tensor:
    """Draw a value for each factor (B, K) from scores (B, K, V)."""
    chances = torch.softmax(scores / temperature, -1)
    return torch.multinomial(chances.flatten(0, 1), 1).view(scores.shape[:2])
