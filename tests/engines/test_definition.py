"""The engines against the paper's formulas written out in numpy, on sound and on damaged weights."""

from __future__ import annotations

import random

import pytest

from tapeformer.engines import dense, sparse
from tapeformer.lowering.queues_to_heads import HeadMode
from tapeformer.lowering.queues_to_weights import transformer
from tapeformer.weights.parameters import nonzero_values, parameters, with_sign_flipped
from tapeformer.weights.positions import offsets_for, window_for
from tests.plain_transformer import Flow, exercised, forward, generated
from tests.table_machines import table_machine

MADE = table_machine(23, ["a", "b", "a", "c"], alphabet=("0", "_"))
LENGTHS = {"a": 4, "b": 6, "c": 2}


@pytest.mark.parametrize(("mode", "layers"), [("offset", 1), ("queue", 2), ("queue", 4)])
def test_engines_follow_the_formulas(mode: HeadMode, layers: int) -> None:
    weights = transformer(MADE.machine, mode, layers)
    prompt = MADE.prompt(weights, "00")
    offsets = offsets_for(weights, LENGTHS)
    sound = generated(weights, offsets, window_for(offsets), prompt, 20)
    assert sound == MADE.run(LENGTHS, "00", 20)
    chance = random.Random(layers)
    for parameter in chance.sample([p for p in parameters(weights) if nonzero_values(p).size], 12):
        entry = chance.randrange(nonzero_values(parameter).size)
        edited = with_sign_flipped(weights, parameter.path, entry)
        expected = generated(edited, offsets, window_for(offsets), prompt, 20)
        for engine in (dense.Engine(edited, offsets), sparse.Engine(edited, offsets)):
            engine.prompt(prompt)
            assert [tuple(row) for row in engine.advance(20).tolist()] == expected


def test_almost_every_exercised_weight_matters() -> None:
    """A weight that joins active neurons is needed: negating it changes the trace."""
    weights = transformer(MADE.machine, "offset")
    prompt = MADE.prompt(weights, "00")
    offsets = offsets_for(weights, LENGTHS)
    expected = MADE.run(LENGTHS, "00", 150)
    flow: Flow = {}
    forward(weights, offsets, window_for(offsets), [*prompt, *expected], flow)
    entries = exercised(weights, flow)
    changed = 0
    for path, entry in random.Random(0).sample(entries, 100):
        engine = sparse.Engine(with_sign_flipped(weights, path, entry), offsets)
        engine.prompt(prompt)
        changed += [tuple(row) for row in engine.advance(150).tolist()] != expected
    assert changed >= 95
