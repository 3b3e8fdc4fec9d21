"""`tapeformer bench`: pages, tables and plots in the folder asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapeformer.bench import (
    beaver,
    contests,
    engine_cost,
    figures,
    many_inputs,
    speed,
    theorem,
    theorem_form,
)
from tapeformer.bench.report import Row
from tapeformer.cli import bench
from tapeformer.engines.registry import ENGINES
from tapeformer.faults import TapeformerError
from tests.bench.test_speed import COUNTER, QUICK
from tests.cli.test_commands import tapeformer


@pytest.fixture
def few_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write rows that are not measured: `tests/bench/test_many_inputs.py` measures them."""
    rows: list[Row] = [
        {
            "engine": engine,
            "inputs": inputs,
            "seconds end to end": 1.0,
            "us per input": 1e6 / inputs,
            "tokens per second": rate,
        }
        for engine, rates in {"sparse": (20.0, 20.0), "native": (10.0, 40.0)}.items()
        for inputs, rate in zip((1, 4), rates, strict=True)
    ]
    monkeypatch.setattr(many_inputs, "many_inputs", lambda *_: rows)


@pytest.mark.usefixtures("few_inputs")
def test_speed_writes_all_that_it_promises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(contests, "CONTESTS", (COUNTER,))
    monkeypatch.setattr(speed, "Patience", lambda: QUICK)
    bench.speed(tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    sections = ("summary", "rates", "first_token", "inputs", "crossings")
    plots = {"speed.png", "speed.svg", "inputs.png", "inputs.svg"}
    assert names == {f"speed_{name}.csv" for name in sections} | plots | {"speed.md"}
    table = capsys.readouterr().out.split("\n\n")[0]
    assert table in (tmp_path / "speed.md").read_text(encoding="utf-8")
    assert "3 at once" in table


@pytest.mark.usefixtures("few_inputs")
def test_scale_writes_both_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {
        "tokens": 10,
        "window": 64,
        "ns per token": 5.0,
        "lower quartile": 4.0,
        "upper quartile": 6.0,
    }
    monkeypatch.setattr(engine_cost, "token_costs", lambda *_: [{**row, "peak MB": 1.0}])
    monkeypatch.setattr(engine_cost, "later_costs", lambda *_: [row])
    monkeypatch.setattr(engine_cost, "window_costs", lambda *_: [row])
    bench.scale(tmp_path)
    text = (tmp_path / "scale.md").read_text(encoding="utf-8")
    for plot in ("scale_tokens.png", "scale_window.png"):
        assert f"![{plot}]" in text
        assert (tmp_path / plot).exists()


def test_bb5_compares_its_first_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"outcome": "halt", "steps": 1}

    def run(pace: beaver.Pace) -> dict[str, object]:
        for tokens in (0, 10, 20):
            pace(tokens)
        return row

    monkeypatch.setattr(beaver, "beaver_to_its_end", run)
    model = beaver.beaver_model(levels=4)
    monkeypatch.setattr(beaver, "beaver_model", lambda: model)
    bench.bb5(tmp_path, compare=30)
    text = (tmp_path / "bb5.md").read_text(encoding="utf-8")
    assert "| native, sparse | 30 | yes |" in text
    assert "![bb5_pace.png]" in text


@pytest.mark.parametrize("command", ["theorem", "speed", "scale", "bb5"])
def test_a_folder_that_cannot_be_written_is_refused_before_measuring(
    tmp_path: Path, command: str
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TapeformerError, match="the report cannot be written"):
        getattr(bench, command)(tmp_path / "file" / "folder")


def test_an_unknown_engine_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "theorem"
    done = tapeformer("bench", "theorem", "--engine", "foo", "-o", str(folder))
    assert (done.returncode, done.stderr.count("\n"), done.stdout) == (2, 1, "")
    assert "there is no engine" in done.stderr
    assert not folder.exists()


def _few_histograms(_engine: str) -> list[Row]:
    model = theorem_form.Model("realtime", 7, 2)
    return [theorem_form.single_steps(model, "sparse", "fill_and_drain", 16)]


def _speedup() -> Row:
    (row,) = theorem_form.steps_per_token((2,))
    assert row["tokens per step"] == 0.5
    return row


def test_theorem_writes_every_section(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[object] = []
    speedup = _speedup()
    few = [theorem.Point("fill_and_drain", "paper", 2, space) for space in (16, 32)]
    monkeypatch.setattr(theorem, "points", lambda _: few)
    monkeypatch.setattr(theorem_form, "LEVELS", range(1, 4))
    monkeypatch.setattr(theorem_form, "SPACE", 16)
    monkeypatch.setattr(theorem_form, "histograms", _few_histograms)
    monkeypatch.setattr(theorem_form, "steps_per_token", lambda: [speedup])
    monkeypatch.setattr(figures, "drawn", figures.queues_of_a_stack)

    def costs(*given: object) -> list[dict[str, object]]:
        asked.extend(word for word in given if word in ENGINES)
        return [{"window": 64, "ns per token": 5.0}]

    monkeypatch.setattr(engine_cost, "token_costs", costs)
    monkeypatch.setattr(engine_cost, "later_costs", costs)
    monkeypatch.setattr(engine_cost, "window_costs", costs)
    bench.theorem(tmp_path)
    text = (tmp_path / "theorem.md").read_text(encoding="utf-8")
    assert asked == ["sparse", "sparse"]
    assert all(f"## {title}" in text for title in ("Levels", "Single steps", "Window"))
    assert {"theorem_form.png", "single_steps.png", "figure_1.png"} <= {
        p.name for p in tmp_path.iterdir()
    }
    assert text.count("| yes |") == 1
    assert capsys.readouterr().out.split("\n\n")[0] in text


def test_a_number_of_tokens_below_zero_gives_one_message() -> None:
    done = tapeformer("bench", "bb5", "--compare", "-1")
    assert done.returncode == 2
    assert "--compare" in done.stderr
    assert "Traceback" not in done.stderr
