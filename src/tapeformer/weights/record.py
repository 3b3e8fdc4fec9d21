"""The weights of a Transformer (the paper's Section 2.3): sparse integer matrices and names.

Every matrix is out x in and maps x to matrix x, as the weight of torch.nn.Linear; the one exception
is an embedding, a table with a row for each value, as the weight of torch.nn.Embedding. Only
nonzero entries are kept. What depends on n is not here: a positional coordinate knows the *rule* of
its look-back, and the number comes from a layout.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tapeformer.dataclass import dataclass
from tapeformer.reprs import ShortRepr

Integers: TypeAlias = NDArray[np.int32]
Token: TypeAlias = tuple[int, ...]
"""One value index for each factor, in the order of `TransformerWeights.factors`."""


@dataclass(frozen=True, eq=False, repr=False)
class Matrix(ShortRepr):
    """An integer matrix: its nonzero entries, sorted by row and then column."""

    shape: tuple[int, int]
    rows: Integers
    columns: Integers
    values: Integers


@dataclass(frozen=True, eq=False, repr=False)
class Affine(ShortRepr):
    """x -> matrix x + bias. Each output row has a name: what the neuron or field is for."""

    matrix: Matrix
    bias: Integers
    names: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Factor(ShortRepr):
    """One component of a token with its finite domain: a queue's symbol, a register, the parity."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Head(ShortRepr):
    """One attention head: query and key are key_width x d, value is value_width x d.

    `position` is the coordinate of the positional encoding that the query picks (the paper's r).
    """

    name: str
    position: int
    query: Matrix
    key: Matrix
    value: Matrix


@dataclass(frozen=True, eq=False, repr=False)
class Layer(ShortRepr):
    """Attention, residual, ReLU network, residual.

    `mix` (the paper's W, d x heads * value_width) and `mix_bias` (b) bring the concatenated heads
    back to the residual stream. `feed_forward` is a ReLU network of any depth: a ReLU stands
    between two affine maps, none after the last. Without affine maps it is the zero function.
    """

    heads: tuple[Head, ...]
    mix: Matrix
    mix_bias: Integers
    feed_forward: tuple[Affine, ...]


@dataclass(frozen=True, eq=False, repr=False)
class TransformerWeights(ShortRepr):
    """Every learnable parameter, and beside them the names and the positional rule.

    `embeddings` has a matrix (values x d) for each factor; a token's embedding is their sum.
    `outputs` has an affine map (d -> values) for each factor; one argmax per factor is the argmax
    of the additive logits over the product vocabulary. `fields` names each residual coordinate.
    `position_rules[r]` is the length rule of coordinate r of the relative positional encoding.
    With `layer_norm` every sub-layer and the output read the normalised residual stream.
    """

    factors: tuple[Factor, ...]
    fields: tuple[str, ...]
    embeddings: tuple[Matrix, ...]
    layers: tuple[Layer, ...]
    outputs: tuple[Affine, ...]
    position_rules: tuple[str, ...]
    key_width: int
    value_width: int
    layer_norm: bool = False
