"""Counting a model: parameters, bits, widths. The paper's bit-size is p times |theta|."""

from __future__ import annotations

from math import prod

import numpy as np

from tapeformer.dataclass import dataclass
from tapeformer.weights.parameters import nonzero_values, parameters
from tapeformer.weights.record import TransformerWeights


@dataclass(frozen=True)
class Counts:
    """The sizes of a model, under the names that `--json` uses.

    `parameters` counts matrix entries, zeros too; `precision` is p, the bits (with sign) that the
    largest parameter needs; `attention_heads` is the paper's head-layer product; `ff_depth` is the
    largest number of ReLU layers in a feed-forward network.
    """

    parameters: int
    nonzero_parameters: int
    precision: int
    parameter_bits: int
    d_model: int
    attention_heads: int
    layers: int
    ff_depth: int
    neurons: int


def count(weights: TransformerWeights) -> Counts:
    """Return all sizes of a model."""
    every = tuple(parameters(weights))
    total = sum(prod(parameter.shape) for parameter in every)
    nonzero = np.concatenate([np.zeros(0, np.int32), *map(nonzero_values, every)])
    precision = _bits(nonzero)
    networks = [layer.feed_forward for layer in weights.layers]
    return Counts(
        parameters=total,
        nonzero_parameters=nonzero.size,
        precision=precision,
        parameter_bits=precision * total,
        d_model=len(weights.fields),
        attention_heads=sum(len(layer.heads) for layer in weights.layers),
        layers=len(weights.layers),
        ff_depth=max((len(network) - 1 for network in networks if network), default=0),
        neurons=sum(len(affine.names) for network in networks for affine in network[:-1]),
    )


def _bits(values: np.ndarray[tuple[int, ...], np.dtype[np.int32]]) -> int:
    """Return bits of a two's-complement integer that holds each of the values."""
    smallest, largest = int(values.min(initial=0)), int(values.max(initial=0))
    return 1 + max(largest.bit_length(), (-smallest - 1).bit_length() if smallest < 0 else 0)
