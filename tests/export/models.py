"""Small compiled models of every kind, and their chains of thought as tensors."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tapeformer.bundle.record import Bundle
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.export.contexts import chain_of_thought
from tapeformer.gallery import gallery_machine

VARIANTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "realtime": ("palindrome", "abba", {"levels": 4}),
    "base 4": ("palindrome", "aba", {"levels": 3, "base": 4}),
    "layers": ("palindrome", "abba", {"levels": 5, "layers": 2}),
    "layer norm": ("palindrome", "abba", {"levels": 4, "layer_norm": True}),
    "queue heads": ("palindrome", "abba", {"levels": 4, "heads": "queue"}),
    "two steps": ("palindrome", "abba", {"levels": 4, "steps_per_token": 2}),
    "two tapes": ("palindrome_two_tapes", "abba", {"levels": 4}),
    "paper": ("palindrome", "ab", {"construction": "paper", "levels": 2, "base": 6}),
    "paper, queue heads": (
        "palindrome",
        "ab",
        {"construction": "paper", "levels": 2, "base": 6, "heads": "queue"},
    ),
    "post": ("palindrome", "ab", {"construction": "post", "space": 12}),
}
"""A machine, a word and options for each construction, both head modes, layers, layer norm, two steps a token."""


@dataclass(frozen=True)
class Chain:
    """Prompt and generated tokens (1, T, K), and where the generated ones start."""

    tokens: Tensor
    start: int

    @property
    def generated(self) -> Tensor:
        """The generated tokens."""
        return self.tokens[:, self.start :]

    def follows(self, logits: Tensor) -> bool:
        """Say whether the argmax of logits for all tokens is each time the token that follows."""
        return torch.equal(logits[:, self.start - 1 : -1].argmax(-1), self.generated)


@cache
def model(name: str) -> Bundle:
    """Compile a variant."""
    machine, _, options = VARIANTS[name]
    return compile_machine(gallery_machine(machine), CompileOptions(**options))


@cache
def chain(name: str, word: str | None = None) -> Chain:
    """Return the chain of thought of a variant's own word, or of another."""
    return chain_of(model(name), VARIANTS[name][1] if word is None else word)


def chain_of(
    bundle: Bundle, word: str, max_tokens: int | None = None, engine: str = "sparse"
) -> Chain:
    """Return the chain of thought of a word; the sparse engine needs no time to begin."""
    made = chain_of_thought(bundle, word, max_tokens, engine)
    return Chain(made.tokens, made.prompt_length)


def run_examples(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Run the examples of a folder's page in it, one after another, and return them."""
    examples = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    for path in folder.glob("*.py"):
        monkeypatch.delitem(sys.modules, path.stem, raising=False)
    for example in examples:
        exec(compile(example, str(folder / "README.md"), "exec"), {})
    for path in folder.glob("*.py"):
        sys.modules.pop(path.stem, None)
    return examples
