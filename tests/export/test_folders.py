"""Folders for PyTorch, TransformerLens and ONNX: their examples run, and give the same numbers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import tapeformer as tf
from tapeformer.faults import TapeformerError
from tests.export.models import chain, model, run_examples

NAME = "realtime"


def test_plain_pytorch_opens_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[str] = []
    folder = tf.export.save(model(NAME), tmp_path / "model", to="torch", tell=told.append)
    assert "parameters as float32" in told[0]
    run_examples(folder, monkeypatch)
    known = chain(NAME).tokens
    assert f"{known.shape} accept" in capsys.readouterr().out


@pytest.fixture(scope="module")
def hooked() -> Any:
    return tf.export.hooked_module(model(NAME))


def _without_first_head(z: Tensor) -> Tensor:
    return torch.cat([torch.zeros_like(z[:, :, :1]), z[:, :, 1:]], 2)


def test_hooks_of_transformer_lens_are_plain_hooks(hooked: Any) -> None:
    plain, known = tf.export.torch_module(model(NAME)), chain(NAME)
    logits, cache = hooked.run_with_cache(known.tokens)
    assert type(cache).__name__ == "ActivationCache"
    assert known.follows(logits)
    _, _, (pattern,) = plain.trace(known.tokens)
    assert torch.equal(cache["pattern", 0], pattern)
    assert cache["resid_post", 0].shape[-1] == plain.shape.d_model

    def ablate(_: nn.Module, __: Any, z: Tensor) -> Tensor:
        return _without_first_head(z)

    ablated = hooked.run_with_hooks(
        known.tokens, fwd_hooks=[("blocks.0.attn.hook_z", lambda z, **_: _without_first_head(z))]
    )
    handle = plain.layers[0].attn.hook_z.register_forward_hook(ablate)
    assert torch.equal(ablated, plain(known.tokens))
    handle.remove()
    assert not torch.equal(ablated, plain(known.tokens))


def test_patching_by_transformer_lens_is_patching_by_plain_hooks(hooked: Any) -> None:
    clean, other = chain(NAME, "abba").tokens, chain(NAME, "abaa").tokens
    length = min(clean.shape[1], other.shape[1])
    clean, other = clean[:, :length], other[:, :length]
    _, cache = hooked.run_with_cache(clean)
    point = "blocks.0.attn.hook_z"
    patched = hooked.run_with_hooks(other, fwd_hooks=[(point, lambda *_, **__: cache[point])])
    plain = tf.export.torch_module(model(NAME))
    plain.layers[0].attn.hook_z.register_forward_hook(lambda *_: cache[point])
    assert torch.equal(patched, plain(other))
    assert not torch.equal(patched, tf.export.torch_module(model(NAME))(other))


def test_transformer_lens_opens_its_folder_in_two_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tf.export.save(model(NAME), tmp_path / "model", to="transformer-lens")
    assert len(run_examples(folder, monkeypatch)) == 2
    printed = capsys.readouterr().out
    time, heads = chain(NAME).tokens.shape[1], len(model(NAME).weights.layers[0].heads)
    assert printed.count(f"torch.Size([1, {heads}, {time}, {time}])") == 2


@pytest.mark.parametrize("name", ["post", pytest.param("layers", marks=pytest.mark.slow)])
def test_onnx_whole_and_step_by_step(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import onnxruntime

    folder = tf.export.save(model(name), tmp_path / "model", to="onnx")
    whole = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    tokens = chain(name).tokens
    plain = tf.export.torch_module(model(name)).requires_grad_(False)
    for given in (tokens, tokens[:, :7], tokens[:, :1], tokens.repeat(3, 1, 1)):
        (logits,) = whole.run(None, {"tokens": given.numpy()})
        assert np.array_equal(logits, plain(given).numpy())
    step = onnxruntime.InferenceSession(str(folder / "step.onnx"))
    for batch in (1, 3):
        assert np.array_equal(_stepwise(step, name, batch), tokens.repeat(batch, 1, 1).numpy())
    run_examples(folder, monkeypatch)
    assert capsys.readouterr().out.split()[1] in ("accept", "reject")


def _stepwise(step: Any, name: str, batch: int) -> Any:
    """Generate token by token, the window going in and out."""
    known, names = chain(name), [given.name for given in step.get_inputs()]
    tokens = np.repeat(known.tokens[:, : known.start].numpy(), batch, 0)
    state = [
        np.zeros([batch, *given.shape[1:]], np.int64 if given.name == "mask" else np.float32)
        for given in step.get_inputs()[1:]
    ]
    for place in range(known.tokens.shape[1] - 1):
        given = dict(zip(names, [tokens[:, place : place + 1], *state], strict=True))
        new, *state = step.run(None, given)
        if place + 1 == tokens.shape[1]:
            tokens = np.concatenate([tokens, new], 1)
    return tokens


@pytest.mark.parametrize(
    ("to", "package", "extra"),
    [
        ("torch", "torch", "torch"),
        ("huggingface", "transformers", "huggingface"),
        ("onnx", "onnxruntime", "onnx"),
        ("transformer-lens", "transformer_lens", "lens"),
    ],
)
def test_what_is_missing_is_told_with_the_install_that_brings_it(
    to: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    said = rf"export to {to} needs {package}.*pip install '\.\[{extra}\]'"
    with pytest.raises(TapeformerError, match=said):
        tf.export.save(model("post"), tmp_path / "model", to=to)
    assert not list(tmp_path.iterdir())


def test_an_unknown_target_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(TapeformerError, match=r"one of torch, huggingface.*did you mean torch"):
        tf.export.save(model("post"), tmp_path, to="torsch")
