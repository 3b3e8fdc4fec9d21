"""Learning at a tiny size: what blocks see determines what they say, and training finds it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tapeformer.compile.options import CompileOptions
from tapeformer.inference.model import find_model
from tapeformer.learning.compiled_model import CompiledModel, SharedParameters, Step
from tapeformer.learning.config import DataConfig
from tapeformer.learning.far import load_far
from tapeformer.learning.hard_rows import HardRows
from tapeformer.learning.keys import GroupKeys
from tapeformer.learning.learned_arm import continued
from tapeformer.learning.level_model import LevelModel
from tapeformer.learning.prepare import prepare
from tapeformer.learning.situations import BLOCKS, Reader
from tapeformer.learning.soft_model import SoftModel
from tapeformer.learning.spare_neurons import LevelColumns, SpareNeurons
from tapeformer.learning.tables import by_level, collected
from tapeformer.learning.traces import DeviceTraces, load_traces, on_device
from tapeformer.learning.words import test_words as experiment_words
from tapeformer.weights.tying import LEVELLED

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
    rows = collected([traces], model.copies_of, [name])[name].table
    assert len(torch.unique(rows.inputs, dim=0)) == len(rows) > 10


@pytest.mark.parametrize("name", BLOCKS)
def test_equal_situations_are_collected_once(traces: DeviceTraces, name: str) -> None:
    reader = Reader(traces.fields, name, CPU)
    inputs, outputs = reader.rows(traces.tokens, traces.at, traces.first)
    whole = torch.cat([inputs, outputs], -1).flatten(0, 1)
    rows, times = torch.unique(whole, dim=0, return_counts=True)
    found = collected([traces], lambda _: torch.zeros_like, [name])[name]
    assert len(found.table) == len(rows)
    assert found.table.times.sort().values.tolist() == times.sort().values.tolist()
    groups = GroupKeys(traces)
    for number in range(len(reader.views)):
        own = found.table.inputs[found.row_numbers(number, groups)]
        assert torch.equal(own, inputs[number])


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


def test_near_misses_differ_from_their_mirror_in_one_letter() -> None:
    config = replace(DATA, test_words=2, test_near_misses=3, test_others=1)
    words = list(experiment_words(config, ("a", "b"), 40))
    wrong = [sum(a != b for a, b in zip(word, reversed(word), strict=True)) for word in words]
    assert wrong[:5] == [0, 0, 2, 2, 2]
    assert len(words) == 6
    none = list(experiment_words(replace(config, near_misses_up_to=39), ("a", "b"), 40))
    assert none == [*words[:2], words[5]]


def test_of_a_far_length_only_the_first_words_of_each_kind_are_tried() -> None:
    config = replace(DATA, test_words=3, test_near_misses=3, test_others=1, far=20, far_words=2)
    near, far = (list(experiment_words(config, ("a", "b"), n)) for n in (19, 20))
    assert (len(near), len(far)) == (7, 5)
    every = list(experiment_words(replace(config, far=21), ("a", "b"), 20))
    assert far == [*every[:2], *every[3:5], every[6]]


def test_a_law_is_continued_only_where_distances_follow_it() -> None:
    assert continued([0, 1, 3, 7, None], [0, 1, 3, 7, 90], 7) == [0, 1, 3, 7, 15, 31, 63]
    assert continued([0, 1, 3, 7, 99], [0, 1, 3, 7, 99], 6) == [0, 1, 3, 7, 15, 31]
    assert continued([0, 1, 3, 9, None], [0, 1, 3, 9, 90], 6) == [0, 1, 3, 9, 90, 0]
    assert continued([0, None, 3, 7], [0, 5, 3, 7], 4) == [0, 5, 3, 7]


def test_long_traces_come_in_parts_that_hold_the_same_situations(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = on_device(load_traces(folder / "test-8.npz"), CPU)
    monkeypatch.setattr("tapeformer.learning.prepare.PART", 20)
    prepare(replace(DATA, far=8), tmp_path)
    kept, tokens = load_far(tmp_path, 8, CPU)
    assert tokens == len(whole.at)
    found = collected([whole], lambda _: by_level, BLOCKS)
    for name in BLOCKS:
        rows = found[name].table
        assert len(rows) == len(kept[name])
        assert int(rows.times.sum()) == int(kept[name].times.sum())


def test_walks_show_more_situations(tmp_path: Path, traces: DeviceTraces) -> None:
    prepare(replace(DATA, walks=1, walk_steps=80, test=()), tmp_path)
    walks = on_device(load_traces(tmp_path / "walks.npz"), CPU)
    model = LevelModel(traces.fields, True, [0], 8, 1)
    alone = collected([traces], model.copies_of, ["stack"])["stack"]
    both = collected([traces, walks], model.copies_of, ["stack"])["stack"]
    assert len(both.table) > len(alone.table)


def test_compiled_weights_without_noise_say_every_token(traces: DeviceTraces) -> None:
    bundle = find_model(DATA.machine, CompileOptions(levels=DATA.levels)).for_words(0)
    shared = SharedParameters()
    step = Step(bundle, shared, CPU)
    at, first = traces.at[None, :24], traces.first[None, :24]
    for noise, exact in ((0.0, True), (1.0, False)):
        for spare in (None, SpareNeurons(step.columns.width, 8, [0], noise)):
            model = CompiledModel(shared, [0], noise, spare)
            with torch.no_grad():
                right = step.scores(step.expanded(model), traces.tokens, at, first)[1]
            assert bool(right.all()) == exact


def test_spare_neurons_read_a_level_and_those_beside_it() -> None:
    bundle = find_model(DATA.machine, CompileOptions(levels=5)).for_words(0)
    fields = bundle.weights.fields
    columns = LevelColumns(fields, 5, CPU)
    spare = SpareNeurons(columns.width, 16, [0], 1.0)
    changed = fields.index("tape1.left/main3.track0=a")
    stream = torch.zeros(1, 1, len(fields))
    before = spare(stream, columns)
    stream[..., changed] = 1
    differs = (spare(stream, columns) != before)[0, 0].nonzero()[:, 0].tolist()
    levels = {found[2] for place in differs if (found := LEVELLED.search(fields[place]))}
    assert levels == {"2", "3", "4"}
    assert all(LEVELLED.search(fields[place]) for place in differs)


@pytest.mark.parametrize(("name", "tied"), [("control", True), ("stack", False)])
def test_a_search_for_hard_rows_goes_through_the_whole_table(
    traces: DeviceTraces, monkeypatch: pytest.MonkeyPatch, name: str, tied: bool
) -> None:
    monkeypatch.setattr("tapeformer.learning.hard_rows.SEARCHED", 7)
    model = LevelModel(traces.fields, tied, [0, 1], 8, 1)
    table = collected([traces], model.copies_of, [name])[name].table
    block = model.block(name)
    hard = HardRows(block, table, 4, 0, torch.float32)
    counts = table.counts(block.copies).tolist()
    starts = table.starts(block.copies).tolist()
    for number in range(2 * -(-max(counts) // 7)):
        hard.search(number)
    assert hard.found is not None
    for copy, (start, count) in enumerate(zip(starts, counts, strict=True)):
        own = slice(start, start + count)
        with torch.no_grad():
            losses = block.scores(table.inputs[own], table.outputs[own], copy)[0]
        found = hard.found[:, copy] - start
        most = min(4, count)
        assert torch.allclose(losses.gather(1, found)[:, :most], losses.topk(most, 1).values)
        assert all(len(set(rows.tolist())) == most for rows in found)
