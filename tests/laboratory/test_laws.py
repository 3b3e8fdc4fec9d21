"""What grows with the time, what with the space, and what not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import tapeformer as tf
from tapeformer.bench.laws import SPACES, measured_laws
from tapeformer.cli.app import app
from tapeformer.laboratory.laws import Workload, fits, point
from tapeformer.laboratory.registry import find_row


def fitted(name: str) -> dict[str, Any]:
    """Fit a row on a counter: growing time on three digits, growing space in sixteen steps."""
    machine = tf.gallery_machine("binary_counter")
    works = [Workload("time", machine, ("0",) * 3, t) for t in (8, 16, 30)]
    works += [Workload("space", machine, ("0",) * n, 16) for n in (4, 8, 12)]
    points = [point(find_row(name), work) for work in works]
    (fit,) = fits([one for one in points if one is not None], "time", "space")
    return fit


def test_precision_follows_the_time_where_cells_are_compared_by_means() -> None:
    fit = fitted("merrill_sabharwal")
    assert fit["law"] == "log t"
    assert fit["bits per doubling of t"] > 4


def test_precision_follows_the_space_where_the_tape_is_a_number() -> None:
    fit = fitted("bhattamishra")
    assert fit["law"] == "s"
    assert fit["bits per cell"] > 2


def test_points_without_growth_are_a_constant() -> None:
    points = [
        {"row": "r", "series": s, "t": n, "prefix": 0, "s": n, "bits": 3}
        for s in "ab"
        for n in (4, 8, 12)
    ]
    assert fits(points, "a", "b")[0]["law"] == "constant"
    assert fits(points[:2], "a", "b")[0]["law"] == "not told"


def test_the_laws_are_written_with_a_plot_and_resumed(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    arguments = ["bench", "laws", "--rows", "pencil", "--largest", "16", "-o", str(tmp_path)]
    kept = tmp_path / "points.jsonl"
    cut = "".join(f'[["pencil", "fixed time", {n}], null]\n' for n in SPACES)
    kept.write_text(cut + '["cut sho')
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert {"laws.md", "laws.png", "laws_fits.csv"} <= {file.name for file in tmp_path.iterdir()}
    measured = kept.read_text()
    assert measured.startswith(cut)
    assert '"bits": ' in measured
    again: list[str] = []
    assert len(measured_laws(["pencil"], 16, again.append, kept=kept)) == 1
    assert not again
