"""The picture of the README is what the program draws today."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from tapeformer.cli.demo import picture
from tapeformer.drawing.chain import chain_svg
from tapeformer.simulator.outcome import Tape
from tapeformer.simulator.result import Configuration

SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_of_the_readme_is_up_to_date() -> None:
    kept = Path(__file__).parent.parent.parent / "docs" / "chain_of_thought.svg"
    assert kept.read_text(encoding="utf-8") == picture()


def test_rows_cells_and_arcs() -> None:
    tapes = [Tape(("<",), 0), Tape(("<", "b"), -1), Tape((), 0)]
    rows = [(n + 5, Configuration(n, f"s{n}", (tape,))) for n, tape in enumerate(tapes)]
    root = ElementTree.fromstring(chain_svg(rows, (1, 2, 9), "a & b"))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"5", "6", "7", "s0", "s2", "<", "b", "1", "2"} <= set(texts)
    assert "9" not in texts
    heads = [cell for cell in root.iter(f"{SVG}rect") if cell.get("class") == "head"]
    assert len(heads) == len(rows)
