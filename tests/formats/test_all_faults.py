"""Files with several faults: every reader reports all of them in one round, with their lines."""

from __future__ import annotations

import pytest

from tapeformer import TapeformerError, check, loads
from tapeformer.faults import Severity, did_you_mean

JFLAP = """
<?xml version="1.0" encoding="UTF-8"?>
<structure>
  <type>turing</type>
  <tapes>1</tapes>
  <automaton>
    <state id="0" name="a"><initial/></state>
    <state id="1" name="b"/>
    <state id="1" name="c"/>
    <transition><from>0</from><to>1</to><read>x</read><write/><move>R</move></transition>
    <transition>
      <from>0</from><to>7</to><read>y</read><write/><move>R</move>
    </transition>
    <transition><from>0</from><to>1</to><read>z</read><write/><move>Q</move></transition>
    <transition><from>0</from><to>1</to><read tape="2">w</read><write/><move>R</move></transition>
    <transition><from>0</from><to>0</to><read>x</read><write/><move>L</move></transition>
  </automaton>
</structure>
"""

YAML = """\
name: faulty
tape kind: round
blank: _
start state: starts
acept: [done]
table:
  start:
    0: {write: 1, U: start}
    1: R
    [1, 0]: L
    2: {L: dome}
  done:
cases:
  - {input: '01', outcome: fine}
"""

FAULTY = {
    "jflap": (JFLAP, [9, 11, 14, 15, 16]),
    "tapeformer": (YAML, [2, 4, 5, 8, 10, 11, 14]),
    "turingmachine.io": (YAML, [2, 4, 8, 10, 11, 14]),
    "morphett": ("0 1 1 r\n0 a a r 1 x\n0 b b up 1\n0 c c r 1\n0 c c l 1\n", [1, 2, 3, 5]),
    "nju": (
        "#Q = {a,b}\n#q0 = a\n#X = 1\n#G = {0,1,_}\na 0 0 r c\na 1 1 up b\na 2 2 r b\n"
        "a _ _ r b\na _ 1 r b\n",
        [3, 5, 6, 7, 7, 9],
    ),
    "turingmachinesimulator": (
        "name: x\ninit: q\nwhat: y\na,0\na,0,up\na,1\na,1\na,_\nb,_,<\na,_\na,_,<\n",
        [0, 3, 5, 7, 10],
    ),
}
"""For each format a text, and the lines of its faults (0: none)."""


def lines_of(error: TapeformerError) -> list[int]:
    return [(fault.location and fault.location.line) or 0 for fault in error.faults]


@pytest.mark.parametrize("format_name", FAULTY)
def test_all_faults_in_one_round(format_name: str) -> None:
    text, lines = FAULTY[format_name]
    with pytest.raises(TapeformerError) as caught:
        loads(text, "m", format_name)
    assert lines_of(caught.value) == lines, str(caught.value)


def test_names_that_are_nearly_right() -> None:
    with pytest.raises(TapeformerError) as caught:
        loads(YAML, "m", "tapeformer")
    message = str(caught.value)
    assert "did you mean start?" in message
    assert "m:5: error: unknown key 'acept'" in message
    assert "did you mean accept or" in message
    assert "m:11: error: state 'dome' has no row in the table; did you mean done?" in message


@pytest.mark.parametrize(
    "text",
    [
        "0 1 1 r scan\nscan 1 1 r scam\nscan _ _ r halt\n",
        "init: scan\naccept: done\nscan,1\nscam,1,>\n\nscan,0\ndone,0,>\n",
        "#q0 = scan\n#B = _\n#F = {done}\nscan 1 1 r scam\nscan 0 0 r done\n",
    ],
)
def test_a_misspelt_next_state_is_a_warning_with_the_nearest_name(text: str) -> None:
    machine = loads(text, "m")
    assert not [fault for fault in check(machine) if fault.severity is Severity.ERROR]
    told = [str(fault) for fault in check(machine) if "'scam'" in str(fault)]
    assert len(told) == 1
    assert "warning: state 'scam' has no rules" in told[0]
    assert "did you mean scan?" in told[0]
    assert told[0].startswith("m:")


def test_a_state_that_stops_on_purpose_is_no_warning() -> None:
    assert check(loads("init: q0\naccept: done\nq0,1\ndone,1,>\n\nq0,0\nstop,0,>\n")) == ()
    assert check(loads("#Q={a,aa,b}\n#q0 = a\n#F={b}\na 1 1 r aa\na 0 0 r b\n")) == ()


def test_nearest_names() -> None:
    assert did_you_mean("palindrom", ["palindrome", "copy"]) == "did you mean palindrome?"
    assert did_you_mean("ab cd", ["ab cc"]) == "did you mean 'ab cc'?"
    assert did_you_mean("xyz", ["palindrome"]) == ""
    assert did_you_mean("x" * 10**6, ["x" * 10**6]) == ""


TABBED = "blank: _\nstart state: a\ntable:\n  a:\n    0: R\n\t1: R\n\t2: R\n"


def test_tabs_in_yaml_are_named() -> None:
    with pytest.raises(TapeformerError) as caught:
        loads(TABBED, "m")
    message = str(caught.value)
    assert message.startswith("m:6: error: line 6 is indented with a tab (so are lines 7)")
    assert "YAML allows only spaces" in message
    with pytest.raises(TapeformerError, match="m:2: error: line 2 is indented with a tab; YAML"):
        loads("table:\n\ta: {}\nblank: _\n", "m")


@pytest.mark.parametrize("between", ["blank: _\n", "blank: _\nstart state: a\ntapes: 1\n"])
def test_a_tab_elsewhere_is_not_blamed(between: str) -> None:
    text = f"description: |\n  one\n  \ttwo\n{between}table: {{a: }}}}\n"
    with pytest.raises(TapeformerError) as caught:
        loads(text, "m")
    assert "tab" not in str(caught.value).replace("table", "")


@pytest.mark.parametrize("sixth", ["x", "!!", "?", "0"])
def test_only_a_breakpoint_may_be_the_sixth_field_of_a_morphett_line(sixth: str) -> None:
    text = f"0 1 1 r 0\n0 0 0 r 0 {sixth}\n"
    with pytest.raises(
        TapeformerError, match="m:2: error: a rule has a sixth field; expected five"
    ):
        loads(text, "m")
    five, stop = "0 1 1 r 0\n0 0 0 r 0\n", "0 1 1 r 0\n0 0 0 r 0 !\n"
    assert loads(stop).rules == loads(five).rules
    with pytest.raises(TapeformerError, match=r"m:2: error: not a rule.*got 7 fields"):
        loads("0 1 1 r 0\n0 0 0 r 0 ! !\n", "m", "morphett")
