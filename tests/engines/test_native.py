"""The native engine gives the tokens, margins and windows of the others, whatever the weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.engines import auto, dense, native, sparse
from tapeformer.engines.logic.synthesis import netlist_of
from tapeformer.engines.native import build, codegen
from tapeformer.engines.native.cache import CodeCache
from tapeformer.engines.native.packed_program import packed_program
from tapeformer.engines.stream import Stream
from tapeformer.faults import TapeformerError
from tapeformer.gallery import gallery_machine
from tapeformer.lowering.queues_to_heads import HeadMode
from tapeformer.lowering.queues_to_literal import flat_token, literal_transformer
from tapeformer.lowering.queues_to_weights import transformer
from tapeformer.lowering.weights_to_normalised import with_layer_norm
from tapeformer.weights.count import count
from tapeformer.weights.matrices import matrix
from tapeformer.weights.parameters import parameters, with_parameters, with_sign_flipped
from tapeformer.weights.positions import offsets_for
from tests.campaigns.native import Case, differences, edited, random_case
from tests.table_machines import table_machine

FOUR = table_machine(1, ["a", "b", "c", "b"])
LENGTHS = {"a": 4, "b": 8, "c": 2}
WORD = "01101"
EXPECTED = FOUR.run(LENGTHS, WORD, 60)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def four(mode: HeadMode = "queue", layers: int = 1) -> Case:
    weights = transformer(FOUR.machine, mode, layers)
    return Case("four", weights, offsets_for(weights, LENGTHS), FOUR.prompt(weights, WORD))


def native_engine(case: Case, cache: Path) -> native.Engine:
    engine = native.Engine(case.weights, case.offsets, cache=cache)
    engine.prompt(case.prompt)
    return engine


@pytest.mark.parametrize(
    ("mode", "layers"), [("queue", 1), ("queue", 2), ("queue", 4), ("offset", 1), ("offset", 3)]
)
def test_same_tokens_for_every_split(mode: HeadMode, layers: int, cache: Path) -> None:
    engine = native_engine(four(mode, layers), cache)
    assert [tuple(row) for row in engine.advance(60).tolist()] == EXPECTED
    assert engine.margin == 1
    assert not engine.reason


@pytest.mark.parametrize("seed", range(24))
def test_random_machines_and_one_edit_of_each(seed: int, cache: Path) -> None:
    case = random_case(seed)
    assert differences(case, cache) == []
    assert differences(edited(case, seed), cache) == []


@pytest.mark.parametrize("part", ["embedding", "query", "key", "value", "mix", "matrix", "bias"])
@pytest.mark.parametrize("layers", [1, 2])
def test_an_edit_of_every_kind_of_parameter(part: str, layers: int, cache: Path) -> None:
    case = four("queue", layers)
    paths = [p.path for p in parameters(case.weights) if part in p.path and min(p.shape)]
    for seed, path in enumerate(paths[:3]):
        only = edited(case, seed, path)
        assert differences(only, cache) == [], only.name


def test_layer_normalisation_is_left_to_the_sparse_engine(cache: Path) -> None:
    case = four()
    normalised = Case("norm", with_layer_norm(case.weights), case.offsets, case.prompt)
    assert differences(normalised, cache) == []
    assert "normalisation" in native_engine(normalised, cache).reason


def test_attention_to_content_is_left_to_the_sparse_engine(cache: Path) -> None:
    case = four()
    shape = (case.weights.key_width, len(case.weights.fields))
    keys = matrix(shape, {(column % shape[0], column): 1 for column in range(shape[1])})
    weights = with_parameters(case.weights, {"layer.0.head.1.key": keys})
    looking = Case("content", weights, case.offsets, case.prompt)
    assert differences(looking, cache) == []
    assert "attends" in native_engine(looking, cache).reason


def test_a_neuron_that_is_no_bit_is_noticed_while_it_runs(cache: Path) -> None:
    case = four()
    noticed = 0
    for seed in range(12):
        changed = edited(case, seed, "layer.0.feed_forward.0.bias")
        engine = native_engine(changed, cache)
        engine.advance(40)
        noticed += "neither 0 nor 1" in engine.reason
        assert differences(changed, cache) == []
    assert noticed


def test_a_run_ends_where_another_engine_takes_over(cache: Path) -> None:
    made = []
    for seed in range(12):
        changed = edited(four(), seed, "layer.0.feed_forward.0.bias")
        engine = native_engine(changed, cache)
        made.append(engine.run(500)[0])
        if made[-1] < 500:
            assert engine.name == "sparse"
            assert engine.run(20) == (20, 0)
    assert min(made) < 500


def test_the_literal_construction_agrees(cache: Path) -> None:
    made = table_machine(11, ["a", "b"])
    weights = literal_transformer(made.machine)
    words = made.prompt(transformer(made.machine), "0110")
    prompt = tuple(flat_token(made.machine, token) for token in words)
    case = Case("literal", weights, offsets_for(weights, {"a": 4, "b": 6}), prompt)
    assert differences(case, cache) == []
    flipped = with_sign_flipped(weights, "layer.0.mix", 0)
    assert differences(Case("flipped", flipped, case.offsets, prompt), cache) == []


@pytest.mark.parametrize("engine", [dense.Engine, sparse.Engine, native.Engine])
def test_run_counts_and_stops_alike(engine: type[Stream]) -> None:
    case = four("offset")
    rows = np.array(EXPECTED)
    factor = int(np.argmax([len(set(column)) for column in rows.T.tolist()]))
    value = int(rows[0, factor])
    expected = int(np.argmax(rows[:, factor] != value)) + 1
    running = engine(case.weights, case.offsets, None)  # type: ignore[call-arg]
    running.prompt(case.prompt)
    parity = len(case.weights.factors) - 1
    counted = int((rows[:expected, parity] == 1).sum())
    assert running.run(50, ((factor, value),), (parity, 1)) == (expected, counted)
    assert running.run(10) == (10, 0)
    assert running.window_tokens().tolist() == rows[: expected + 10][-8:].tolist()
    assert [tuple(row) for row in running.advance(5).tolist()] == EXPECTED[expected + 10 :][:5]


@pytest.mark.parametrize("engine", [dense.Engine, sparse.Engine, native.Engine, auto.Engine])
def test_run_stops_where_either_value_is_lacking(engine: type[Stream]) -> None:
    case = four("offset")
    rows = np.array(EXPECTED)
    firsts = [int(np.argmax(column != column[0])) for column in rows.T]
    early, late = np.argsort(firsts)[-2:].tolist()
    assert 0 < firsts[early] < firsts[late]
    for stop in ((early, late), (late, early)):
        running = engine(case.weights, case.offsets, None)  # type: ignore[call-arg]
        running.prompt(case.prompt)
        first, second = ((factor, int(rows[0, factor])) for factor in stop)
        assert running.run(50, (first, second)) == (firsts[early] + 1, 0)
        assert running.last_token() == EXPECTED[firsts[early]]
        assert running.window_tokens(1).tolist() == seen(case, firsts[early]).tolist()
        assert running.window_tokens().tolist() == seen(case, firsts[early] + 1).tolist()


def seen(case: Case, made: int) -> np.ndarray:
    """The window after some tokens were made."""
    return np.concatenate([case.prompt, np.array(EXPECTED[:made]).reshape(made, -1)])[-8:]


@pytest.mark.parametrize("engine", [sparse.Engine, native.Engine])
def test_a_given_window_can_lose_its_last_token(engine: type[Stream]) -> None:
    case = four()
    running = engine(case.weights, case.offsets, None)  # type: ignore[call-arg]
    running.prompt(EXPECTED[:30])
    assert running.window_tokens(1).tolist() == [list(token) for token in EXPECTED[21:29]]


def test_the_ring_comes_round(cache: Path) -> None:
    engine, expected = native_engine(four(), cache), FOUR.run(LENGTHS, WORD, 2200)
    for start in range(0, 2200, 550):
        rows = engine.advance(550).tolist()
        assert [tuple(row) for row in rows] == expected[start : start + 550]
        assert engine.window_tokens().tolist() == rows[-8:]


def test_a_refusal_is_found_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = four("queue", 4)
    normalised = Case("norm", with_layer_norm(case.weights), case.offsets, case.prompt)
    first = native_engine(normalised, cache)
    monkeypatch.setattr(codegen, "netlist_of", None)
    second = native_engine(normalised, cache)
    assert second.reason == first.reason
    assert second.reason
    assert second.name == "sparse"
    assert not build.is_made(normalised.weights, CodeCache(cache))
    assert second.advance(20).tolist() == first.advance(20).tolist()


def test_handing_over_in_both_directions(cache: Path) -> None:
    case = four("queue", 2)
    first = native_engine(case, cache)
    assert [tuple(row) for row in first.advance(23).tolist()] == EXPECTED[:23]
    for successor in (dense.Engine, sparse.Engine, native.Engine):
        second = successor(case.weights, case.offsets)
        second.prompt(first.window_tokens())
        assert [tuple(row) for row in second.advance(30).tolist()] == EXPECTED[23:53]


def test_a_window_shorter_by_one_fails(cache: Path) -> None:
    case = four()
    engine = native.Engine(case.weights, case.offsets, 7, cache=cache)
    engine.prompt(case.prompt)
    other = sparse.Engine(case.weights, case.offsets, 7)
    other.prompt(case.prompt)
    rows = engine.advance(60).tolist()
    assert rows == other.advance(60).tolist()
    assert [tuple(row) for row in rows] != EXPECTED


def test_refusals_are_clear(cache: Path) -> None:
    case = four()
    engine = native.Engine(case.weights, case.offsets, cache=cache)
    with pytest.raises(TapeformerError, match="expected a prompt first"):
        engine.advance(1)
    with pytest.raises(TapeformerError, match="another alphabet"):
        engine.prompt([(9, 0, 0, 0, 0, 0)])
    with pytest.raises(TapeformerError, match="native engine would need too much memory"):
        native.Engine(case.weights, case.offsets, memory=100, cache=cache)


def test_carried_values_take_no_gates_and_equal_parts_share_words() -> None:
    options = CompileOptions("paper", levels=4, base=4)
    weights = compile_machine(gallery_machine("busy_beaver_4"), options).weights
    netlist = netlist_of(weights)
    program, _ = packed_program(netlist)
    single = sum(len(gate.literals) - 1 for gate in netlist.gates if gate.literals)
    assert len(netlist.gates) < 2 * count(weights).neurons
    assert len(program.operations) < 1.5 * single


def test_code_is_made_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = four()
    native_engine(case, cache)
    monkeypatch.setattr(codegen, "netlist_of", None)
    assert native_engine(case, cache).advance(3).tolist() == [list(t) for t in EXPECTED[:3]]
