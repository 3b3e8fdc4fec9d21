"""Engines run the weights and nothing else: edit one and all change their tokens alike."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tapeformer.engines import dense, sparse
from tapeformer.engines.fixed import attended
from tapeformer.faults import TapeformerError
from tapeformer.lowering.queues_to_heads import HeadMode
from tapeformer.lowering.queues_to_literal import flat_token, literal_transformer
from tapeformer.lowering.queues_to_weights import transformer
from tapeformer.weights.matrices import matrix
from tapeformer.weights.parameters import (
    nonzero_values,
    parameters,
    with_parameters,
    with_sign_flipped,
)
from tapeformer.weights.positions import offsets_for
from tapeformer.weights.record import Token, TransformerWeights
from tests.table_machines import table_machine

MADE = table_machine(11, ["a", "b", "c"])
LENGTHS = {"a": 4, "b": 6, "c": 2}


def traces(weights: TransformerWeights, prompt: tuple[Token, ...]) -> tuple[list[object], ...]:
    offsets = offsets_for(weights, LENGTHS)
    found = []
    for engine in (dense.Engine(weights, offsets), sparse.Engine(weights, offsets)):
        engine.prompt(prompt)
        found.append(engine.advance(40).tolist())
    return tuple(found)


@pytest.mark.parametrize(("mode", "layers"), [("offset", 1), ("queue", 3)])
def test_sign_flips_change_the_trace_in_both_engines_alike(mode: HeadMode, layers: int) -> None:
    weights = transformer(MADE.machine, mode, layers)
    prompt = MADE.prompt(weights, "0110")
    original = traces(weights, prompt)[0]
    entries = [
        (parameter.path, entry)
        for parameter in parameters(weights)
        for entry in range(nonzero_values(parameter).size)
    ]
    changed = 0
    for path, entry in random.Random(4).sample(entries, 60):
        full, fast = traces(with_sign_flipped(weights, path, entry), prompt)
        assert full == fast, (path, entry)
        changed += full != original
    assert changed >= 15


def test_every_query_and_every_mix_flip_agrees() -> None:
    """Negated queries attend to the oldest token, which the ring must still hold."""
    weights = transformer(MADE.machine, "queue", 3)
    prompt = MADE.prompt(weights, "0110")
    for parameter in parameters(weights):
        if parameter.path.endswith(("query", "mix")):
            full, fast = traces(with_sign_flipped(weights, parameter.path, 0), prompt)
            assert full == fast, parameter.path


@pytest.mark.parametrize("part", ["query", "key"])
def test_attention_that_depends_on_content_is_scored(part: str) -> None:
    weights = transformer(MADE.machine, "queue", 1)
    d = len(weights.fields)
    entries = {(row, column): (row * 7 + column) % 3 - 1 for row in range(3) for column in range(d)}
    path = f"layer.0.head.1.{part}"
    edited = with_parameters(weights, {path: matrix((3, d), entries)})
    full, fast = traces(edited, MADE.prompt(weights, "0110"))
    assert full == fast


@pytest.mark.parametrize("factor", [127, 128, 200, 255, 256, 300, -128, -129])
def test_values_too_large_for_a_byte_are_kept_exactly(factor: int) -> None:
    weights = transformer(MADE.machine, "offset")
    old = next(p for p in parameters(weights) if p.path == "layer.0.head.0.value").value
    assert not isinstance(old, np.ndarray)
    large = type(old)(old.shape, old.rows, old.columns, (old.values * factor).astype(np.int32))
    full, fast = traces(
        with_parameters(weights, {"layer.0.head.0.value": large}), MADE.prompt(weights, "0110")
    )
    assert full == fast


def test_flips_in_the_literal_model_agree() -> None:
    weights = literal_transformer(MADE.machine)
    prompt = tuple(
        flat_token(MADE.machine, t) for t in MADE.prompt(transformer(MADE.machine), "01")
    )
    chance = random.Random(1)
    for parameter in parameters(weights):
        size = nonzero_values(parameter).size
        if size:
            flipped = with_sign_flipped(weights, parameter.path, chance.randrange(size))
            full, fast = traces(flipped, prompt)
            assert full == fast, parameter.path


def test_attended_distance_against_its_definition() -> None:
    chance = np.random.default_rng(0)
    for _ in range(50):
        scores = chance.integers(0, 3, size=9).astype(float)
        far, near = attended(scores, rightmost=False), attended(scores, rightmost=True)
        for visible in range(1, 10):
            best = np.flatnonzero(scores[:visible] == scores[:visible].max())
            assert (far[visible - 1], near[visible - 1]) == (best[-1], best[0])


def test_a_type_that_would_round_a_parameter_is_refused() -> None:
    weights = transformer(MADE.machine, "offset")
    bias = weights.layers[0].feed_forward[0].bias.copy()
    bias[0] = -301
    edited = with_parameters(weights, {"layer.0.feed_forward.0.bias": bias})
    offsets = offsets_for(edited, LENGTHS)
    with pytest.raises(TapeformerError, match="up to 256; got 301; use dtype='float16'"):
        dense.Engine(edited, offsets, dtype="bfloat16")
    with pytest.raises(TapeformerError, match="unknown dtype; expected one of bfloat16"):
        dense.Engine(edited, offsets, dtype="int8")
    with pytest.raises(TapeformerError, match=r"in 'bfloat16'; expected .* use engine='dense'"):
        sparse.Engine(edited, offsets, dtype="bfloat16")
    dense.Engine(edited, offsets, dtype="float16")
