"""tapeformer's YAML: several tapes, wildcards, roles, cases."""

from __future__ import annotations

import pytest

from tapeformer import AcceptOn, Outcome, TapeformerError, TapeKind, loads, simulate
from tapeformer.formats import OWN_FORMAT

COMPARE = """\
name: compare
description: Copies tape 1 to tape 2.
tapes: 2
tape kind: one-way
blank: _
start state: copy
accept: yes
reject: [no]
accept on: halt
no rule: reject
input symbols: [a, b]
table:
  copy:
    [[a, b], _]: {write: [~, x], move: RR}
    [_, ~]: {move: [S, L], to: yes}
  yes:
    "_x": {write: _y, move: SS}
cases:
  - {input: ab, outcome: accept, state: yes, steps: 4, tapes: [ab, xy]}
  - {input: '', outcome: accept, steps: 1}
"""


def test_all_keys() -> None:
    machine = loads(COMPARE)
    assert (machine.tapes, machine.tape_kind) == (2, TapeKind.ONE_WAY)
    assert machine.accepting == {"yes"}
    assert machine.rejecting == {"no"}
    assert machine.accept_on is AcceptOn.HALT
    assert machine.input_symbols == ("a", "b")
    assert machine.cases[0].tapes == (("a", "b"), ("x", "y"))


def test_cases_hold_and_wildcards_stand_for_what_can_be_on_the_tape() -> None:
    machine = loads(COMPARE)
    for case in machine.cases:
        result = simulate(machine, case.word)
        assert (result.outcome.value, result.steps) == (case.outcome, case.steps)
    reads = {rule.read[1] for rule in machine.rules if rule.read[0] == "_"}
    assert reads == {"_", "x", "y"}


def test_a_rejecting_state_stops_at_once() -> None:
    machine = loads(COMPARE.replace("to: yes}", "to: no}"))
    assert simulate(machine).outcome is Outcome.REJECT


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("tapes: 2", "tapes: two"), r"m:3: error: `tapes`; expected 1 to 16; got 'two'"),
        (("tape kind: one-way", "tape kind: round"), "m:4: .*one of one-way, two-way; got 'round'"),
        (("accept on: halt", "accepts on: halt"), "m:9: error: unknown key 'accepts on'"),
        (("move: RR}", "move: R}"), "m:14: error: moves; expected one entry for each of 2 tapes"),
        (("[_, ~]", "[_]"), "m:15: error: symbols read; expected one entry for each of 2"),
        (("[~, x]", "[~]"), "m:14: error: symbols written"),
        (("outcome: accept, state", "outcome: fine, state"), "m:19: error: a case's outcome"),
        (("steps: 4", "steps: four"), "m:19: error: a case's steps"),
        (("tapes: [ab, xy]", "tapes: [ab]"), "m:19: error: a case's tapes"),
        (("blank: _\n", "blank: _\nblank: _\n"), "the key 'blank' is given twice"),
    ],
)
def test_errors(change: tuple[str, str], message: str) -> None:
    with pytest.raises(TapeformerError, match=message):
        loads(COMPARE.replace(*change), "m", OWN_FORMAT)


def test_a_list_is_no_machine() -> None:
    with pytest.raises(TapeformerError, match="the file; expected keys such as"):
        loads("- 1\n- 2\n", "m", OWN_FORMAT)


def test_a_second_document_is_refused() -> None:
    with pytest.raises(TapeformerError, match="a second YAML document"):
        loads(COMPARE + "---\na: 1\n", "m", OWN_FORMAT)
