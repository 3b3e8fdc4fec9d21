"""The PyTorch module computes the chain of thought, whole or in steps, and can be looked into."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import tapeformer as tf
from tapeformer.engines.transformer import Transformer
from tapeformer.faults import TapeformerError
from tapeformer.weights.matrices import matrix
from tapeformer.weights.parameters import parameters, with_parameters, with_sign_flipped
from tests.export.models import VARIANTS, chain, chain_of, model

DTYPES = ("float32", "bfloat16", "float64")


def module(name: str, **options: Any) -> Transformer:
    made = tf.export.torch_module(model(name), **options)
    assert isinstance(made, Transformer)
    return made.requires_grad_(False)


@pytest.mark.parametrize("name", VARIANTS)
def test_teacher_forced_argmax_is_the_chain_of_thought(name: str) -> None:
    known = chain(name)
    for dtype in DTYPES if name in ("paper", "layer norm") else DTYPES[:1]:
        logits = module(name, dtype=dtype)(known.tokens)
        assert known.follows(logits), dtype
        assert torch.equal(module(name, dtype=dtype, attention="offsets")(known.tokens), logits)


@pytest.mark.parametrize("attention", ["scores", "offsets"])
@pytest.mark.parametrize("name", ["realtime", "layers", "layer norm", "paper"])
def test_steps_with_a_cache_are_the_whole_sequence(name: str, attention: str) -> None:
    made, tokens = module(name, attention=attention), chain(name).tokens
    cache = made.new_cache()
    cuts = [0, 3, 4, 13, 14, tokens.shape[1]]
    pieces = [made(tokens[:, start:end], cache) for start, end in pairwise(cuts)]
    assert torch.equal(torch.cat(pieces, 1), made(tokens))
    cache, last, generated = made.new_cache(), tokens[:, : chain(name).start], []
    for _ in range(12):
        last = made(last, cache)[:, -1:].argmax(-1)
        generated.append(last)
    assert torch.equal(torch.cat(generated, 1), chain(name).generated[:, :12])


@pytest.mark.parametrize("attention", ["scores", "offsets"])
def test_padding_is_never_attended_to(attention: str) -> None:
    made, tokens = module("realtime", attention=attention), chain("realtime").tokens
    padded = torch.cat([tokens[:, -5:], tokens], 1)
    mask = (torch.arange(padded.shape[1]) >= 5)[None]
    assert torch.equal(made(padded, mask=mask)[:, 5:], made(tokens))
    assert not _reads_first_five(made, padded, mask)
    assert _reads_first_five(made, padded, None)


def _reads_first_five(made: Transformer, tokens: Tensor, mask: Tensor | None) -> bool:
    """Say whether a later position attends to one of the first five."""
    _, _, (pattern,) = made.trace(tokens, mask=mask)
    if made.layers[0].attn.offsets:
        return bool((pattern[:, :, 5:] < 5).any())
    return bool((pattern[:, :, 5:, :5] != 0).any())


@pytest.mark.parametrize("name", VARIANTS)
def test_patterns_are_one_hot_at_the_offset_and_at_itself_before_the_start(name: str) -> None:
    made = module(name)
    _, _, patterns = made.trace(chain(name).tokens)
    for pattern, heads in zip(patterns, made.shape.heads, strict=True):
        for head, coordinate in enumerate(heads):
            assert torch.equal(pattern[0, head], _expected(pattern, made.shape.offsets[coordinate]))


def _expected(pattern: Tensor, offset: int) -> Tensor:
    times = torch.arange(pattern.shape[-1])
    there = torch.where(times >= offset, times - offset, times)
    return nn.functional.one_hot(there, len(times)).to(pattern.dtype)


def test_sparse_weights_give_the_same_logits() -> None:
    tokens = chain("layers").tokens
    assert torch.equal(module("layers", sparse=True)(tokens), module("layers")(tokens))


def test_a_flipped_sign_changes_what_the_module_says() -> None:
    bundle, known = model("realtime"), chain("realtime")
    path = next(p.path for p in parameters(bundle.weights) if ".feed_forward.0.matrix" in p.path)
    wrong = replace(bundle, weights=with_sign_flipped(bundle.weights, path, 0))
    assert not torch.equal(
        tf.export.torch_module(wrong)(known.tokens), module("realtime")(known.tokens)
    )


def test_offsets_are_refused_where_a_key_is_not_zero() -> None:
    bundle = model("realtime")
    weights = bundle.weights
    key = matrix((weights.key_width, len(weights.fields)), {(0, 0): 1})
    wrong = replace(bundle, weights=with_parameters(weights, {"layer.0.head.0.key": key}))
    with pytest.raises(TapeformerError, match='use attention="scores"'):
        tf.export.torch_module(wrong, attention="offsets")
    assert tf.export.torch_module(wrong)(chain("realtime").tokens).shape[0] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [({"dtype": "int8"}, "bfloat16"), ({"attention": "flash"}, "scores, offsets")],
)
def test_unknown_options_are_refused_with_the_known_ones(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(TapeformerError, match=message):
        tf.export.torch_module(model("realtime"), **options)
    with pytest.raises(TapeformerError, match="not a compiled model"):
        tf.export.torch_module(3)  # type: ignore[arg-type]


def test_gradients_flow_to_weights_and_inputs() -> None:
    made, known = tf.export.torch_module(model("realtime")), chain("realtime")
    rows = known.tokens + torch.tensor(made.shape.starts)
    soft = nn.functional.one_hot(rows, len(made.embed.weight)).sum(2).float().requires_grad_()
    logits = made(soft)
    assert torch.equal(logits, made(known.tokens))
    logits[0, -1, :, 0].sum().backward()
    assert soft.grad is not None
    seen = soft.grad[0].abs().sum(-1).nonzero().flatten()
    last = known.tokens.shape[1] - 1
    assert {last - int(place) for place in seen} <= {0, *made.shape.offsets}
    assert len(seen) > 1
    weight = made.layers[0].mlp.linears[0].weight
    assert isinstance(weight, Tensor)
    assert weight.grad is not None
    assert weight.grad.abs().sum() > 0


def test_hooks_see_and_change_every_stage() -> None:
    made, known = module("realtime"), chain("realtime")
    names = {name for name, _ in made.named_modules() if ".hook_" in f".{name}"}
    points = ("q", "k", "v", "z", "attn_scores", "pattern")
    block = ("resid_pre", "attn_out", "resid_mid", "mlp_out", "resid_post")
    expected = {"hook_embed", *(f"blocks.0.attn.hook_{point}" for point in points)}
    assert expected | {f"blocks.0.hook_{point}" for point in block} <= names
    assert {"blocks.0.mlp.hook_pre.0", "blocks.0.mlp.hook_post.0"} <= names

    def without_first_head(_: nn.Module, __: Any, z: Tensor) -> Tensor:
        return torch.cat([torch.zeros_like(z[:, :, :1]), z[:, :, 1:]], 2)

    handle = made.layers[0].attn.hook_z.register_forward_hook(without_first_head)
    assert not known.follows(made(known.tokens))
    handle.remove()
    assert known.follows(made(known.tokens))


def test_torch_export_keeps_the_length_open() -> None:
    made, tokens = module("realtime"), chain("realtime").tokens
    time = torch.export.Dim("time", min=2, max=4096)
    program = torch.export.export(made, (tokens,), dynamic_shapes={"tokens": {1: time}})
    longer = chain("realtime", "ababa").tokens
    assert longer.shape[1] != tokens.shape[1]
    assert torch.equal(program.module()(longer), made(longer))


@pytest.mark.slow
def test_torch_compile_gives_the_same_logits() -> None:
    made, tokens = module("realtime"), chain("realtime").tokens
    compiled = torch.compile(made, fullgraph=True)
    assert torch.equal(compiled(tokens), made(tokens))


def test_long_sequences_at_once() -> None:
    """Without scores nothing is of size T x T."""
    bundle = model("post")
    made = tf.export.torch_module(bundle, attention="offsets").requires_grad_(False)
    known = chain_of(bundle, "abbaba", max_tokens=3000)
    assert known.follows(made(known.tokens))
