"""Every engine, dtype, hardmax, head mode and split gives the tokens of the direct runner."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tapeformer.engines import dense, sparse
from tapeformer.engines.attention import Attending, Position
from tapeformer.engines.stream import Stream
from tapeformer.faults import TapeformerError
from tapeformer.lowering.queues_to_literal import flat_token, literal_transformer
from tapeformer.lowering.queues_to_weights import transformer
from tapeformer.lowering.weights_to_normalised import with_layer_norm
from tapeformer.weights.positions import offsets_for
from tapeformer.weights.record import Token, TransformerWeights
from tests.table_machines import TableMachine, table_machine

FOUR = table_machine(1, ["a", "b", "c", "b"])
LENGTHS = {"a": 4, "b": 8, "c": 2}
WORD = "01101"
EXPECTED = FOUR.run(LENGTHS, WORD, 60)
ENGINES = (dense.Engine, sparse.Engine)
DTYPES = ("float64", "float32", "float16", "bfloat16")
ENGINES_AND_DTYPES = [
    *((dense.Engine, dtype) for dtype in DTYPES),
    *((sparse.Engine, dtype) for dtype in sparse.DTYPES),
]


def tokens_of(engine: Stream, prompt: tuple[Token, ...], count: int) -> list[Token]:
    engine.prompt(prompt)
    return [tuple(row) for row in engine.advance(count).tolist()]


def four(weights: TransformerWeights) -> tuple[tuple[int, ...], tuple[Token, ...]]:
    return offsets_for(weights, LENGTHS), FOUR.prompt(weights, WORD)


@pytest.mark.parametrize(("engine", "dtype"), ENGINES_AND_DTYPES)
@pytest.mark.parametrize(
    ("mode", "layers"), [("queue", 1), ("queue", 2), ("queue", 4), ("offset", 1), ("offset", 3)]
)
def test_same_tokens_for_every_split_and_dtype(
    engine: type[dense.Engine | sparse.Engine], dtype: str, mode: str, layers: int
) -> None:
    weights = transformer(FOUR.machine, "queue" if mode == "queue" else "offset", layers)
    offsets, prompt = four(weights)
    running = engine(weights, offsets, dtype=dtype)
    assert tokens_of(running, prompt, len(EXPECTED)) == EXPECTED
    assert running.margin >= 1


@pytest.mark.parametrize("attending", ["leftmost", "rightmost", "averaging", "softmax"])
@pytest.mark.parametrize("position", ["key", "bias"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_same_tokens_for_every_hardmax_and_place_of_pos(
    attending: Attending, position: Position, dtype: str
) -> None:
    weights = transformer(FOUR.machine, "queue", 2)
    offsets, prompt = four(weights)
    engine = dense.Engine(weights, offsets, dtype=dtype, attending=attending, position=position)
    assert tokens_of(engine, prompt, len(EXPECTED)) == EXPECTED
    assert engine.margin > 0.99


@pytest.mark.parametrize(("engine", "dtype"), ENGINES_AND_DTYPES)
@pytest.mark.parametrize("layers", [1, 4])
def test_layer_normalisation_changes_no_token(
    engine: type[dense.Engine | sparse.Engine], dtype: str, layers: int
) -> None:
    weights = with_layer_norm(transformer(FOUR.machine, "queue", layers))
    offsets, prompt = four(weights)
    running = engine(weights, offsets, dtype=dtype)
    assert tokens_of(running, prompt, len(EXPECTED)) == EXPECTED
    assert running.margin == 2


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("layers", [1, 2, 4])
def test_the_literal_construction_gives_the_same_tokens(
    engine: type[dense.Engine | sparse.Engine], layers: int
) -> None:
    weights = literal_transformer(FOUR.machine, layers)
    factored = transformer(FOUR.machine)
    prompt = tuple(flat_token(FOUR.machine, t) for t in FOUR.prompt(factored, WORD))
    running = engine(weights, offsets_for(weights, LENGTHS))
    expected = [flat_token(FOUR.machine, token) for token in EXPECTED]
    assert tokens_of(running, prompt, len(expected)) == expected
    assert running.margin == 1


@st.composite
def machines(draw: st.DrawFn) -> tuple[TableMachine, dict[str, int], str]:
    rules = draw(st.lists(st.sampled_from(["a", "b", "c", "one"]), min_size=1, max_size=4))
    rules[0] = "a"
    made = table_machine(draw(st.integers(0, 10**6)), rules, untested=["one", "b"])
    even = st.integers(1, 8).map(lambda half: 2 * half)
    lengths = {"a": draw(even), "b": draw(st.integers(1, 16)), "c": draw(even), "one": 1}
    return made, lengths, draw(st.text("01", min_size=1, max_size=12))


@given(machines(), st.sampled_from(["queue", "offset"]))
@settings(max_examples=25, deadline=None)
def test_random_machines(case: tuple[TableMachine, dict[str, int], str], mode: str) -> None:
    made, lengths, word = case
    weights = transformer(made.machine, "queue" if mode == "queue" else "offset")
    expected = made.run(lengths, word, 40)
    for engine in ENGINES:
        running = engine(weights, offsets_for(weights, lengths))
        assert tokens_of(running, made.prompt(weights, word), 40) == expected
        assert running.margin == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_a_window_shorter_by_one_fails(engine: type[dense.Engine | sparse.Engine]) -> None:
    weights = transformer(FOUR.machine)
    offsets, prompt = four(weights)
    running = engine(weights, offsets, max(LENGTHS.values()) - 1)
    assert tokens_of(running, prompt, len(EXPECTED)) != EXPECTED


@pytest.mark.parametrize("engine", ENGINES)
def test_generate_advance_and_handing_over_agree(
    engine: type[dense.Engine | sparse.Engine],
) -> None:
    weights = transformer(FOUR.machine, "queue", 2)
    offsets, prompt = four(weights)
    first = engine(weights, offsets)
    first.prompt(prompt[:2])
    first.prompt(prompt[2:])
    start = list(first.generate(10)) + [tuple(row) for row in first.advance(13).tolist()]
    assert start == EXPECTED[:23]
    for successor in ENGINES:
        second = successor(weights, offsets)
        second.prompt(first.window_tokens())
        assert [tuple(row) for row in second.advance(30).tolist()] == EXPECTED[23:53]
    assert len(first.window_tokens()) == first.window == 8


def test_memory_does_not_grow() -> None:
    weights = transformer(FOUR.machine)
    offsets, prompt = four(weights)
    for engine in (dense.Engine(weights, offsets), sparse.Engine(weights, offsets)):
        engine.prompt(prompt)
        rows = engine.advance(300)
        assert len(engine.window_tokens()) == 8
        assert np.array_equal(engine.window_tokens(), rows[-8:])


def test_refusals_are_clear() -> None:
    weights = transformer(FOUR.machine)
    offsets, _ = four(weights)
    with pytest.raises(TapeformerError, match="dense engine would need too much memory"):
        dense.Engine(weights, offsets, memory=1000)
    with pytest.raises(TapeformerError, match="sparse engine would need too much memory"):
        sparse.Engine(weights, [10**13] * len(offsets))
    with pytest.raises(TapeformerError, match="expected 3 look-backs"):
        dense.Engine(weights, offsets[1:])
    engine = sparse.Engine(weights, offsets)
    with pytest.raises(TapeformerError, match="expected a prompt first"):
        engine.advance(1)
    with pytest.raises(TapeformerError, match="one of leftmost, rightmost; got 'averaging'"):
        sparse.Engine(weights, offsets, attending="averaging")  # type: ignore[arg-type]
    engine.prompt([])
    with pytest.raises(TapeformerError, match="another alphabet"):
        engine.prompt([(9, 0, 0, 0, 0, 0)])


def test_threads_are_left_as_they_were() -> None:
    weights = transformer(FOUR.machine)
    offsets, prompt = four(weights)
    before = torch.get_num_threads()
    tokens_of(dense.Engine(weights, offsets), prompt, 3)
    assert torch.get_num_threads() == before
    assert torch.get_default_dtype() == torch.float32


def test_torch_is_imported_by_the_dense_engine_only() -> None:
    code = (
        "import sys, tapeformer.lowering.queues_to_literal, "
        "tapeformer.lowering.weights_to_normalised, "
        "tapeformer.bundle.load, tapeformer.weights.explain, tapeformer.engines.registry, "
        "tapeformer.engines.sparse, tapeformer.engines.auto, tapeformer.engines.native; "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
