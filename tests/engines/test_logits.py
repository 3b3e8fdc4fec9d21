"""Reading logits: the first of the highest wins, and the margin is the smallest distance to a second."""

from __future__ import annotations

from math import inf
from random import Random

import numpy as np
import pytest

from tapeformer.engines.logits import Decoder
from tapeformer.weights.record import TransformerWeights
from tests.small_models import SmallModel

LARGEST = 6


def cases(seed: int) -> tuple[TransformerWeights, list[list[int]]]:
    """A model and some tokens' logits, all factors one after the other."""
    weights, chance = SmallModel(seed).weights, Random(seed)
    width = sum(len(factor.values) for factor in weights.factors)
    return weights, [[chance.randint(-LARGEST, LARGEST) for _ in range(width)] for _ in range(5)]


def by_factor(weights: TransformerWeights, logits: list[int]) -> list[list[int]]:
    left = iter(logits)
    return [[next(left) for _ in factor.values] for factor in weights.factors]


def distances(weights: TransformerWeights, logits: list[int]) -> list[int]:
    """The distance of the second logit of each factor that has one, counting equal ones once."""
    found = []
    for part in by_factor(weights, logits):
        first, *others = sorted(enumerate(part), key=lambda entry: (-entry[1], entry[0]))
        found += [first[1] - others[0][1]] if others else []
    return found


@pytest.mark.parametrize("seed", range(60))
def test_winners_and_margins_are_those_of_the_definition(seed: int) -> None:
    weights, tokens = cases(seed)
    decoder = Decoder(weights, LARGEST)
    tables = decoder.empty(len(tokens))
    for logits, table in zip(tokens, tables, strict=True):
        winners = [part.index(max(part)) for part in by_factor(weights, logits)]
        assert decoder.read(np.array(logits), table).tolist() == winners
    wanted = [distance for logits in tokens for distance in distances(weights, logits)]
    for known in (inf, 1.0, 2.0, 3.0, 5.0, 2.0 * LARGEST):
        assert decoder.margin(tables, known) == min([known, *wanted])
