"""turingmachinesimulator.com, the Nanjing course format and busy-beaver text."""

from __future__ import annotations

import pytest

from tapeformer import AcceptOn, Conventions, Outcome, TapeformerError, loads, simulate
from tapeformer.formats import patterns, recognise

SIMULATOR = """\
// spaces after commas, odd names, two accepting states, a rule listed twice
name: Is it one?
init: qChainIsOne?
accept: yes, qToo

qChainIsOne?, 1, _
qEnd, 1, b, >, -

qChainIsOne?, 1, _
qEnd, 1, b, >, -

qEnd,_,b
yes,_,_,-,<

yes,_,_
yes,_,_,>,>
"""


def test_simulator_spaces_names_and_lists() -> None:
    machine = loads(SIMULATOR)
    assert recognise(SIMULATOR) == "turingmachinesimulator"
    assert (machine.name, machine.tapes) == ("Is it one?", 2)
    assert machine.accepting == {"yes", "qToo"}
    result = simulate(machine, ("1",))
    assert (result.outcome, result.state, result.steps) == (Outcome.ACCEPT, "yes", 2)
    assert simulate(machine, ("1", "1")).outcome is Outcome.REJECT


def test_accepting_on_entry_can_be_overridden() -> None:
    """The published convention stops on entry; `halt` lets the rules that leave the state run."""
    on_halt = loads(SIMULATOR, conventions=Conventions(accept_on=AcceptOn.HALT))
    assert simulate(on_halt, ("1",), max_steps=100).outcome is Outcome.LIMIT


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("init: qChainIsOne?\n", ""), "no start state"),
        (("init: qChainIsOne?", "init: qChain"), "the start state 'qChain' has no rules"),
        (("qEnd,_,b\nyes,_,_,-,<", "qEnd,_,b\nyes,_,_,-"), r"m:13: .*expected 5 fields; got 4"),
        (("qEnd,_,b\nyes,_,_,-,<", "qEnd,_,b\nyes,_,_,-,x"), r"m:13: error: unknown move 'x'"),
        (("yes,_,_\nyes,_,_,>,>\n", "yes,_,_\n"), "m:15: error: a rule without its second line"),
        (("qEnd,_,b", "qEnd,_,"), "m:12: error: an empty field"),
        (("qEnd,_,b", "qEnd,_,b,b"), r"m:12: .*symbols read.*; expected 3 fields; got 4;"),
    ],
)
def test_simulator_errors(change: tuple[str, str], message: str) -> None:
    with pytest.raises(TapeformerError, match=message):
        loads(SIMULATOR.replace(*change), "m", "turingmachinesimulator")


@pytest.mark.parametrize(("most", "fits"), [(6, True), (5, False)])
def test_as_many_rules_as_wildcards_may_stand_for(
    most: int, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of two rules stands for three symbols."""
    monkeypatch.setattr(patterns, "MOST_RULES", most)
    text = "0 * 0 r 1\n1 * 1 l 0\n"
    if fits:
        assert len(loads(text, "m", "morphett").rules) == 6
    else:
        with pytest.raises(TapeformerError, match="stand for too many rules; expected at most 5"):
            loads(text, "m", "morphett")


NJU = """\
; two tapes: copies and compares
#Q = {0,cp,accept,halt_accept}
#S = {0,1}
#G = {0,1,_}
#q0 = 0
#B = _
#F = {halt_accept}
#N = 2

0 *_ ** ** cp      ; any non-blank symbol
cp 0_ 00 rr cp
cp 1_ 11 rr cp
cp __ __ ** halt_accept
"""


def test_nju_wildcard_is_not_blank_and_keeps() -> None:
    machine = loads(NJU)
    assert recognise(NJU) == "nju"
    result = simulate(machine, ("0", "1"))
    assert (result.outcome, result.steps) == (Outcome.ACCEPT, 4)
    assert machine.spell(result.tapes[1].content) == "01"
    empty = simulate(machine)
    assert (empty.outcome, empty.state, empty.steps) == (Outcome.REJECT, "0", 0)
    loose = loads(NJU, conventions=Conventions(wildcard_matches_blank=True))
    assert simulate(loose).outcome is Outcome.ACCEPT


def test_nju_exact_rules_come_before_wildcards() -> None:
    text = NJU.replace("cp 0_ 00 rr cp", "cp *_ __ ** halt_accept\ncp 0_ 00 rr cp")
    assert simulate(loads(text), ("0",)).steps == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("#q0 = 0\n", ""), "no start state"),
        (("#N = 2", "#N = many"), "m:8: error: the number of tapes; expected 1 to 16; got 'many'"),
        (("cp 0_ 00 rr cp", "cp 0_ 00 r cp"), "m:11: error: not a rule.*2 characters"),
        (("cp 0_ 00 rr cp", "cp 0_ 00 rx cp"), "m:11: error: unknown move 'x'"),
        (("rr cp\ncp 1_", "rr pc\ncp 1_"), "m:11: error: state 'pc' is not in #Q"),
        (("cp 0_ 00 rr cp", "cp 7_ 00 rr cp"), "m:11: error: symbol '7' is not in #G"),
        (("cp 0_ 00 rr cp", "cp 0_ 07 rr cp"), "m:11: error: symbol '7' is not in #G"),
    ],
)
def test_nju_errors(change: tuple[str, str], message: str) -> None:
    with pytest.raises(TapeformerError, match=message):
        loads(NJU.replace(*change), "m", "nju")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1RB1LB_1LA", "rows of different lengths; expected 2 cells in each row; got 2, 1"),
        ("2RB1LB_1LA1RZ", "2RB writes a symbol that no column reads; expected 0 to 1"),
        ("hello", "not busy-beaver text"),
        ("", "not busy-beaver text"),
        ("_".join(["1RA1RA"] * 27), "too large"),
    ],
)
def test_busy_beaver_errors(text: str, message: str) -> None:
    with pytest.raises(TapeformerError, match=message):
        loads(text, "m", "busy-beaver")


def test_busy_beaver_halting_letter_is_any_past_the_last_row() -> None:
    assert loads("1RB1LB_1LA1RH").halting == {"H"}
    eight = "_".join(["1RB1RH"] * 8)
    assert loads(eight).halting == frozenset()


def test_dialects_of_nju() -> None:
    short = NJU.replace("#Q = {0,cp,accept,halt_accept}\n", "").replace("#G", "#T")
    assert loads(short.replace("#N = 2\n", "#N = 2\n#SPACE = 100\n")).tapes == 2
    with pytest.raises(TapeformerError, match="unknown setting #Z; expected one of Q, S"):
        loads(NJU.replace("#N = 2", "#N = 2\n#Z = 2"))
    with pytest.raises(TapeformerError, match="symbol '9' is not in #G"):
        loads(NJU.replace("cp 1_ 11", "cp 1_ 19"))


def test_unknown_heads_are_named() -> None:
    with pytest.raises(TapeformerError, match=r"m:3: error: an unknown line.*'testAccept: 1'"):
        loads(SIMULATOR.replace("init:", "testAccept: 1\ninit:"), "m", "turingmachinesimulator")
