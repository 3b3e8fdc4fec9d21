"""Pages, tables and plots: they are written, linked, and can be read back."""

from __future__ import annotations

import csv
import platform
import re
from pathlib import Path

from tapeformer.bench import plots
from tapeformer.bench.report import Section, hardware, markdown, write_report

RATE = {
    "machine": "m, 1 tape",
    **{"tokens per second": 5.0, "least tokens": 4.0, "most tokens": 7.0},
    **{"steps per second": 5.0, "least steps": 4.0, "most steps": 7.0},
}
COSTS = [
    {
        "tokens": n,
        "ns per token": 900.0,
        "lower quartile": 800.0,
        "upper quartile": 999.0,
        "peak MB": 300.0,
    }
    for n in (10**4, 10**5)
]


def test_every_plot_is_written(tmp_path: Path) -> None:
    none = dict.fromkeys(("tokens per second", "least tokens", "most tokens"))
    rows = [{**RATE, "what": "tapeformer native"}, {**RATE, **none, "what": "automata-lib DTM"}]
    written = plots.speeds(tmp_path, rows)
    written += plots.costs(tmp_path, "scale_tokens", COSTS, "tokens", ("ns per token", "peak MB"))
    written += plots.pace(tmp_path, [{"tokens": 10, "tokens per second": 2.0}])
    assert written == ["speed.png", "scale_tokens.png", "bb5_pace.png"]
    for name in written:
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / name).with_suffix(".svg").read_text(encoding="utf-8")


def test_a_page_links_its_plots_and_its_tables_can_be_read_back(tmp_path: Path) -> None:
    section = Section("First token", "Text.", [{"a": 1, "b": 2.5}, {"a": 3, "b": None}], ["p.png"])
    page = write_report(tmp_path, "speed", "tapeformer bench speed", [section])
    text = page.read_text(encoding="utf-8")
    assert "![p.png](p.png)" in text
    assert "`tapeformer bench speed`" in text
    assert hardware() in text
    with (tmp_path / "speed_first_token.csv").open(encoding="utf-8") as file:
        assert list(csv.DictReader(file)) == [{"a": "1", "b": "2.5"}, {"a": "3", "b": ""}]


def test_numbers_are_shown_plainly() -> None:
    row = {"n": 1_000_000, "x": 23_456.7, "small": 0.012345, "yes": True, "none": None}
    assert markdown([row]).splitlines()[-1] == "| 1,000,000 | 23,457 | 0.01235 | yes |  |"


def test_hardware_names_what_speed_depends_on_but_not_the_machine() -> None:
    text = hardware()
    for part in ("cores", "Python", "numpy", "torch", "llvmlite", "automata-lib"):
        assert part in text
    assert platform.node() not in re.findall(r"[\w.-]+", text)
