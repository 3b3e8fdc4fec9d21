"""A bundle as two ONNX graphs: the whole sequence, and one step with its window going in and out."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tapeformer.bundle.record import Bundle
from tapeformer.engines.transformer import Transformer
from tapeformer.engines.weights_to_module import AttentionMode
from tapeformer.export.bundle_to_huggingface import config_table
from tapeformer.export.card import Card
from tapeformer.export.folder import Folder, json_text, parameter_size
from tapeformer.export.module import module_for
from tapeformer.export.tables import tokens_table

WHOLE, STEP = "model.onnx", "step.onnx"
USAGE = """## Usage

`model.onnx` maps tokens (batch, time, factors) to logits (batch, time, factors, values). `step.onnx`
maps one token (batch, 1, factors), and the keys and values of the window, to the next token and the
new window; before the first token all of it is zero. In this folder:

```python
import json

import numpy as np
import onnxruntime

about, config = json.load(open("tokens.json")), json.load(open("config.json"))
word = {word!r}
symbols = word.split() if about["spaced"] else list(word)
ids = [1] * about["starts"] + [about["vocabulary"].index(symbol) for symbol in symbols]
tokens = np.array(about["prompt_table"])[ids]
tokens[:, about["parity"]] = np.array(about["parity_values"])[np.arange(1, len(ids) + 1) % 2]

step = onnxruntime.InferenceSession("step.onnx")
names = [given.name for given in step.get_inputs()]
state = [
    np.zeros([1, *given.shape[1:]], np.int64 if given.name == "mask" else np.float32)
    for given in step.get_inputs()[1:]
]
for place in range(100_000):
    token = tokens[place][None, None]
    new, *state = step.run(None, dict(zip(names, [token, *state])))
    if place + 1 == len(tokens):
        tokens = np.concatenate([tokens, new[0]])
        if tokens[-1, config["verdict"]] != config["running"]:
            break
verdict = about["factors"][config["verdict"]]["values"][tokens[-1, config["verdict"]]]
print(len(tokens), verdict)
```"""


class Whole(nn.Module):
    """A sequence of tokens; each is embedded by a matrix product, for which ONNX has an operator."""

    def __init__(self, module: Transformer) -> None:
        super().__init__()
        self.module = module

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the logits (B, T, K, V)."""
        logits: Tensor = self.module(self.one_hot(tokens))
        return logits

    def one_hot(self, tokens: Tensor) -> Tensor:
        """Return tokens (B, T, K) with a 1 for the value of each factor (B, T, values)."""
        shape = self.module.shape
        rows = tokens + torch.tensor(shape.starts)
        nothing = self.module.embed.weight.new_zeros(*tokens.shape[:2], sum(shape.sizes))
        return nothing.scatter(-1, rows, 1.0)


class Step(Whole):
    """One token, and the window as rows from the oldest on: shapes are fixed, no index is needed."""

    def forward(  # type: ignore[override]
        self, token: Tensor, mask: Tensor, *rows: Tensor
    ) -> tuple[Tensor, ...]:
        """Return the next token, the new mask, and the new keys and values of each layer."""
        window = _Window(rows)
        mask = torch.cat([mask[:, 1:], torch.ones_like(mask[:, :1])], 1)
        logits = self.module(self.one_hot(token), window, mask)
        return logits.argmax(-1), mask, *window.new


class _Window:
    """A cache of fixed length: each new row pushes the oldest out."""

    def __init__(self, rows: tuple[Tensor, ...]) -> None:
        self.rows, self.new = rows, []  # type: tuple[Tensor, ...], list[Tensor]

    def update(self, k: Tensor, v: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        """Return the rows of a layer with the new one at their end."""
        old = self.rows[2 * layer : 2 * layer + 2]
        keys, values = (
            torch.cat([kept[:, :, 1:], row], 2) for kept, row in zip(old, (k, v), strict=True)
        )
        self.new += [keys, values]
        return keys, values


def onnx_folder(bundle: Bundle, dtype: str, attention: AttentionMode) -> Folder:
    """Return the folder of a model for ONNX; the graphs are made when it is written."""
    card = Card(bundle, dtype)
    texts = {
        "config.json": json_text(config_table(bundle, dtype, attention)),
        "tokens.json": json_text(tokens_table(bundle)),
        "machine.yaml": bundle.machine,
        "README.md": card.text([USAGE.format(word=card.word)], front=""),
    }

    def whole(path: Path) -> None:
        _save(path, *_whole(module_for(bundle, dtype, attention)))

    def step(path: Path) -> None:
        _save(path, *_step(module_for(bundle, dtype, attention)))

    return Folder(texts, 2 * parameter_size(bundle, dtype), {WHOLE: whole, STEP: step})


def _whole(module: Transformer) -> tuple[nn.Module, tuple[Tensor, ...], dict[str, Any]]:
    """Return a graph's module, an example of its inputs, and their names and open sizes."""
    tokens = torch.zeros(2, 20, len(module.shape.sizes), dtype=torch.long)
    batch, time = torch.export.Dim("batch", min=1), torch.export.Dim("time", min=2)
    names = {"input_names": ["tokens"], "output_names": ["logits"]}
    return Whole(module), (tokens,), {**names, "dynamic_shapes": {"tokens": {0: batch, 1: time}}}


def _step(module: Transformer) -> tuple[nn.Module, tuple[Tensor, ...], dict[str, Any]]:
    shape, dtype = module.shape, module.unembed.weight.dtype
    widths = {"keys": shape.key_width, "values": shape.value_width}
    rows = {
        f"{name}.{layer}": torch.zeros(2, len(heads), shape.window, width, dtype=dtype)
        for layer, heads in enumerate(shape.heads)
        for name, width in widths.items()
    }
    token = torch.zeros(2, 1, len(shape.sizes), dtype=torch.long)
    mask = torch.zeros(2, shape.window, dtype=torch.long)
    batch = {0: torch.export.Dim("batch", min=1)}
    options = {
        "input_names": ["token", "mask", *rows],
        "output_names": ["next", "new_mask", *(f"new_{name}" for name in rows)],
        "dynamic_shapes": (batch, batch, tuple(batch for _ in rows)),
    }
    return Step(module), (token, mask, *rows.values()), options


def _save(
    path: Path, module: nn.Module, given: tuple[Tensor, ...], options: dict[str, Any]
) -> None:
    logging.disable(logging.WARNING)  # the exporter tells of packages that it does not need
    try:
        with torch.no_grad(), warnings.catch_warnings(action="ignore"):
            program = torch.onnx.export(module, given, dynamo=True, verbose=False, **options)
    finally:
        logging.disable(logging.NOTSET)
    assert program is not None
    program.save(str(path))
