"""Rows of a dataset as batches for PyTorch, and the loss of a model that is shown them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

IGNORED = -100
"""The label of what is not predicted: the prompt and the padding."""
SCALE = 32.0
"""Compiled models have logits a margin of 1 apart; times this, their probabilities are 0 and 1."""


def collate(rows: Sequence[Mapping[str, Any]]) -> tuple[Tensor, Tensor]:
    """Return tokens and labels (B, T, K); the label at a place is the token that stands there."""
    contexts = [torch.as_tensor(row["tokens"], dtype=torch.long) for row in rows]
    tokens = nn.utils.rnn.pad_sequence(contexts, batch_first=True)
    labels = nn.utils.rnn.pad_sequence(contexts, batch_first=True, padding_value=IGNORED)
    for label, row in zip(labels, rows, strict=True):
        label[: int(row["prompt_length"])] = IGNORED
    return tokens, labels


def teacher_forced_loss(
    module: nn.Module, rows: Sequence[Mapping[str, Any]], scale: float = SCALE
) -> Tensor:
    """Return the mean cross-entropy of every factor of every generated token, given those before."""
    tokens, labels = collate(rows)
    logits = scale * module(tokens)[:, :-1].double()
    return functional.cross_entropy(
        logits.flatten(0, 2), labels[:, 1:].flatten(), ignore_index=IGNORED
    )
