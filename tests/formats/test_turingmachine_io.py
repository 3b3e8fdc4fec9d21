"""turingmachine.io's YAML: texts stay texts, list keys work, `accept` is only a name."""

from __future__ import annotations

import pytest

from tapeformer import Outcome, TapeformerError, loads, simulate
from tapeformer.formats import recognise

INCREMENT = """\
# adds one
input: 010
blank: ' '
start state: right
synonyms:
  stop: {R: on}
table:
  right:
    [0, 1]: R
    ' ': {L: carry}
  carry:
    1: {write: 0, L}
    [0, ' ']: {write: 1, L: done}
  done:
    [0,1]: stop
    ' ': stop
  on:
"""


def test_scalars_are_texts() -> None:
    machine = loads(INCREMENT)
    assert machine.default_word == ("0", "1", "0")
    assert "on" in machine.states
    assert machine.halting == {"on"}
    result = simulate(machine, machine.default_word)
    assert machine.spell(result.tapes[0].content) == "011"
    assert result.outcome is Outcome.HALT


def test_it_is_recognised() -> None:
    assert recognise(INCREMENT) == "turingmachine.io"


def test_accept_is_only_a_name() -> None:
    machine = loads("blank: _\nstart state: a\ntable:\n  a: {1: {R: accept}}\n  accept:\n")
    assert machine.accepting == frozenset()
    assert simulate(machine, ("1",)).outcome is Outcome.HALT


def test_a_missing_rule_halts() -> None:
    result = simulate(loads(INCREMENT.replace("    ' ': {L: carry}\n", "")), ("1",))
    assert (result.outcome, result.state, result.steps) == (Outcome.HALT, "right", 1)


def test_the_sites_saved_documents_are_read_with_their_lines() -> None:
    inner = "".join("  " + line + "\n" for line in INCREMENT.splitlines())
    saved = f"name: add one\nsource code: |\n{inner}positions:\n  right: {{x: 1, y: 2}}\n"
    machine = loads(saved, "saved.yaml")
    assert machine.name == "add one"
    assert machine.rules == loads(INCREMENT).rules
    with pytest.raises(TapeformerError, match=r"saved\.yaml:12:.*'carr'"):
        loads(saved.replace("{L: carry}", "{L: carr}"), "saved.yaml")


def test_a_symbol_list_may_be_written_without_brackets() -> None:
    machine = loads("blank: _\nstart state: a\ntable:\n  a:\n    0,1: R\n    _: {L: b}\n  b:\n")
    assert {rule.read for rule in machine.rules} == {("0",), ("1",), ("_",)}


@pytest.mark.parametrize(
    ("change", "line", "text"),
    [
        (("blank: ' '\n", ""), 1, "there is no `blank`"),
        (("start state: right\n", ""), 1, "there is no `start state`"),
        (("{L: carry}", "{L: cary}"), 10, "state 'cary' has no row"),
        (("[0, 1]: R", "[0, 1]: X"), 9, "an instruction; expected 1 of L, R, S, or a synonym"),
        (("{write: 0, L}", "{write: 0}"), 12, "an instruction's move; expected one of L, R, S"),
        (("{write: 0, L}", "{wrote: 0, L}"), 12, "got 'wrote'"),
        (("  on:\n", "  on: 7\n"), 17, "the row of state 'on'"),
        (("table:", "tables:"), 1, "there is no table of rules"),
        (("[0, 1]: R", "[0, [1]]: R"), 9, "what a rule reads"),
        (("  on:\n", "  on:\n  right:\n"), 18, "state 'right' has two rows"),
        (("[0, 1]: R", "[0, 1: R"), 10, "not readable as YAML"),
        (("[0, 1]: R", "!!python/name:os.system 0: R"), 9, "not allowed here"),
    ],
)
def test_errors_name_the_line(change: tuple[str, str], line: int, text: str) -> None:
    with pytest.raises(TapeformerError) as caught:
        loads(INCREMENT.replace(*change), "m.yaml", "turingmachine.io")
    messages = [str(fault) for fault in caught.value.faults]
    assert any(m.startswith(f"m.yaml:{line}:") and text in m for m in messages), messages


def test_all_errors_are_told_at_once() -> None:
    text = INCREMENT.replace("[0, 1]: R", "[0, 1]: X").replace("{write: 0, L}", "{write: 0}")
    with pytest.raises(TapeformerError) as caught:
        loads(text, "m.yaml")
    assert len(caught.value.faults) == 2
