"""Experiments as a user runs them: they repeat, resume after a kill, and run in several processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tapeformer import TapeformerError
from tapeformer.learning.config import Arm, DataConfig, Experiment, load_config
from tapeformer.learning.experiment import run_experiment
from tapeformer.learning.prepare import prepare

DATA = DataConfig("palindrome", train_up_to=3, test=(3,), count=8, levels=4)
TRAINING = {"steps": 24, "batch": 32, "hidden": 8, "layers": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data")
    prepare(DATA, path)
    return path


def _config(path: Path, **training: Any) -> Path:
    record = {
        "data": {**DATA.record(), "test": list(DATA.test)},
        "arms": {"tied": {}},
        "seeds": [0, 1],
        "training": {**TRAINING, **training},
    }
    path.write_text(json.dumps(record))
    return path


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    return load_config(_config(tmp_path_factory.mktemp("config") / "tiny.json"))


@pytest.fixture(scope="module")
def whole(experiment: Experiment, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("whole")
    run_experiment(experiment, folder, output, device="cpu")
    return output


def _weights(output: Path) -> list[bytes]:
    with np.load(output / "tied-0.npz") as file:
        return [file[name].tobytes() for name in sorted(file.files)]


def test_results_say_what_they_depend_on(whole: Path) -> None:
    record = json.loads((whole / "tied.json").read_text())
    assert {"config", "data", "tapeformer", "code_sha256", "torch", "device"} <= record.keys()
    assert record["data"]["sha256"].keys() == {"train", "test-3"}
    assert {row["arm"] for row in record["results"]} == {"tied"}
    assert (whole / "results.csv").read_text().startswith("arm,seed,length,tokens,wrong")
    assert (whole / "results.svg").exists()


def test_an_experiment_repeats_from_its_seeds(
    whole: Path, experiment: Experiment, folder: Path, tmp_path: Path
) -> None:
    run_experiment(experiment, folder, tmp_path, arms=["tied"], device="cpu")
    assert _weights(tmp_path) == _weights(whole)


def test_a_killed_training_goes_on(
    experiment: Experiment,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tapeformer.learning.checkpoint.SECONDS", 0.0)
    monkeypatch.setattr("tapeformer.learning.train.KEPT_EVERY", 5)
    monkeypatch.setattr("tapeformer.learning.train.REFRESH", 7)
    monkeypatch.setattr("tapeformer.learning.hard_rows.SEARCHED", 40)
    once = tmp_path / "once"
    run_experiment(experiment, folder, once, arms=["tied"], device="cpu")

    def killed(text: str) -> None:
        if "clock: step 14" in text:
            raise KeyboardInterrupt

    twice = tmp_path / "twice"
    with pytest.raises(KeyboardInterrupt):
        run_experiment(experiment, folder, twice, arms=["tied"], device="cpu", watch=killed)
    assert len(list(twice.glob("*.checkpoint"))) == 2
    run_experiment(experiment, folder, twice, arms=["tied"], device="cpu")
    assert _weights(once) == _weights(twice)
    assert not list(twice.glob("*.checkpoint"))


@pytest.mark.slow
def test_two_processes_train_one_model(folder: Path, tmp_path: Path) -> None:
    config = _config(tmp_path / "tiny.json")
    module = ["-m", "tapeformer.learning", str(config), str(folder), str(tmp_path / "out"), "tied"]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    found = subprocess.run(
        [*torchrun, "--master-port", "29531", *module],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr[-2000:]
    assert len(json.loads(found.stdout)["results"]) == 2


@pytest.mark.slow
def test_the_small_example_is_exact_beyond_training_only_if_tied(tmp_path: Path) -> None:
    config = Path(__file__).parents[2] / "examples" / "learning" / "small.yaml"
    places = ["--data", str(tmp_path / "data"), "-o", str(tmp_path / "out"), "--device", "cpu"]
    command = [sys.executable, "-m", "tapeformer", "learn", str(config), *places, "--json"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    record = json.loads(found.stdout)
    wrong = {(row["arm"], row["length"]): row["wrong"] for row in record["results"]}
    assert wrong["tied", 2 * record["trained_on"]] == 0
    assert wrong["untied", 2 * record["trained_on"]] > 0


def test_results_of_before_an_entry_was_there_are_resumed(
    whole: Path, experiment: Experiment, folder: Path, tmp_path: Path
) -> None:
    record = json.loads((whole / "tied.json").read_text())
    del record["config"]["arm"]["prior"], record["config"]["data"]["near_misses"]
    del record["config"]["data"]["near_misses_up_to"]
    (tmp_path / "tied.json").write_text(json.dumps(record))
    found = run_experiment(experiment, folder, tmp_path, device="cpu")
    assert len(found["results"]) == 2
    assert not list(tmp_path.glob("*.npz"))


def test_lengths_asked_for_later_are_scored_with_saved_weights(
    whole: Path, experiment: Experiment, tmp_path: Path
) -> None:
    output, data = tmp_path / "out", tmp_path / "data"
    shutil.copytree(whole, output)
    later = replace(experiment, data=replace(DATA, test=(3, 5, 6), far=6, near_misses_up_to=4))
    prepare(later.data, data)
    found = run_experiment(later, data, output, device="cpu")
    assert [row["length"] for row in found["results"]] == [3, 3, 5, 5, 6, 6]
    assert _weights(output) == _weights(whole)
    record = json.loads((output / "tied.json").read_text())
    assert record["scored_again"][0]["lengths"] == [5, 6]
    assert record["config"]["data"]["test"] == [3, 5, 6]


def test_results_of_other_training_or_test_words_are_refused(
    whole: Path, experiment: Experiment, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    shutil.copytree(whole, output)
    training = replace(experiment, training=replace(experiment.training, steps=25))
    words = replace(experiment, data=replace(DATA, far=3))
    misses = replace(experiment, data=replace(DATA, near_misses_up_to=2))
    for other in (training, words, misses):
        prepare(other.data, tmp_path / "data")
        with pytest.raises(TapeformerError, match="result of another experiment"):
            run_experiment(other, tmp_path / "data", output, device="cpu")


def test_levels_are_learned_from_other_machines_too(experiment: Experiment, tmp_path: Path) -> None:
    data = replace(DATA, machine="binary_counter", max_steps=20, others=("palindrome",))
    both = replace(experiment, data=data, arms={"alone": Arm(), "others": Arm(others=True)})
    prepare(data, tmp_path / "data")
    found = run_experiment(both, tmp_path / "data", tmp_path / "out", device="cpu")
    assert {row["arm"] for row in found["results"]} == {"alone", "others"}
    assert (tmp_path / "out" / "alone-0.npz").read_bytes() != (
        tmp_path / "out" / "others-0.npz"
    ).read_bytes()


def test_others_must_have_the_fields_of_the_machine(experiment: Experiment, tmp_path: Path) -> None:
    data = replace(DATA, others=("palindrome_two_tapes",))
    other = replace(experiment, data=data, arms={"others": Arm(others=True)})
    prepare(data, tmp_path)
    with pytest.raises(TapeformerError, match="other fields than the machine"):
        run_experiment(other, tmp_path, tmp_path / "out", device="cpu")


def test_every_kind_of_arm_gets_about_the_same_number_of_parameters(
    experiment: Experiment, folder: Path, tmp_path: Path
) -> None:
    arms = {
        "tied": Arm(),
        "untied": Arm(tied=False),
        "learned": Arm(look_backs="learned"),
        "alibi": Arm(look_backs="alibi"),
        "noise": Arm(start="compiled", noise=0.01, steps=2),
    }
    training = replace(experiment.training, steps=4, crop=8, parameters=200_000)
    every = replace(experiment, arms=arms, training=training, seeds=(0,))
    run_experiment(every, folder, tmp_path, device="cpu")
    counts = {name: json.loads((tmp_path / f"{name}.json").read_text()) for name in arms}
    assert all(abs(c["parameters"] - 200_000) < 20_000 for c in counts.values()), counts


def test_runs_longer_than_all_traces_are_told(
    experiment: Experiment, folder: Path, tmp_path: Path
) -> None:
    other = replace(experiment, arms={"alibi": Arm(look_backs="alibi")})
    with pytest.raises(TapeformerError, match="a shorter `crop`"):
        run_experiment(other, folder, tmp_path, device="cpu")


def test_an_arm_with_others_needs_them(tmp_path: Path) -> None:
    config = tmp_path / "bad.json"
    record = {"data": {**DATA.record(), "others": []}, "arms": {"a": {"others": True}}}
    config.write_text(json.dumps(record))
    with pytest.raises(TapeformerError, match="needs others"):
        load_config(config)


@pytest.mark.parametrize(
    ("part", "entry", "value"),
    [
        ("data", "near_misses_up_to", "many"),
        ("data", "test", 3),
        ("data", "others", [1]),
        ("data", "count", True),
        ("training", "learning_rate", "fast"),
        ("arms", "tied", "yes"),
    ],
)
def test_entries_of_another_type_are_told(
    tmp_path: Path, part: str, entry: str, value: object
) -> None:
    record: dict[str, Any] = json.loads(_config(tmp_path / "bad.json").read_text())
    (record["arms"]["tied"] if part == "arms" else record[part])[entry] = value
    (tmp_path / "bad.json").write_text(json.dumps(record))
    with pytest.raises(TapeformerError, match=f"a wrong '{entry}'; expected .*; got "):
        load_config(tmp_path / "bad.json")


def test_bad_configurations_are_told(tmp_path: Path) -> None:
    config = tmp_path / "bad.json"
    config.write_text('{"data": {"machin": "palindrome"}, "arms": {"a": {}}}')
    with pytest.raises(TapeformerError, match="did you mean machine"):
        load_config(config)
