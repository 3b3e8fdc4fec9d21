"""From logits to the next token: one argmax per factor, the first value where several tie."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tapeformer.weights.record import TransformerWeights


class Decoder:
    """Reads the logits of all factors at once, padded to the largest domain."""

    def __init__(self, weights: TransformerWeights) -> None:
        sizes = [len(factor.values) for factor in weights.factors]
        starts = np.cumsum([0, *sizes[:-1]])
        columns = np.arange(max(2, *sizes))
        self.places = torch.as_tensor(
            np.where(
                columns < np.array(sizes)[:, None], starts[:, None] + columns, sum(sizes)
            ).ravel()
        )
        self.shape = (len(sizes), len(columns))
        self.padded = torch.full((sum(sizes) + 1,), -torch.inf, dtype=torch.float64)

    def table(self, logits: Tensor) -> Tensor:
        """Factors x values; minus infinity where a factor has fewer values."""
        padded = self.padded.to(logits.dtype)
        padded[:-1] = logits
        return padded.index_select(0, self.places).view(self.shape)

    def token(self, logits: Tensor) -> Tensor:
        """The value of each factor."""
        return self.table(logits).argmax(dim=1)

    def margin(self, logits: Tensor) -> float:
        """The smallest distance between the largest and the second logit of a factor."""
        return smallest_margin(self.table(logits))


def smallest_margin(tables: Tensor) -> float:
    """The same over many tokens: any shape whose last dimension is a factor's values."""
    top = tables.topk(2, dim=-1).values
    return float((top[..., 0] - top[..., 1]).min())
