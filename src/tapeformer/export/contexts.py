"""What a module reads: a word's prompt and chain of thought as a tensor, or random tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tapeformer.engines.transformer import Transformer
from tapeformer.export.models import Model, loaded
from tapeformer.inference.decode import Reader
from tapeformer.inference.generation import generate


@dataclass(frozen=True, eq=False)
class ChainOfThought:
    """The prompt and the generated tokens (1, T, K) of one word, and the length of the prompt."""

    tokens: Tensor
    prompt_length: int


def chain_of_thought(
    model: Model, word: Sequence[str], max_tokens: int | None = None, engine: str = "sparse"
) -> ChainOfThought:
    """Generate the chain of thought of a word: a string of one-character symbols, or symbols.

    The sparse engine starts at once; "native" is faster for long runs.
    """
    bundle, rows = loaded(model), list[NDArray[np.int32]]()
    generate(
        bundle,
        list(word),
        engine=engine,
        max_tokens=max_tokens,
        see=lambda piece, _: rows.append(piece.copy()),
    )
    prompt = np.asarray(Reader(bundle).prompt(list(word)))
    tokens = np.concatenate([prompt, *rows]).astype(np.int64)
    return ChainOfThought(torch.as_tensor(tokens)[None], len(prompt))


def random_tokens(module: Transformer, batch: int, time: int, seed: int = 0) -> Tensor:
    """Return tokens (B, T, K) with each factor drawn evenly: contexts where every queue matters.

    In a short chain of thought many queues do not matter for any next token.
    """
    drawn = torch.Generator().manual_seed(seed)
    factors = [torch.randint(size, (batch, time), generator=drawn) for size in module.shape.sizes]
    return torch.stack(factors, -1)
