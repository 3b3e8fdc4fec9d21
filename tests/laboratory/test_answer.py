"""`run` and `verify` with rows: answers decoded from generated tokens, and where they go wrong."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import tapeformer as tf
from tapeformer.cli.app import app
from tapeformer.laboratory.answer import RowRun
from tapeformer.laboratory.registry import find_row, row_names
from tapeformer.laboratory.runnable import find_runnable
from tests.laboratory.cases import random_case

GENERATING = [name for name in row_names() if find_row(name).construction is None]
QUICK = [name for name in GENERATING if find_row(name).longest is None]


def invoked(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.output


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("seed", [1, 4])
def test_generated_answers_are_those_of_the_simulation(name: str, seed: int) -> None:
    machine, word = random_case(seed)
    expected = tf.simulate(machine, word, max_steps=30)
    answer = RowRun(find_row(name), machine, word, 62, 30).answer()
    assert (answer.outcome, answer.state, answer.steps) == (
        expected.outcome,
        expected.state,
        expected.steps,
    )
    assert answer.tapes == expected.tapes
    assert answer.wrong is None


def test_a_program_in_the_prompt_is_generated_to_its_end() -> None:
    machine = tf.gallery_machine("busy_beaver_2")
    answer = RowRun(find_row("qiu"), machine, (), 62).answer()
    assert (answer.steps, answer.outcome.value) == (6, "halt")
    assert answer.tapes == tf.simulate(machine, ()).tapes


def test_a_circuit_is_generated_to_its_end() -> None:
    machine = tf.gallery_machine("busy_beaver_2")
    answer = RowRun(find_row("li_liu_zhou_ma"), machine, (), 62, 3).answer()
    assert answer.steps == 3
    assert answer.tapes == tf.simulate(machine, (), max_steps=3).tapes


def test_run_says_where_it_went_wrong_and_why() -> None:
    status, text = invoked(
        *("run", "unary_to_binary", "||||||||", "--construction", "perez", "--precision", "half"),
        "--json",
    )
    answer = json.loads(text)
    assert status == 1
    assert answer["first_wrong"] == 61
    assert "'last write, tape 1'" in answer["reason"]
    assert "tied" in answer["reason"]


def test_verify_takes_rows() -> None:
    assert invoked("verify", "left_end", "ab", "--construction", "pencil")[0] == 0
    status, text = invoked(
        *("verify", "palindrome", "abba", "--construction", "merrill_sabharwal"),
        *("--precision", "12"),
    )
    assert status == 1
    assert "DIFFERENT step" in text


def test_names_of_rows_and_constructions_are_one_registry() -> None:
    assert find_runnable(None).construction == "realtime"
    assert find_runnable("constant").construction == "post"
    assert find_runnable("li_wang").construction == "paper"
    assert find_runnable("pencil").row is find_row("pencil")
    with pytest.raises(tf.TapeformerError, match="did you mean perez"):
        find_runnable("pere")


def test_a_precision_is_for_rows_only() -> None:
    result = CliRunner().invoke(app, ["run", "palindrome", "abba", "--precision", "8"])
    assert isinstance(result.exception, tf.TapeformerError)
    assert "exact integers" in str(result.exception)
