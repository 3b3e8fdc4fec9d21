"""The verifier: every fault at once, each with place and remedy."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tapeformer import AcceptOn, Move, Rule, TapeformerError, TuringMachine, check, loads
from tapeformer.faults import Severity

GOOD = TuringMachine(
    name="good",
    tapes=1,
    blank="_",
    start="a",
    rules=(Rule("a", ("_",), ("1",), (Move.RIGHT,), "b"),),
    halting=frozenset({"b"}),
)


def messages(machine: TuringMachine, severity: Severity) -> list[str]:
    return [str(fault) for fault in check(machine) if fault.severity is severity]


def test_a_sound_machine_has_no_faults() -> None:
    assert check(GOOD) == ()


def test_all_faults_are_reported_at_once() -> None:
    rule = GOOD.rules[0]
    bad = replace(
        GOOD,
        rules=(rule, replace(rule, write=("0",)), replace(rule, state="b", read=("_", "_"))),
        accepting=frozenset({"b"}),
        rejecting=frozenset({"b"}),
        default_word=("x",),
    )
    errors = messages(bad, Severity.ERROR)
    assert len(errors) == 4
    assert any("two rules in conflict" in e for e in errors)
    assert any("wrong number of tapes; expected 1; got 2" in e for e in errors)
    assert any("both accepting and rejecting" in e for e in errors)
    assert any("has the symbol 'x'" in e for e in errors)


def test_conflicts_name_both_places() -> None:
    text = "init: a\naccept: z\na,0\na,1,>\n\na,0\nz,0,<\n"
    with pytest.raises(TapeformerError) as caught:
        loads(text, "file.txt")
    message = str(caught.value)
    assert message.startswith("file.txt:6: error: two rules in conflict for state 'a' reading '0'")
    assert "file.txt:3" in message
    assert "remove or change one of them" in message


def test_repeated_rules_and_unreachable_states_are_warnings() -> None:
    lonely = Rule("c", ("1",), ("1",), (Move.LEFT,), "a")
    machine = replace(GOOD, rules=(*GOOD.rules, *GOOD.rules, lonely))
    assert messages(machine, Severity.ERROR) == []
    warnings = messages(machine, Severity.WARNING)
    assert len(warnings) == 2
    assert "is repeated" in warnings[0]
    assert "state 'c' is never reached" in warnings[1]


def test_rules_of_a_state_that_stops_are_a_warning() -> None:
    leaving = Rule("b", ("1",), ("1",), (Move.LEFT,), "a")
    on_entry = replace(
        GOOD, rules=(*GOOD.rules, leaving), halting=frozenset(), accepting=frozenset({"b"})
    )
    assert "accept on halting" in messages(on_entry, Severity.WARNING)[0]
    assert check(replace(on_entry, accept_on=AcceptOn.HALT)) == ()


@pytest.mark.parametrize("name", ["", "\ud800"])
def test_names_must_be_text(name: str) -> None:
    assert messages(replace(GOOD, start=name), Severity.ERROR)


def test_no_tapes() -> None:
    machine = replace(GOOD, tapes=0, rules=())
    assert "at least one tape" in messages(machine, Severity.ERROR)[0]
