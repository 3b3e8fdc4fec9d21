"""`run` and `verify` with rows: answers decoded from generated tokens, and where they go wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

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


KEYS = (
    "machine construction engine outcome state steps tapes heads levels base capacity prompt_tokens"
    " boot_tokens cot_tokens window offsets attention_heads layers ff_depth d_model parameters"
    " nonzero_parameters parameter_bits margin seconds tokens_per_second first_wrong reason"
)


@pytest.mark.parametrize("name", ["perez", "bhattamishra", "pencil"])
def test_run_has_the_keys_of_a_compiled_models_answer(name: str, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    command = ("run", "binary_increment", "1011", "--construction", name, "--json")
    status, text = invoked(*command, "--trace", str(trace))
    answer = json.loads(text)
    assert status == 0
    assert set(KEYS.split()) <= answer.keys()
    expected = json.loads(invoked("simulate", "binary_increment", "1011", "--json")[1])
    for key in ("outcome", "state", "steps", "tapes", "heads"):
        assert answer[key] == expected[key]
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    assert len(lines) == answer["cot_tokens"] > answer["boot_tokens"] > 0 or name == "pencil"
    assert all(isinstance(part, str) for line in lines for part in line)


def test_tokens_are_shown_with_the_tapes_that_they_leave() -> None:
    status, text = invoked("run", "binary_increment", "101", "--construction", "pencil", "--show")
    assert status == 0
    assert "token 1: " in text
    assert "step 1, state" in text
    assert text.count("token ") >= 5


def test_options_of_compiled_models_are_refused() -> None:
    for option in (["--batch", "words"], ["--levels", "3"], ["--engine", "native"]):
        result = CliRunner().invoke(
            app, ["run", "palindrome", "abba", "--construction", "perez", *option]
        )
        assert isinstance(result.exception, tf.TapeformerError)
        assert f"perez has no {option[0]}" in str(result.exception)


def test_a_run_says_which_limit_it_came_to() -> None:
    machine = tf.gallery_machine("binary_counter")
    asked = RowRun(find_row("bavandpour"), machine, ("0",) * 9, 62, 1500)
    assert asked.task.steps == 1500
    assert RowRun(find_row("bavandpour"), machine, ("0",) * 9, 62).task.steps == 1000
    narrow = replace(find_row("qiu"), context=200)
    run = RowRun(narrow, tf.gallery_machine("busy_beaver_3"), (), "half")
    short = run.answer(lambda _, tokens: len(tokens) < 20)
    assert short.outcome is tf.Outcome.LIMIT
    assert short.wrong is not None
    assert "the context of 200 tokens" in short.note


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
