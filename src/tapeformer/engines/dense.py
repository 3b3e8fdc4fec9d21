"""The dense engine: a plain PyTorch decoder, every matrix product, scores over the whole window.

The module is the definition of what the weights mean (the paper's Section 2.3). Keys and values of
the window are kept, so only the newest position is computed for a new token. Where the weights
alone do not tell that a type holds every sum exactly, each product is checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np
import torch
from numpy.typing import NDArray

from tapeformer.engines.attention import (
    Attending,
    Position,
    PositionAsBias,
    allowed_temperature,
    attending_rule,
)
from tapeformer.engines.exact import EXACT, check_exact
from tapeformer.engines.guards import RecordingCache, guard_norms, guard_reads, guard_sums
from tapeformer.engines.logits import Decoder
from tapeformer.engines.memory import Costs, check_memory
from tapeformer.engines.norm import norm_dtype
from tapeformer.engines.stepping import SteppingTransformer, without_idle_hooks
from tapeformer.engines.stream import Stop, Stream, check_choice, stops
from tapeformer.engines.threads import one_thread
from tapeformer.engines.weights_to_module import module_of, shape_of
from tapeformer.weights.bounds import sum_bounds
from tapeformer.weights.count import count
from tapeformer.weights.record import TransformerWeights

ABSORBED = 64
"""Tokens of a prompt that are computed together."""


class Engine(Stream):
    """Runs a model as a PyTorch module.

    `attending` is the kind of hardmax, or softmax at `temperature` (the one that its window needs
    where none is given); `position` says whether the positional term is added inside the key, as
    in the paper, or to the score, as in its footnote.
    """

    name = "dense"

    def __init__(
        self,
        weights: TransformerWeights,
        offsets: Sequence[int],
        window: int | None = None,
        *,
        dtype: str = "float32",
        attending: Attending = "leftmost",
        temperature: float | None = None,
        position: Position = "key",
        memory: int | None = None,
    ) -> None:
        check_choice("dtype", dtype, tuple(EXACT))
        check_choice("way of attending", attending, get_args(Attending))
        check_choice("place of the positional term", position, get_args(Position))
        super().__init__(weights, offsets, window, Costs("dense", 0, 0, memory))
        kind: torch.dtype = getattr(torch, dtype)
        check_memory(_costs(weights, kind, memory), self.window)
        bounds = sum_bounds(weights)
        check = check_exact(weights, bounds, dtype)
        if attending == "softmax" or temperature is not None:
            temperature = allowed_temperature(kind, self.window, bounds.scores, temperature)
        shape = shape_of(weights, offsets, self.window)
        self.model = module_of(weights, shape, kind, kind=SteppingTransformer)
        self._cache = RecordingCache(self.window)
        for block, layer in zip(self.model.layers, weights.layers, strict=True):
            block.attn.hardmax = attending_rule(attending, temperature or 1.0)
            if position == "bias":
                coordinates = tuple(head.position for head in layer.heads)
                block.attn.position = PositionAsBias(coordinates)
        guard_sums(self.model, self._cache, check)
        guard_reads(self.model, self._cache, attending)
        guard_norms(self.model, norm_dtype(len(weights.fields), bounds.stream))
        without_idle_hooks(self.model)
        self._decoder = Decoder(weights, bounds.logits)
        self._table = self._decoder.empty(1)

    @one_thread()
    def _absorb(self, rows: NDArray[np.int32]) -> None:
        for start in range(0, len(rows), ABSORBED):
            piece = torch.as_tensor(rows[start : start + ABSORBED])
            self.model.absorb(piece[None], self._cache)

    @one_thread()
    def _advance(self, last: NDArray[np.int32], tokens: int, stop: Stop) -> NDArray[np.int32]:
        rows = np.zeros((tokens, len(last)), np.int32)
        model = self.model
        for place in range(tokens):
            stream, _, _ = model.trace(torch.as_tensor(last)[None, None], self._cache)
            logits = model.unembed(model.ln_final(stream))[0, 0]
            last = rows[place] = self._decoder.read(logits.double().numpy(), self._table[0])
            self.margin = self._decoder.margin(self._table, self.margin)
            if stops(last, stop):
                return rows[: place + 1]
        return rows


def _costs(weights: TransformerWeights, dtype: torch.dtype, limit: int | None) -> Costs:
    """Return parameters, and for each token of the window its keys, values, position and factors."""
    heads = sum(len(layer.heads) for layer in weights.layers)
    rows = 2 * heads * (weights.key_width + weights.value_width) + 2 * weights.key_width
    return Costs(
        engine="dense",
        fixed=count(weights).parameters * dtype.itemsize,
        per_token=rows * dtype.itemsize + 8 * (weights.key_width + len(weights.factors)),
        limit=limit,
    )
