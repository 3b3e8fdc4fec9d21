"""Models of a family side by side give what each gives alone; what differs is read from weights only."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tapeformer.engines import sparse
from tapeformer.engines.batch import Budget, prompts_of
from tapeformer.engines.logic.not_logic import NotLogicError
from tapeformer.engines.native.batch import FamilyBatch
from tapeformer.weights.family import WeightFamily, first_map
from tapeformer.weights.matrices import matrix
from tapeformer.weights.parameters import parameters, with_parameters, with_sign_flipped
from tapeformer.weights.record import Matrix, TransformerWeights
from tests.small_models import SmallModel

TOKENS = 12


def random_family(model: SmallModel, chance: random.Random) -> WeightFamily:
    """Groups of columns: each shifts a bias of its own, or none in groups that come late."""
    sizes = tuple(chance.choices((1, 2, 3), k=chance.randint(1, 4)))
    height = len(first_map(model.weights).bias)
    rows = chance.sample(range(height), k=height)
    entries = {(row, column): chance.choice((-1, 1)) for column, row in enumerate(rows)}
    entries = {place: shift for place, shift in entries.items() if place[1] < sum(sizes)}
    return WeightFamily(model.weights, matrix((height, sum(sizes)), entries), sizes)


def families() -> Iterator[tuple[SmallModel, WeightFamily, list[tuple[int, ...]]]]:
    """Small random models with a last network, in random families, with choices of members."""
    for seed in range(200):
        model, chance = SmallModel(seed), random.Random(seed)
        if len(model.weights.layers[-1].feed_forward) > 1:
            family = random_family(model, chance)
            picked = [tuple(map(chance.randrange, family.sizes)) for _ in range(5)]
            yield model, family, picked


def alone(model: SmallModel, weights: TransformerWeights) -> NDArray[np.int32]:
    engine = sparse.Engine(weights, model.offsets)
    engine.prompt(np.asarray(model.prompt, np.int32))
    return engine.advance(TOKENS)


@pytest.mark.parametrize("inputs", [64, 256, 512])
def test_random_members_side_by_side_equal_each_alone(inputs: int, tmp_path: Path) -> None:
    compared = 0
    for model, family, picked in list(families())[:10]:
        members = [family.member(choice) for choice in picked]
        try:
            batch = FamilyBatch(family, model.offsets, tmp_path, watched=[0], inputs=inputs)
        except NotLogicError:
            continue
        prompts = prompts_of([np.asarray(model.prompt, np.int32)] * len(members))
        budget, stop = Budget(10**9, TOKENS), (0, model.prompt[-1][0])
        for ended in chain.from_iterable(batch.run_members(members, prompts, stop, (), budget)):
            for number, member in enumerate(ended.inputs.tolist()):
                made = int(ended.tokens[number])
                if made and not ended.doubted[number]:
                    rows = ended.windows.rows(number)[-min(made, batch.window) :]
                    expected = alone(model, members[member])[:made][-len(rows) :]
                    ages = np.arange(len(rows))[::-1, None]
                    there = np.where(ages < batch.places.kept, expected, 0)
                    assert rows.tolist() == there.tolist()
                    compared += 1
    assert compared > 12


def test_a_choice_is_read_from_weights() -> None:
    for _, family, picked in families():
        for choice in picked:
            weights = family.member(choice)
            found = family.choice(weights)
            assert found is not None
            bias = first_map(family.member(found)).bias
            assert bias.tolist() == first_map(weights).bias.tolist()


def edited(weights: TransformerWeights) -> Iterator[TransformerWeights]:
    """The same model with one parameter changed, for every matrix and vector."""
    for parameter in parameters(weights):
        if isinstance(parameter.value, Matrix):
            if parameter.value.values.size:
                yield with_sign_flipped(weights, parameter.path, 0)
        else:
            changed = parameter.value.copy()
            changed[0] += 7
            yield with_parameters(weights, {parameter.path: changed})


def test_a_model_with_any_other_parameter_changed_is_no_member(tmp_path: Path) -> None:
    model, family, picked = next(families())
    weights = family.member(picked[0])
    changed = [*edited(weights), replace(weights, fields=weights.fields[::-1])]
    assert len(changed) > 8
    assert all(family.choice(other) is None for other in changed)
    batch = FamilyBatch(family, model.offsets, tmp_path, watched=[0])
    prompts = prompts_of([np.asarray(model.prompt, np.int32)])
    with pytest.raises(ValueError, match="do not belong"):
        batch.run_members(changed[:1], prompts, (0, 0), (), Budget(1, 1))
