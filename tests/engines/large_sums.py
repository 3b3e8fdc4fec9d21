"""Models whose sums leave what floating-point types hold exactly."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from tapeformer.weights.matrices import integers, matrix, zeros
from tapeformer.weights.parameters import Parameter, parameters, with_parameters
from tapeformer.weights.record import Affine, Factor, Layer, Matrix, TransformerWeights
from tapeformer.weights.verify import LARGEST
from tests.small_models import SmallModel

FIELDS = ("one", "x", "error")


def telescoped(depth: int) -> TransformerWeights:
    """A model that says 1, 0, 1, ... while 32767 ** (depth - 1) * ((32767 x + 1) - 32767 x - 1) is 0.

    The product is computed term by term, and an error in it turns every token into 0.
    """
    factor = Factor("bit", ("0", "1"))
    start = Affine(
        matrix((3, 3), {(0, 0): LARGEST, (1, 0): LARGEST}), integers([0, 1, 1]), ("a", "b", "c")
    )
    diagonal = matrix((3, 3), {(n, n): LARGEST for n in range(3)})
    larger = [
        Affine(diagonal, integers([0] * 3), tuple(f"{name}{power}" for name in "abc"))
        for power in range(2, depth + 1)
    ]
    signs = {(0, 0): -1, (0, 1): 1, (0, 2): -1, (1, 0): 1, (1, 1): -1, (1, 2): 1}
    sides = Affine(matrix((2, 3), signs), integers([0, 0]), ("above", "below"))
    last = Affine(matrix((3, 2), {(2, 0): 1, (2, 1): 1}), integers([0] * 3), FIELDS)
    network = (start, *larger, sides, last)
    output = matrix((2, 3), {(0, 1): 1, (0, 2): 2, (1, 0): 1, (1, 1): -1})
    return TransformerWeights(
        factors=(factor,),
        fields=FIELDS,
        embeddings=(matrix((2, 3), {(0, 0): 1, (1, 0): 1, (1, 1): 1}),),
        layers=(Layer((), zeros(3, 0), integers([0] * 3), network),),
        outputs=(Affine(output, integers([0, 0]), factor.values),),
        position_rules=(),
        key_width=0,
        value_width=0,
    )


def with_large_weights(model: SmallModel, seed: int) -> TransformerWeights:
    """The model with some parameters multiplied, up to the largest that is legal."""
    chance = random.Random(seed)
    chosen = [part for part in parameters(model.weights) if chance.random() < 0.5]
    return with_parameters(model.weights, {part.path: _larger(part, chance) for part in chosen})


def _larger(
    part: Parameter, chance: random.Random
) -> Matrix | np.ndarray[tuple[int], np.dtype[np.int32]]:
    times = chance.choice((3, 100, 127, 128, 200, 5000, LARGEST // 2))
    if isinstance(part.value, Matrix):
        return replace(part.value, values=part.value.values * np.int32(times))
    return (part.value * times).astype(np.int32)
