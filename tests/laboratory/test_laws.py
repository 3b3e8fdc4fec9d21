"""What grows with the time, what with the space, and what not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tapeformer.bench.laws import measured_laws
from tapeformer.cli.app import app
from tapeformer.laboratory.laws import fits


def test_precision_follows_time_in_some_rows_and_space_in_others() -> None:
    names = ["merrill_sabharwal", "bavandpour", "constant"]
    points = measured_laws(names, 64, lambda _: None)
    slopes = {
        fit["row"]: fit["bits per doubling of t"]
        for fit in fits(points)
        if fit["workload"] == "fixed space"
    }
    assert slopes["merrill_sabharwal"] > 4
    assert slopes["bavandpour"] == 0
    assert slopes["constant"] == 0


def test_the_laws_are_written_with_a_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    arguments = ["bench", "laws", "--rows", "bavandpour", "--largest", "64", "-o", str(tmp_path)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert {"laws.md", "laws.png", "laws_fits.csv"} <= {file.name for file in tmp_path.iterdir()}
