"""The exported module predicts every token of a dataset, and no longer once a weight is changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import torch

from tapeformer.engines.transformer import Transformer
from tapeformer.export import torch_module
from tapeformer.export.dataset import DatasetOptions, write_dataset
from tapeformer.export.dataset.teacher_forcing import teacher_forced_loss


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("traces")
    write_dataset(["palindrome"], path, DatasetOptions(count=40, lengths=(0, 8), mirrored=0.5))
    return path / "palindrome"


def rows_of(folder: Path) -> list[dict[str, Any]]:
    shards = sorted(folder.glob("*.parquet"))
    return [row for path in shards for row in pq.read_table(path).to_pylist()]


def test_the_loss_is_zero(folder: Path) -> None:
    module = torch_module(folder / "model", attention="offsets")
    with torch.no_grad():
        assert float(teacher_forced_loss(module, rows_of(folder))) < 1e-6


@pytest.mark.parametrize("name", ["embed.weight", "blocks.0.attn.v.weight", "unembed.weight"])
def test_one_changed_sign_shows(folder: Path, name: str) -> None:
    module = torch_module(folder / "model", attention="offsets")
    flip_a_sign(module, name, rows_of(folder)[:8])
    with torch.no_grad():
        assert float(teacher_forced_loss(module, rows_of(folder))) > 1e-3


def flip_a_sign(module: Transformer, name: str, rows: list[dict[str, Any]]) -> None:
    """Flip the weight that the loss depends on most, to first order."""
    weight = module.get_parameter(name)
    (slope,) = torch.autograd.grad(teacher_forced_loss(module, rows, scale=1.0), weight)
    with torch.no_grad():
        at = int((weight * slope).abs().argmax())
        weight.view(-1)[at] *= -1
