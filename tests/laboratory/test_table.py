from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tapeformer as tf
from tapeformer.cli.app import app
from tapeformer.laboratory import rows
from tapeformer.laboratory.arithmetic import Rounded
from tapeformer.laboratory.measure import Measurement, least_bits
from tapeformer.laboratory.registry import find_row, find_rows
from tapeformer.laboratory.table import KEYS, Asked, measured
from tests.laboratory.cases import gallery_case

FILE = Path(__file__).parent.parent.parent / "examples" / "ones.jff"


def invoked(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["table1", *arguments])
    return result.exit_code, result.output


def test_json_has_the_keys_of_every_row(tmp_path: Path) -> None:
    file = tmp_path / "ones.jff"
    shutil.copy(FILE, file)
    status, text = invoked(str(file), "1100", "--rows", "perez,constant", "--steps", "20", "--json")
    rows = json.loads(text)
    assert status == 0
    assert [row["row"] for row in rows] == ["perez", "constant"]
    assert all(tuple(row) == KEYS and row["equal"] for row in rows)


def test_a_row_says_what_it_cannot_take_and_the_others_run() -> None:
    machine = tf.gallery_machine("palindrome_two_tapes")
    asked = Asked(find_rows(["pencil", "perez"]), machine, tuple("abba"), 30)
    refused, taken = measured(asked)
    assert not refused.equal
    assert "one tape" in refused.reason
    assert taken.equal


def test_our_row_makes_several_steps_in_a_token() -> None:
    lengths = []
    for count in (1, 2):
        (row,) = find_rows(["realtime"], count)
        experiment = row.experiment(row.task(tf.gallery_machine("busy_beaver_2"), (), 20))
        assert experiment.first_wrong(Rounded(12)) is None
        lengths.append(experiment.lengths().tokens)
    assert lengths[1] < lengths[0]


def test_a_machine_that_a_row_cannot_take_is_told_in_that_row() -> None:
    status, text = invoked("palindrome_two_tapes", "ab", "--rows", "qiu,bavandpour", "--json")
    refused, taken = json.loads(text)
    assert status == 0
    assert refused["reason"] == "qiu has one tape"
    assert taken["equal"]


def test_rows_are_kept_and_not_measured_again(tmp_path: Path) -> None:
    asked = Asked(find_rows(["perez"]), *gallery_case("binary_increment"), 20)
    kept = tmp_path / "rows.jsonl"
    first = list(measured(asked, kept))
    kept.write_text(kept.read_text().replace('"steps": ', '"steps": 1000') + '{"key": "cut sho')
    (again,) = measured(asked, kept)
    assert again.steps == int(f"1000{first[0].steps}")


def test_the_least_precision_is_scanned_from_above() -> None:
    """11, 14 and 20 bits are right by luck here, as larger ones between them are not."""
    row = find_row("perez")
    least, why = least_bits(row.experiment(row.task(*gallery_case("unary_to_binary"), 260)))
    assert least == 22
    assert "21 bits" in why


def test_an_interrupted_table_has_the_rows_that_are_complete() -> None:
    asked = Asked(find_rows(["constant", "perez"]), *gallery_case("binary_increment"), 10)
    calls: list[int] = []

    def watch(done: int) -> bool:
        calls.append(done)
        return len(results) == 0

    results: list[Measurement] = []
    for result in measured(asked, watch=watch):
        results.append(result)
    assert [result.row for result in results] == ["constant"]


def test_a_page_tables_and_plots_are_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    status, text = invoked("binary_increment", "101", "--rows", "perez", "-o", str(tmp_path))
    assert status == 0
    assert "written to" in text
    names = {file.name for file in tmp_path.iterdir()}
    assert {"table1.md", "table1_as_measured.csv", "table1.png", "rows.jsonl"} <= names


def test_runs_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    names = "bavandpour,bhattamishra"
    drawn = CliRunner().invoke(app, ["bench", "rows", "--rows", names, "-o", str(tmp_path)])
    assert drawn.exit_code == 0
    assert {file.name for file in tmp_path.iterdir()} == {"bavandpour.png", "bhattamishra.png"}


def test_a_row_that_does_not_exist_is_refused_with_the_nearest() -> None:
    with pytest.raises(tf.TapeformerError, match="did you mean perez"):
        find_rows(["peres"])


TOY = """
from dataclasses import replace
from fractions import Fraction
from functools import partial

from tapeformer.laboratory.rows import perez

ROW = replace(
    perez.ROW,
    name="toy",
    title="Perez et al., another tie-break",
    provenance="a toy",
    experiment=partial(perez.experiment, tie_break=Fraction(1, 4)),
)
"""


def test_a_further_row_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "toy.py").write_text(TOY)
    monkeypatch.setattr(rows, "__path__", [*rows.__path__, str(tmp_path)])
    status, text = invoked("binary_increment", "101", "--rows", "toy", "--json")
    assert status == 0
    assert json.loads(text)[0]["row"] == "toy"
    assert json.loads(text)[0]["equal"]
