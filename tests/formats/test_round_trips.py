"""Random machines through every format that can hold them: equal, or alike where names must change."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from tapeformer import (
    AcceptOn,
    Move,
    Result,
    Rule,
    TapeformerError,
    TapeKind,
    TuringMachine,
    check,
    dumps,
    gallery_machine,
    gallery_names,
    load,
    loads,
    simulate,
)
from tapeformer.formats import OWN_FORMAT, WRITERS, losses, recognise
from tests.simulator.test_published import BEAVERS, DATA, EXPECTED
from tests.strategies import random_machine, random_word, seeds


def blanked(machine: TuringMachine, result: Result) -> list[list[int]]:
    """Tapes with symbols replaced by the machine's own numbering, to compare renamed machines."""
    numbers = {symbol: number for number, symbol in enumerate(machine.symbols)}
    return [[numbers[symbol] for symbol in tape.content] for tape in result.tapes]


@settings(max_examples=250)
@given(seeds)
def test_the_own_format_is_lossless(seed: int) -> None:
    machine = random_machine(seed, odd_names=True)
    again = loads(dumps(machine, OWN_FORMAT), format_name=OWN_FORMAT)
    assert again == machine
    word = random_word(machine, seed)
    assert simulate(again, word, max_steps=200) == simulate(machine, word, max_steps=200)


@settings(max_examples=250)
@given(seeds)
def test_turingmachine_io(seed: int) -> None:
    machine = random_machine(seed, 1, TapeKind.TWO_WAY, odd_names=True, stay=False, roles=False)
    if not machine.single_characters:
        with pytest.raises(TapeformerError, match="a symbol has several characters"):
            dumps(machine, "turingmachine.io")
        return
    again = loads(dumps(machine, "turingmachine.io"), format_name="turingmachine.io")
    word = [symbol for symbol in random_word(machine, seed) if symbol in again.symbols]
    assert simulate(again, word, max_steps=200) == simulate(machine, word, max_steps=200)


@settings(max_examples=250)
@given(seeds)
def test_morphett(seed: int) -> None:
    machine = random_machine(seed, 1, TapeKind.TWO_WAY, roles=False)
    if not machine.rules:
        return
    again = loads(dumps(machine, "morphett"), format_name="morphett")
    rename = {machine.blank: "_"}
    word = [
        symbol
        for symbol in random_word(machine, seed)
        if rename.get(symbol, symbol) in again.symbols
    ]
    ours = simulate(machine, word, max_steps=200)
    theirs = simulate(again, [rename.get(symbol, symbol) for symbol in word], max_steps=200)
    contents = [rename.get(symbol, symbol) for symbol in ours.tapes[0].content]
    assert list(theirs.tapes[0].content) == contents
    assert (theirs.outcome, theirs.steps) == (ours.outcome, ours.steps)


@settings(max_examples=250)
@given(seeds)
def test_busy_beaver_text(seed: int) -> None:
    machine = random_machine(seed, 1, TapeKind.TWO_WAY, stay=False, roles=False)
    if machine.start in machine.stopping or len(machine.stopping) > 1:
        return
    again = loads(dumps(machine, "busy-beaver"))
    ours, theirs = (simulate(m, max_steps=300) for m in (machine, again))
    assert (theirs.outcome, theirs.steps) == (ours.outcome, ours.steps)
    digits = dict(zip(machine.symbols, map(str, range(10)), strict=False))
    assert list(theirs.tapes[0].content) == [digits[s] for s in ours.tapes[0].content]


@settings(max_examples=250)
@given(seeds)
def test_jflap(seed: int) -> None:
    machine = random_machine(seed, kind=TapeKind.TWO_WAY, odd_names=True)
    others = [symbol for symbol in machine.symbols if symbol != machine.blank]
    if any(len(symbol) > 1 or symbol in (" ", "\t", "~") for symbol in others):
        with pytest.raises(TapeformerError, match="jflap cannot hold this machine: a symbol"):
            dumps(machine, "jflap")
        return
    again = loads(dumps(machine, "jflap"), format_name="jflap")
    assert again.start == machine.start
    assert again.accepting == machine.accepting
    written = {machine.blank: "□"}
    known = {*again.symbols}
    word = [s for s in random_word(machine, seed) if written.get(s, s) in known]
    ours = simulate(machine, word, max_steps=200)
    theirs = simulate(again, [written.get(s, s) for s in word], max_steps=200)
    contents = [[written.get(s, s) for s in tape.content] for tape in ours.tapes]
    assert [list(tape.content) for tape in theirs.tapes] == contents
    assert (theirs.steps, theirs.state) == (ours.steps, ours.state)
    assert theirs.positions == ours.positions
    if theirs.outcome is not ours.outcome:
        assert "halting, not rejecting" in losses(machine, "jflap")[0]


def test_jflap_files_look_like_jflaps() -> None:
    text = dumps(gallery_machine("palindrome_two_tapes"), "jflap")
    assert "<tapes>2</tapes>" in text
    assert '<read tape="2"/>' in text
    assert text.count("<initial/>") == 1
    assert text.count("<final/>") == 1
    assert text == dumps(gallery_machine("palindrome_two_tapes"), "jflap")
    assert losses(gallery_machine("palindrome_two_tapes"), "jflap") == []


def test_jflap_refuses_what_it_cannot_say() -> None:
    one_way = random_machine(3, kind=TapeKind.ONE_WAY)
    with pytest.raises(TapeformerError, match="bounded on the left"):
        dumps(one_way, "jflap")
    rules = [Rule("a", (s,), (s,), (Move.RIGHT,), "b\x01") for s in ("x", "~", "\x02", "__")]
    odd = TuringMachine("odd", 1, "_", "a", tuple(rules), halting=frozenset({"b\x01"}))
    with pytest.raises(TapeformerError) as caught:
        dumps(odd, "jflap")
    assert len(caught.value.faults) == 3
    leaving = loads("1RB1LB_1LA1RA")
    leaving = replace(leaving, accepting=frozenset("B"), accept_on=AcceptOn.HALT)
    with pytest.raises(TapeformerError, match="rules leave an accepting state"):
        dumps(leaving, "jflap")


@pytest.mark.parametrize("name", gallery_names())
def test_gallery_machines_are_lossless_in_the_own_format(name: str) -> None:
    machine = gallery_machine(name)
    text = dumps(machine, OWN_FORMAT)
    assert recognise(text) == OWN_FORMAT
    assert loads(text) == machine


def test_published_beavers_read_back_to_the_letter() -> None:
    for row in BEAVERS:
        assert dumps(loads(row["machine"]), "busy-beaver").strip() == row["machine"]


@pytest.mark.parametrize("name", EXPECTED)
def test_several_tapes_fit_the_own_format_and_jflap_only(name: str) -> None:
    machine = load(DATA / f"{name}.txt")
    assert loads(dumps(machine, OWN_FORMAT)) == machine
    assert loads(dumps(machine, "jflap")).tapes == machine.tapes
    for other in set(WRITERS) - {OWN_FORMAT, "jflap"}:
        with pytest.raises(TapeformerError, match="cannot hold this machine: it has several tapes"):
            dumps(machine, other)


def test_refusals_list_all_reasons() -> None:
    machine = random_machine(5, 1, TapeKind.ONE_WAY)
    with pytest.raises(TapeformerError) as caught:
        dumps(machine, "busy-beaver")
    assert len(caught.value.faults) >= 2
    assert all("cannot hold this machine" in str(fault) for fault in caught.value.faults)


def test_busy_beaver_text_has_one_state_to_stop_in() -> None:
    rules = ("a", "0", "1", Move.RIGHT, "b"), ("a", "1", "1", Move.LEFT, "c")
    made = tuple(Rule(s, (read,), (write,), (move,), to) for s, read, write, move, to in rules)
    machine = TuringMachine("two ends", 1, "0", "a", made, halting=frozenset({"b", "c"}))
    with pytest.raises(TapeformerError, match="it stops in several states"):
        dumps(machine, "busy-beaver")
    one = replace(machine, rules=(made[0],), halting=frozenset({"b"}), more_symbols=("1",))
    assert loads(dumps(one, "busy-beaver")).rules_of["A"]


def test_lost_roles_are_told() -> None:
    machine = gallery_machine("palindrome")
    assert check(machine) == ()
    assert "become plain halting states" in losses(machine, "turingmachine.io")[0]
