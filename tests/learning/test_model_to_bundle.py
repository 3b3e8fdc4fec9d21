"""A trained model as a bundle: the same tokens, and every command takes it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import tapeformer as tf
from tapeformer import export
from tapeformer.bundle.record import Bundle
from tapeformer.compile.options import CompileOptions
from tapeformer.engines.sparse import Engine
from tapeformer.explorer.session import Session
from tapeformer.export.card import Card
from tapeformer.inference.batch.run import batch_options
from tapeformer.inference.generation import Generation
from tapeformer.inference.model import LEARNED_TOKENS, find_model
from tapeformer.inference.options import RunOptions
from tapeformer.inference.run import limits_for
from tapeformer.learning.fields import TokenFields
from tapeformer.learning.level_model import LevelModel
from tapeformer.learning.model_to_bundle import bundle_of
from tapeformer.learning.prepare import factors_of
from tapeformer.learning.situations import BLOCKS, Reader

CPU, LEVELS = torch.device("cpu"), 4


@pytest.fixture(scope="module")
def compiled() -> Bundle:
    return find_model("palindrome", CompileOptions(levels=LEVELS)).for_words(0)


@pytest.fixture(scope="module")
def model(compiled: Bundle) -> LevelModel:
    return LevelModel(_fields(compiled), False, [3], 12, 2)


@pytest.fixture(scope="module")
def bundle(compiled: Bundle, model: LevelModel) -> Bundle:
    return bundle_of(model, _fields(compiled), compiled, "nothing")


def _fields(compiled: Bundle) -> TokenFields:
    return TokenFields(factors_of(compiled), LEVELS)


def _said(model: LevelModel, fields: TokenFields, tokens: torch.Tensor) -> np.ndarray:
    """What the blocks say after each of some tokens."""
    at = torch.arange(len(tokens) - 1)
    said = torch.zeros(len(at), len(fields.factors), dtype=torch.long)
    for name in BLOCKS:
        reader = Reader(fields, name, CPU)
        rows, _ = reader.rows(tokens, at, torch.zeros_like(at))
        for number, view in enumerate(reader.views):
            copy = int(model.copies_of(name)(torch.tensor([view.level]))[0])
            values = model.block(name).values(rows[number], copy)[0]
            for place, slot in enumerate(view.outputs):
                if slot.column >= 0:
                    said[:, slot.column] = values[:, place]
    return said.numpy()


def test_a_bundle_says_what_the_blocks_say(
    compiled: Bundle, model: LevelModel, bundle: Bundle
) -> None:
    rows = [token.ids for token in tf.stream(compiled, "abbab")][:40]
    fields = _fields(compiled)
    expected = _said(model, fields, torch.tensor(rows))
    same = []
    for place in range(len(rows) - 1):
        made = Engine(bundle.weights, bundle.offsets)
        made.prompt(rows[: place + 1])
        same.append(made.advance(1)[0] == expected[place])
    share = float(np.mean(same))
    assert share > 0.999, share


def test_a_batch_ends_where_a_single_run_does(bundle: Bundle) -> None:
    assert batch_options(bundle, RunOptions()).max_tokens == LEARNED_TOKENS
    assert batch_options(bundle, RunOptions(max_tokens=7)).max_tokens == 7
    generation = Generation(bundle, ("a",), "sparse")
    assert limits_for(generation, RunOptions()).max_tokens == LEARNED_TOKENS


def test_every_command_takes_it(bundle: Bundle, tmp_path: Path) -> None:
    folder = tmp_path / "learned"
    bundle.save(folder)
    loaded = tf.load_bundle(folder)
    first = next(tf.stream(folder, "ab"))
    assert first.number == 1
    assert loaded.learned == "nothing"
    report = tf.verify(folder, "ab")[0]
    assert report.difference is not None
    assert report.difference.token == 1
    with pytest.raises(tf.TapeformerError, match="rounded in float32"):
        export.torch_module(folder)
    module = export.torch_module(folder, dtype="float64")
    assert module.shape.d_model == len(bundle.weights.fields)


def test_a_card_says_trained_or_compiled(bundle: Bundle, compiled: Bundle) -> None:
    trained, exact = (Card(model, "float64").text([]) for model in (bundle, compiled))
    assert "trained on chains of thought (nothing): answers may be wrong" in trained
    assert "trained, not compiled" in trained
    assert "exact Transformer" not in trained
    assert "Compiled to an exact Transformer" in exact


def test_the_explorer_marks_the_first_wrong_token(bundle: Bundle) -> None:
    model = find_model(bundle)
    session = Session(model.machine, model, ("a", "b"), limit=4)
    session.record()
    assert session.recording is not None
    progress = session.recording.progress
    assert progress.difference == progress.prompt
