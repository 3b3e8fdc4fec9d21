"""Morphett's format: wildcards and their priority, halting names, breakpoints, the tape line."""

from __future__ import annotations

import pytest

from tapeformer import Conventions, Outcome, TapeformerError, loads, simulate
from tapeformer.formats import recognise

COPY = """\
;$INITIAL_TAPE: 110
; a comment
0 1 x r find   ; another
0 _ _ * halt-accept
find * * r find
find _ y * HALTED !
"""


def test_halting_names_stay_moves_breakpoints_and_the_tape_line() -> None:
    machine = loads(COPY)
    assert machine.halting == {"halt-accept", "HALTED"}
    assert machine.default_word == ("1", "1", "0")
    result = simulate(machine, machine.default_word)
    assert (result.outcome, result.state, result.steps) == (Outcome.HALT, "HALTED", 4)
    assert machine.spell(result.tapes[0].content) == "x10y"


def test_recognised() -> None:
    assert recognise(COPY) == "morphett"


def test_priority_exact_then_state_then_symbol_then_neither() -> None:
    text = "* * 4 r halt\n* a 3 r halt\nq * 2 r halt\nq a 1 r halt\n0 z z l q\np z z l q\n"
    machine = loads(text)
    written = {(r.state, r.read[0]): r.write[0] for r in machine.rules}
    assert written["q", "a"] == "1"
    assert written["q", "z"] == "2"
    assert written["p", "a"] == "3"
    assert written["p", "_"] == "4"
    assert written["p", "z"] == "z"


def test_a_wildcard_matches_blank_unless_told_otherwise() -> None:
    text = "0 * * r 0\n0 1 1 r halt\n"
    assert simulate(loads(text), max_steps=9).steps == 9
    strict = loads(text, conventions=Conventions(wildcard_matches_blank=False))
    assert simulate(strict, max_steps=9).steps == 0


def test_a_star_keeps_symbol_and_state() -> None:
    machine = loads("0 * * r *\n0 _ _ l halt\n")
    assert all(rule.next_state == "0" for rule in machine.rules if rule.read != ("_",))


def test_no_rule_halts() -> None:
    result = simulate(loads("0 1 1 r 0\n"), ("1",))
    assert (result.outcome, result.steps) == (Outcome.HALT, 1)


def test_symbols_that_only_wildcards_read() -> None:
    machine = loads("0 * * r 0\n0 _ _ l halt\n", conventions=Conventions(symbols=("z",)))
    assert simulate(machine, ("z", "z")).steps == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1 1 r\n0 1 1 r 0\n", r"m:1: error: not a rule.*got 4 fields"),
        ("0 1 1 up 0\n", r"m:1: error: unknown move 'up'; expected one of l, r, \*"),
        ("0 11 1 r 0\n", r"m:1: error: the symbol '11' has several characters"),
        ("; nothing\n", r"no rules"),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(TapeformerError, match=message):
        loads(text, "m", "morphett")
