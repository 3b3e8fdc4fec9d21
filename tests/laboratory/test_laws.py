"""What grows with the time, what with the space, and what not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tapeformer.bench.laws import FIXED_SPACE, FIXED_TIME, measured_laws
from tapeformer.cli.app import app
from tapeformer.laboratory.laws import fits


def test_precision_follows_time_in_some_rows_and_space_in_others(tmp_path: Path) -> None:
    names = ["merrill_sabharwal", "bavandpour", "bhattamishra", "constant"]
    said: list[str] = []
    kept = tmp_path / "points.jsonl"
    points = measured_laws(names, 64, said.append, kept=kept)
    found = {fit["row"]: fit for fit in fits(points, FIXED_SPACE, FIXED_TIME)}
    laws = {row: fit["law"] for row, fit in found.items()}
    assert laws == dict(zip(names, ("log t", "log s", "s", "constant"), strict=True))
    assert found["merrill_sabharwal"]["bits per doubling of t"] > 4
    assert found["bhattamishra"]["bits per cell"] > 2
    assert said
    said.clear()
    assert measured_laws(names, 64, said.append, kept=kept) == points
    assert not said


def test_the_laws_are_written_with_a_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    arguments = ["bench", "laws", "--rows", "bavandpour", "--largest", "64", "-o", str(tmp_path)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert {"laws.md", "laws.png", "laws_fits.csv"} <= {file.name for file in tmp_path.iterdir()}
