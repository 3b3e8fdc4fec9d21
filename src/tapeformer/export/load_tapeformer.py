"""Opens an exported folder as a PyTorch module, spells prompts and generates; needs no tapeformer."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from tapeformer.engines.transformer import Point, Shape, Transformer


class Exported:
    """An exported model: its module, its configuration, and how its tokens are spelled."""

    def __init__(
        self,
        folder: str | Path = ".",
        attention: Any = "scores",
        kind: type[Transformer] = Transformer,
        point: Point = nn.Identity,
    ) -> None:
        path = Path(folder)
        self.config = json.loads((path / "config.json").read_text(encoding="utf-8"))
        self.tokens = json.loads((path / "tokens.json").read_text(encoding="utf-8"))
        shape = Shape(**{field.name: self.config[field.name] for field in fields(Shape)})
        state = load_file(path / "model.safetensors")
        with torch.device("meta"):
            self.module = kind(shape, attention, point)
        named = {name.removeprefix("model."): value for name, value in state.items()}
        self.module.load_state_dict(named, assign=True)
        self.module.eval()

    def prompt(self, word: str) -> Tensor:
        """Return the tokens (1, T, K) of a word: one character per symbol, or separated by spaces."""
        about = self.tokens
        symbols = word.split() if about["spaced"] else list(word)
        ids = [1] * about["starts"] + [about["vocabulary"].index(symbol) for symbol in symbols]
        tokens = torch.tensor(about["prompt_table"])[ids]
        parity = torch.tensor(about["parity_values"])[torch.arange(1, len(ids) + 1) % 2]
        tokens[:, about["parity"]] = parity
        return tokens[None]

    @torch.no_grad()
    def generate(self, word: str, most: int = 10**6) -> Tensor:
        """Return prompt and chain of thought (1, T, K), up to the verdict."""
        cache, new = self.module.new_cache(), self.prompt(word)
        found = [new]
        for _ in range(most):
            new = self.module(new, cache)[:, -1:].argmax(-1)
            found.append(new)
            if int(new[0, 0, self.config["verdict"]]) != self.config["running"]:
                break
        return torch.cat(found, 1)

    def named(self, token: Tensor) -> dict[str, str]:
        """Return the value of each factor of a token (K) by name."""
        factors = self.tokens["factors"]
        pairs = zip(factors, token.tolist(), strict=True)
        return {factor["name"]: factor["values"][value] for factor, value in pairs}
