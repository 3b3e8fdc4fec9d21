"""Learning at a tiny size: what blocks see determines what they say, and training finds it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from tapeformer import TapeformerError
from tapeformer.learning.config import DataConfig, load_config
from tapeformer.learning.experiment import run_experiment
from tapeformer.learning.level_model import LevelModel
from tapeformer.learning.prepare import prepare
from tapeformer.learning.situations import BLOCKS, Reader, row_hash
from tapeformer.learning.soft_model import SoftModel
from tapeformer.learning.tables import table
from tapeformer.learning.traces import DeviceTraces, load_traces, on_device

CPU = torch.device("cpu")
DATA = DataConfig("palindrome", train_up_to=8, test=(8,), count=20, levels=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data")
    prepare(DATA, path)
    return path


@pytest.fixture(scope="module")
def traces(folder: Path) -> DeviceTraces:
    return on_device(load_traces(folder / "train.npz"), CPU)


def test_every_factor_has_one_block_that_says_it(traces: DeviceTraces) -> None:
    readers = [Reader(traces.fields, name, CPU) for name in BLOCKS]
    said = [slot.column for r in readers for view in r.views for slot in view.outputs]
    assert sorted(column for column in said if column >= 0) == list(
        range(len(traces.fields.factors))
    )


@pytest.mark.parametrize("name", BLOCKS)
def test_a_situation_determines_what_follows(traces: DeviceTraces, name: str) -> None:
    model = LevelModel(traces.fields, True, [0], 8, 1)
    rows = table(Reader(traces.fields, name, CPU), model.copies_of(name), [traces])
    assert len(torch.unique(row_hash(rows.inputs))) == len(rows) > 10


def test_learned_heads_at_the_right_distances_bring_what_given_ones_do(
    traces: DeviceTraces,
) -> None:
    fields = traces.fields
    model = SoftModel(LevelModel(fields, True, [0], 8, 1), fields, reach=32)
    with torch.no_grad():
        for level in range(fields.levels):
            model.heads[:, level, 2**level - 1] = 60.0
        at, first = traces.at[None, None, :12], traces.first[None, None, :12]
        fetched = model.fetched(traces.tokens, at, first)
    for name in BLOCKS:
        given = model.layout.readers[name].rows(traces.tokens, at[0, 0], first[0, 0])[0]
        expected = model.model.block(name).one_hot(given)
        assert torch.allclose(model.layout.inputs(name, fetched)[0, :, 0], expected, atol=1e-5)
    assert model.distances() == [[2**level - 1 for level in range(fields.levels)]]


def test_an_experiment_is_resumed_and_repeats(folder: Path, tmp_path: Path) -> None:
    config = tmp_path / "tiny.json"
    arms = {"tied": {}, "untied": {"tied": False}}
    training = {"steps": 20, "batch": 64, "hidden": 16, "layers": 1}
    data = {**DATA.record(), "test": list(DATA.test)}
    record = {"data": data, "arms": arms, "seeds": [0, 1], "training": training}
    config.write_text(json.dumps(record))
    first = run_experiment(load_config(config), folder, tmp_path / "one", device="cpu")
    again = run_experiment(load_config(config), folder, tmp_path / "two", device="cpu")
    assert first == again == run_experiment(load_config(config), folder, tmp_path / "one")
    assert first["trained_on"] == 8
    assert {(row["arm"], row["seed"]) for row in first["results"]} == {
        ("tied", 0),
        ("tied", 1),
        ("untied", 0),
        ("untied", 1),
    }


def test_bad_configurations_are_told(tmp_path: Path) -> None:
    config = tmp_path / "bad.json"
    config.write_text('{"data": {"machin": "palindrome"}, "arms": {"a": {}}}')
    with pytest.raises(TapeformerError, match="did you mean machine"):
        load_config(config)
