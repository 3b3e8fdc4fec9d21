"""Small models of any kind: machine code agrees with the other engines where no compiler helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from tapeformer.engines import auto, native, sparse
from tapeformer.weights.matrices import integers, matrix, zeros
from tapeformer.weights.positions import fetches_tokens
from tapeformer.weights.record import Affine, Factor, Head, Layer, TransformerWeights
from tests.campaigns.native import Case, differences, long_differences, small_case
from tests.small_models import SmallModel

NUMBERS = count()
"""Neurons of a layer need different names, and nothing else of them."""


def affine(
    rows: Sequence[Mapping[int, int]], bias: Sequence[int], width: int, names: Sequence[str] = ()
) -> Affine:
    """A map from its rows, each with its entries by column."""
    entries = {(i, j): value for i, row in enumerate(rows) for j, value in row.items()}
    named = tuple(names) or tuple(f"n{next(NUMBERS)}" for _ in rows)
    return Affine(matrix((len(rows), width), entries), integers(bias), named)


def nested_differences() -> Case:
    """With b = a and x, d = a - b and e = d and y: a neuron is a - b + 2 d - 2 e."""
    fields = ("a", "x", "y", "f")
    factors = tuple(Factor(name, ("0", "1")) for name in fields)
    embeddings = tuple(
        matrix((2, 4), {(1, place): 1} if place < 3 else {}) for place in range(len(fields))
    )
    network = (
        affine([{0: 1}, {0: 1, 1: 1}, {2: 1}], [0, -1, 0], 4),
        affine([{0: 1}, {1: 1}, {2: 1}, {0: 1, 1: -1}], [0] * 4, 3),
        affine([{0: 1}, {1: 1}, {3: 1}, {3: 1, 2: 1}], [0, 0, 0, -1], 4),
        affine([{0: 1, 1: -1, 2: 2, 3: -2}], [0], 4),
        affine([{}, {}, {}, {0: 1}], [0] * 4, 1, fields),
    )
    layer = Layer((), matrix((4, 0), {}), integers([0] * 4), network)
    fixed = [affine([{}, {}], bias, 4, ("0", "1")) for bias in ([0, 1], [1, 0], [0, 1])]
    outputs = (*fixed, affine([{}, {3: 2}], [1, 0], 4, ("0", "1")))
    weights = TransformerWeights(factors, fields, embeddings, (layer,), outputs, (), 0, 0)
    return Case("nested", weights, (), ((1, 0, 1, 0),))


def negated_source(times: int) -> Case:
    """A head of the second layer fetches the neuron "a or b", which is "not c"."""
    fields = ("one", "a", "b", "c", "n", "g", "h")
    width = len(fields)
    factors = (Factor("f", ("a", "b", "c")), Factor("g", ("0", "1")))
    ones = {(value, 0): 1 for value in range(3)} | {(value, 1 + value): 1 for value in range(3)}
    embeddings = (matrix((3, width), ones), matrix((2, width), {}))
    network = (
        affine([{1: 1, 2: 1, 3: -1}], [0], width),
        affine([{0: 1} if i == 4 else {} for i in range(width)], [0] * width, 1, fields),
    )
    query, key = matrix((1, width), {(0, 0): 1}), zeros(1, width)
    head = Head("h", 0, query, key, matrix((1, width), {(0, 4): 1}))
    none = integers([0] * width)
    layers = (
        Layer((), matrix((width, 0), {}), none, network),
        Layer((head,), matrix((width, 1), {(5, 0): 1}), none, ()),
    )
    outputs = (
        affine([{3: 1}, {1: 1}, {2: 1}], [0] * 3, width, ("a", "b", "c")),
        affine([{0: 1} if times > 1 else {}, {5: times}], [0, 0], width, ("0", "1")),
    )
    weights = TransformerWeights(factors, fields, embeddings, layers, outputs, ("r",), 1, 1)
    return Case("negated", weights, (1,), ((0, 0), (1, 0)))


def test_a_difference_inside_a_difference(tmp_path: Path) -> None:
    assert differences(nested_differences(), tmp_path) == []


@pytest.mark.parametrize("times", [1, 2])
def test_a_head_fetches_the_complement_of_a_bit(times: int, tmp_path: Path) -> None:
    case = negated_source(times)
    assert differences(case, tmp_path) == []
    assert long_differences(case, tmp_path, 40) == []


@pytest.mark.parametrize("seed", range(24))
def test_random_weights(seed: int, tmp_path: Path) -> None:
    case = small_case(seed)
    assert differences(case, tmp_path, 40) == []
    assert long_differences(case, tmp_path, 40) == []


def test_a_run_is_handed_over_only_if_the_window_is_all_that_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(auto, "PAYS_AFTER", 40)
    monkeypatch.setattr(auto, "PARAMETERS_PER_TOKEN", 1 << 40)
    models = [SmallModel(seed) for seed in range(40)]
    held = [model for model in models if not fetches_tokens(model.weights)]
    assert held
    for model in [*held[:10], *models[:5]]:
        ends = []
        for engine in (auto.Engine, sparse.Engine):
            stream = engine(model.weights, model.offsets)
            stream.prompt(model.prompt)
            rows = np.concatenate([stream.advance(17) for _ in range(6)])
            ends.append((rows.tolist(), stream.margin))
        assert ends[0] == ends[1]


def test_an_empty_prompt_changes_nothing(tmp_path: Path) -> None:
    model = SmallModel(3)
    engine = native.Engine(model.weights, model.offsets, cache=tmp_path)
    engine.prompt([])
    engine.prompt(model.prompt)
    other = sparse.Engine(model.weights, model.offsets)
    other.prompt(model.prompt)
    assert engine.advance(9).tolist() == other.advance(9).tolist()
