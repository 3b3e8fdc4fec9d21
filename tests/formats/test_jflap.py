"""JFLAP: old and new schema, several tapes, special characters, hostile XML."""

from __future__ import annotations

import pytest

from tapeformer import Outcome, TapeformerError, check, loads, simulate
from tapeformer.formats import recognise

HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="no"?><!--Created with JFLAP.-->'


def transition(source: int, goal: int, *tapes: tuple[str, str, str]) -> str:
    parts = []
    for number, (read, write, move) in enumerate(tapes, 1):
        tape = f' tape="{number}"' if len(tapes) > 1 else ""
        parts += [f"<read{tape}>{read}</read>" if read else f"<read{tape}/>"]
        parts += [f"<write{tape}>{write}</write>" if write else f"<write{tape}/>"]
        parts += [f"<move{tape}>{move}</move>" if move else ""]
    inside = "".join(parts)
    return f"<transition><from>{source}</from><to>{goal}</to>{inside}</transition>"


def old(*transitions: str, tapes: int = 1) -> str:
    states = (
        '<state id="0" name="q0"><x>1</x><y>2</y><initial/></state>'
        '<state id="1" name="q1"/><state id="2" name="done"><final/></state>'
    )
    body = states + "".join(transitions)
    return f"{HEAD}<structure><type>turing</type><tapes>{tapes}</tapes><automaton>{body}</automaton></structure>"


def new(*transitions: str) -> str:
    blocks = (
        '<block id="0" name="q0"><tag>Machine0</tag><x>1</x><y>2</y><initial/></block>'
        '<block id="1" name="q1"><tag>Machine1</tag></block>'
        '<block id="2" name="done"><tag>Machine2</tag><final/></block>'
    )
    body = blocks + "".join(transitions) + "<Machine0/><Machine1/><Machine2/>"
    return (
        f"{HEAD}<structure>&#13;<type>turing</type>&#13;<automaton>{body}</automaton></structure>"
    )


STEPS = (transition(0, 0, ("a", "b", "R")), transition(0, 2, ("", "c", "S")))


@pytest.mark.parametrize("text", [old(*STEPS), new(*STEPS)])
def test_both_schemas(text: str) -> None:
    assert recognise(text) == "jflap"
    machine = loads(text)
    result = simulate(machine, ("a", "a"))
    assert (result.outcome, result.state, result.steps) == (Outcome.ACCEPT, "done", 3)
    assert machine.spell(result.tapes[0].content) == "bbc"


def test_states_without_the_automaton_element() -> None:
    text = old(*STEPS).replace("<automaton>", "").replace("</automaton>", "")
    assert loads(text).rules == loads(old(*STEPS)).rules


def test_a_missing_move_is_right_and_ids_are_the_references() -> None:
    text = old(transition(0, 1, ("a", "a", "")), transition(1, 2, ("", "x", "L")))
    text = text.replace('name="q1"', 'name="q0"')
    machine = loads(text)
    assert [rule.moves[0].letter for rule in machine.rules] == ["R", "L"]
    assert machine.states == ("q0", "q0 (1)", "done")


def test_several_tapes() -> None:
    text = old(transition(0, 2, ("a", "b", "R"), ("", "c", "L")), tapes=2)
    machine = loads(text)
    result = simulate(machine, ("a",))
    assert [machine.spell(t.content) for t in result.tapes] == ["b", "c"]


def test_tilde_reads_any_and_keeps_and_exact_rules_come_first() -> None:
    machine = loads(old(transition(0, 0, ("~", "~", "R")), transition(0, 2, ("", "z", "S"))))
    result = simulate(machine, ())
    assert result.steps == 1
    both = loads(old(transition(0, 0, ("~", "~", "R")), transition(1, 1, ("b", "b", "R"))))
    assert {rule.read[0] for rule in both.rules if rule.state == "q0"} == {"□", "b"}


def test_not_and_variables_on_one_tape() -> None:
    negated = loads(old(transition(0, 0, ("!a", "~", "R")), transition(1, 1, ("b", "a", "R"))))
    assert {r.read[0] for r in negated.rules if r.state == "q0"} == {"□", "b"}
    variable = loads(old(transition(0, 2, ("a,b}w", "w", "R"))))
    assert [(r.read, r.write) for r in variable.rules] == [(("a",), ("a",)), (("b",), ("b",))]


def test_two_states_of_one_choice_are_a_conflict() -> None:
    text = old(transition(0, 1, ("a", "b", "R")), transition(0, 2, ("a", "c", "R")))
    with pytest.raises(TapeformerError, match=r"m.jff:1 \(transition 2\): error: two rules"):
        loads(text, "m.jff")


def test_repeated_transitions_are_only_a_warning() -> None:
    machine = loads(old(STEPS[0], *STEPS))
    assert "is repeated" in str(check(machine)[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("<initial/>", ""), "the start state; expected one state with <initial/>; got 0"),
        (("<to>2</to>", "<to>9</to>"), "names the state id '9'"),
        (("<type>turing</type>", "<type>fa</type>"), "not a Turing machine of JFLAP"),
        (("<tapes>1</tapes>", "<tapes>9</tapes>"), "the number of tapes; expected 1 to 5"),
        (("<move>S</move>", "<move>Q</move>"), "unknown move 'Q'"),
        (("</structure>", ""), "m.jff:1: error: not readable as XML"),
        (('id="1"', 'id="0"'), "a state's id"),
    ],
)
def test_errors(change: tuple[str, str], message: str) -> None:
    with pytest.raises(TapeformerError, match=message):
        loads(old(*STEPS).replace(*change), "m.jff")


def test_building_blocks_are_refused() -> None:
    inside = '<Machine1><block id="5" name="inner"/></Machine1>'
    text = new(*STEPS).replace("<Machine1/>", inside)
    with pytest.raises(TapeformerError, match="building block 'Machine1' is not supported"):
        loads(text)


LAUGHS = '<!DOCTYPE z [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "text",
    [
        f"{LAUGHS}]><structure>&i;</structure>",
        '<!DOCTYPE z [<!ENTITY x SYSTEM "file:///etc/passwd">]><structure>&x;</structure>',
        '<!DOCTYPE z SYSTEM "http://example.org/z.dtd"><structure/>',
    ],
)
def test_entities_are_refused(text: str) -> None:
    with pytest.raises(TapeformerError) as caught:
        loads(text, "m.jff")
    assert "root:" not in str(caught.value)
    assert len(caught.value.faults) == 1


def test_tapes_may_be_counted_inside_the_automaton_and_none_is_dropped() -> None:
    two = transition(0, 2, ("a", "b", "R"), ("", "c", "L"))
    inside = (
        old(two)
        .replace("<tapes>1</tapes>", "")
        .replace("<automaton>", "<automaton><tapes>2</tapes>")
    )
    assert loads(inside).tapes == 2
    with pytest.raises(TapeformerError, match="a <read> for another tape; expected 1 to 1"):
        loads(old(two))
    with pytest.raises(TapeformerError, match="JFLAP 8, which is not supported"):
        loads('<structure type="turing"/>')
