"""Datasets as users meet them: written, interrupted, resumed, loaded, checked, tampered with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tapeformer as tf
from tapeformer import TapeformerError
from tapeformer.export.dataset import DatasetOptions, verify_dataset, write_dataset
from tapeformer.export.dataset.parquet import COLUMNS, KEY

MACHINES = ["palindrome", "palindrome_two_tapes"]
OPTIONS = DatasetOptions(count=60, lengths=(0, 10), mirrored=0.5, rows_per_shard=20)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("traces")
    write_dataset(MACHINES, path, OPTIONS)
    return path


def files_in(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_every_row_agrees_with_the_simulator(folder: Path) -> None:
    report = verify_dataset(folder)
    assert report.agreed, report.differences
    assert report.rows == 120
    assert report.steps > 1000


def test_tokens_are_those_of_a_run_of_its_own(folder: Path) -> None:
    bundle = tf.load_bundle(folder / "palindrome" / "model")
    rows = pq.read_table(folder / "palindrome" / "test-00000.parquet").slice(0, 4).to_pylist()
    for row in rows:
        assert row["tokens"][row["prompt_length"] :] == generated(bundle, row["input"])


def generated(bundle: tf.Bundle, word: str) -> list[list[int]]:
    rows: list[list[int]] = []
    tf.run(bundle, word, engine="sparse", see=lambda made, _: rows.extend(made.tolist()))
    return rows


def test_datasets_loads_what_the_card_says(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from datasets import load_dataset

    traces = load_dataset(str(folder), "palindrome", cache_dir=str(tmp_path))
    assert set(traces) == {"train", "validation", "test"}
    assert tuple(traces["train"].column_names) == COLUMNS
    assert sum(len(split) for split in traces.values()) == 60
    row = max(traces["test"], key=lambda row: row["steps"])
    result = tf.simulate(tf.gallery_machine("palindrome"), row["input"])
    assert (row["outcome"], row["steps"]) == (result.outcome.value, result.steps)
    assert row["states"][-1] == result.state
    files = str(folder / "palindrome_two_tapes" / "chat" / "train-*.jsonl")
    chats = load_dataset("json", data_files=files, cache_dir=str(tmp_path))
    answer = chats["train"][0]["messages"][-1]["content"]
    assert answer.splitlines()[-1].startswith("Answer: ")
    assert " | " in answer


def test_the_schema_names_the_factors(folder: Path) -> None:
    schema = pq.read_schema(folder / "palindrome" / "train-00000.parquet")
    bundle = tf.load_bundle(folder / "palindrome" / "model")
    factors = json.loads(schema.metadata[KEY])["factors"]
    expected = [(factor.name, len(factor.values)) for factor in bundle.weights.factors]
    assert [(factor["name"], factor["size"]) for factor in factors] == expected
    assert schema.field("tokens").type.value_type.list_size == len(expected)


def test_no_word_is_in_two_splits(folder: Path) -> None:
    shards = sorted((folder / "palindrome").glob("*.parquet"))
    tables = [pq.read_table(path, columns=["input"]) for path in shards]
    every = pa.concat_tables(tables)["input"].to_pylist()
    assert len(every) == len(set(every)) == 60
    assert all(len(word) <= 5 for word in pq.read_table(shards[-2])["input"].to_pylist())


def test_an_interrupted_run_is_resumed_to_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    write_dataset(["palindrome"], tmp_path, OPTIONS, watch=lambda rows: rows < 45)
    begun = {path.name for path in (tmp_path / "palindrome").glob("*.parquet")}
    whole = {path.name for path in (folder / "palindrome").glob("*.parquet")}
    assert set() < begun < whole
    write_dataset(["palindrome"], tmp_path, OPTIONS)
    assert files_in(tmp_path / "palindrome") == files_in(folder / "palindrome")


def test_another_dataset_is_not_resumed(folder: Path) -> None:
    before = files_in(folder)
    with pytest.raises(TapeformerError, match="differs in words"):
        write_dataset(["palindrome"], folder, DatasetOptions(count=61, lengths=(0, 10)))
    assert files_in(folder) == before


@pytest.mark.parametrize("column", ["tokens", "states", "outcome", "output", "prompt_length"])
def test_a_changed_row_is_found(folder: Path, tmp_path: Path, column: str) -> None:
    for name, content in files_in(folder / "palindrome").items():
        (tmp_path / "palindrome" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "palindrome" / name).write_bytes(content)
    path = tmp_path / "palindrome" / "train-00000.parquet"
    table = pq.read_table(path)
    rows = table.to_pylist()
    changed = next(row for row in rows if row["steps"] > 5)
    change(changed, column)
    pq.write_table(pa.Table.from_pylist(rows, table.schema), path)
    report = verify_dataset(tmp_path)
    assert report.wrong == 1
    assert changed["input"] in report.differences[0]


def change(row: dict[str, Any], column: str) -> None:
    if column == "tokens":
        row["tokens"][-2][3] ^= 1
    elif column == "states":
        row["states"][2] = "back" if row["states"][2] != "back" else "first"
    elif column == "outcome":
        row["outcome"] = "reject" if row["outcome"] == "accept" else "accept"
    elif column == "output":
        row["output"] = [row["output"][0] + "a"]
    else:
        row["prompt_length"] += 1


def test_runs_that_do_not_end_are_cut_and_still_checked(tmp_path: Path) -> None:
    options = DatasetOptions(count=1, lengths=(0, 0), max_steps=50, held_out=0.0)
    write_dataset(["1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RZ0LA"], tmp_path, options)
    report = verify_dataset(tmp_path)
    assert report.agreed, report.differences
    assert report.steps == 50
    shard = next(tmp_path.rglob("*.parquet"))
    assert pq.read_table(shard)["outcome"].to_pylist() == ["limit"]


def test_other_constructions_and_bundles(tmp_path: Path) -> None:
    options = DatasetOptions(
        count=6, lengths=(0, 4), compile=tf.CompileOptions(construction="paper", levels=2)
    )
    write_dataset(["palindrome"], tmp_path / "paper", options)
    assert verify_dataset(tmp_path / "paper").agreed
    model = tmp_path / "palindrome.model"
    tf.compile_machine(tf.gallery_machine("palindrome"), levels=4).save(model)
    write_dataset([model], tmp_path / "bundle", DatasetOptions(count=6, lengths=(0, 4)))
    assert verify_dataset(tmp_path / "bundle").agreed


def test_bad_options_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(TapeformerError) as caught:
        write_dataset(["palindrome"], tmp_path, DatasetOptions(count=0, lengths=(3, 1), seed=-1))
    assert len(caught.value.faults) == 3
    assert not list(tmp_path.iterdir())
