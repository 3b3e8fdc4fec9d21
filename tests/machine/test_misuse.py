"""Wrong programs: each raises a TapeformerError that says in Python terms what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tapeformer as tf

api: Any = tf
"""The library as a program without type checks sees it."""

RIGHT = tf.Move.RIGHT
MACHINE: Any = tf.gallery_machine("palindrome")
BEAVER: Any = tf.loads("1RB1LB_1LA1RZ")
LONG: Any = tf.loads(
    "blank: _\nstart state: a\ntapes: 1\ntable:\n  a: {'b>': R, c: R}\n", format_name="tapeformer"
)


def rule(**changes: Any) -> Any:
    parts = {"state": "a", "read": ("0",), "write": ("1",), "moves": (RIGHT,), "next_state": "b"}
    return api.Rule(**{**parts, **changes})


def built(**changes: Any) -> Any:
    parts = {"name": "m", "tapes": 1, "blank": "_", "start": "a", "rules": (rule(),)}
    return api.TuringMachine(**{**parts, "halting": {"b"}, **changes})


CONSTRUCTION: dict[str, tuple[Callable[[], object], str]] = {
    "read is a text": (lambda: rule(read="0"), r'`read`.*got \'0\' \(str\).*\("0",\), one symbol'),
    "read has numbers": (
        lambda: rule(read=(0,)),
        r"`read`; expected only str in it; got 0 \(int\)",
    ),
    "moves are letters": (lambda: rule(moves=("R",)), "`moves`.*use tf.Move.LEFT or tf.Move.STAY"),
    "moves is one move": (lambda: rule(moves=RIGHT), r"`moves`.*\(tf.Move.RIGHT,\)"),
    "state is None": (lambda: rule(state=None), "`state`; expected str; got None"),
    "rules is a dict": (lambda: built(rules={"a": 1}), r"`rules`.*tf.Rule\("),
    "rules has tuples": (lambda: built(rules=[("a", "0")]), "`rules`; expected only Rule in it"),
    "rules is a rule": (lambda: built(rules=rule()), "`rules`"),
    "tapes is a text": (lambda: built(tapes="1"), "`tapes`; expected int; got '1'"),
    "tapes is True": (lambda: built(tapes=True), "`tapes`; expected int; got True"),
    "accepting is a text": (lambda: built(accepting="b"), r'`accepting`.*a set such as \{"done"\}'),
    "blank is None": (lambda: built(blank=None), "`blank`"),
    "kind is a text": (lambda: built(tape_kind="one-way"), "use tf.TapeKind.ONE_WAY or"),
    "accept_on is a text": (lambda: built(accept_on="halt"), "use tf.AcceptOn.ENTRY or"),
    "own word is a text": (lambda: built(default_word="01"), "`default_word`"),
    "case word is a text": (lambda: api.Case("ab", "halt"), "`word`"),
    "case steps is a text": (lambda: api.Case((), "halt", steps="7"), "`steps`"),
    "conventions": (lambda: api.Conventions(accepting="a"), "`accepting`"),
}

USE: dict[str, tuple[Callable[[], object], str]] = {
    "no tapes": (lambda: api.simulate(built(tapes=0, rules=())), "at least one tape"),
    "two tapes in the rule": (lambda: api.simulate(built(tapes=2)), "wrong number of tapes"),
    "two rules": (
        lambda: api.simulate(built(rules=(rule(), rule(write=("2",))))),
        "two rules in conflict for state 'a' reading '0'.*also <Rule 'a': '0' -> '1' R, to 'b'>",
    ),
    "an unknown next state": (
        lambda: api.simulate(built(rules=[rule(next_state="bb"), rule(state="bbb")])),
        r"'bb' has no rules.*did you mean bbb or b\? .*halting={'bb'}",
    ),
    "an unknown start": (lambda: api.dumps(built(start="z")), "'z' has no rules"),
    "an empty name": (lambda: list(api.configurations(built(blank=""))), "no usable name"),
    "compile": (
        lambda: api.compile_machine(built(halting=()), tf.CompileOptions(levels=3)),
        "'b' has no rules",
    ),
    "a name for a machine": (lambda: api.simulate("palindrome"), "tf.gallery_machine"),
    "None for a machine": (lambda: api.check(None), "got None; use tf.load"),
    "dumps of a name": (lambda: api.dumps("palindrome"), "expected a tf.TuringMachine"),
    "word None": (lambda: api.simulate(MACHINE, None), 'the empty word is ""'),
    "word 7": (lambda: api.simulate(MACHINE, 7), r"got 7 \(int\)"),
    "word of numbers": (
        lambda: api.simulate(BEAVER, [0, 1]),
        "word, symbol 1: .*each symbol into a str",
    ),
    "word of bytes": (lambda: api.simulate(BEAVER, b"01"), "not a word"),
    "an unknown symbol": (
        lambda: api.simulate(MACHINE, "abc"),
        "word, symbol 3: error: symbol 'c'",
    ),
    "long symbols": (lambda: api.simulate(LONG, "b>"), "pass a list of symbols"),
    "configurations": (lambda: api.configurations(MACHINE, "abc"), "symbol 'c'"),
    "parse_word of None": (lambda: api.parse_word(MACHINE, None), "not a text"),
    "parse_word of a name": (lambda: api.parse_word("palindrome", "a"), "not a machine"),
    "negative steps": (
        lambda: api.simulate(MACHINE, max_steps=-1),
        "bad `max_steps`; expected a whole number, at least 0",
    ),
    "steps are a float": (lambda: api.simulate(MACHINE, max_steps=1e6), "bad `max_steps`"),
    "no cells": (lambda: api.simulate(MACHINE, max_cells=0), "bad `max_cells`"),
    "head left of the word": (
        lambda: api.simulate(MACHINE, "ab", head=-1),
        "a whole number from 0 to 2",
    ),
    "head far right": (lambda: api.configurations(MACHINE, "ab", head=9), "bad `head`"),
    "watch is a number": (lambda: api.simulate(MACHINE, watch=3), "bad `watch`"),
    "no file": (lambda: api.load("no/such/file.yaml"), "there is no such file"),
    "a directory": (lambda: api.load(Path(__file__).parent), "directory"),
    "a binary file": (lambda: api.load("/bin/sh"), "not text|too large"),
    "load of None": (lambda: api.load(None), "not a path.*use tf.loads"),
    "load of a number": (lambda: api.load(3), "not a path"),
    "load of a bad name": (lambda: api.load("a\0b"), "not a file name"),
    "loads of None": (lambda: api.loads(None), "not a text.*use tf.load"),
    "loads of a name": (lambda: api.loads("palindrome"), "for a gallery name tf.gallery_machine"),
    "loads in no format": (lambda: api.loads("1", format_name="morphet"), "did you mean morphett"),
    "loads in format 3": (lambda: api.loads("1", format_name=3), "bad `format_name`"),
    "conventions": (lambda: api.loads("1RB1LB_1LA1RZ", conventions={}), "tf.Conventions"),
    "dumps in no format": (lambda: api.dumps(MACHINE, "jflab"), "did you mean jflap"),
    "a gallery name": (lambda: api.gallery_machine("palindrom"), "did you mean palindrome"),
    "a path in the gallery": (lambda: api.gallery_machine("../gallery/copy"), "no machine"),
    "gallery of None": (lambda: api.gallery_machine(None), "bad gallery name"),
    "automata-lib": (
        lambda: api.from_automata_lib("DTM"),
        "an automata-lib DTM or MNTM; got 'DTM'",
    ),
}


@pytest.mark.parametrize("name", CONSTRUCTION)
def test_wrong_types_are_found_on_construction(name: str) -> None:
    wrong, message = CONSTRUCTION[name]
    with pytest.raises(tf.TapeformerError, match=f"(?s){message}"):
        wrong()


@pytest.mark.parametrize("name", USE)
def test_wrong_use(name: str) -> None:
    wrong, message = USE[name]
    with pytest.raises(tf.TapeformerError, match=f"(?s){message}") as caught:
        wrong()
    assert all(fault.remedy or fault.expected for fault in caught.value.faults)


def test_an_object_that_only_looks_like_a_machine() -> None:
    fake = type("DTM", (), {"transitions": {"a": {"0": 1}}})()
    with pytest.raises(tf.TapeformerError, match="not a complete machine"):
        tf.from_automata_lib(fake)


def test_all_wrong_fields_are_listed() -> None:
    with pytest.raises(tf.TapeformerError) as caught:
        rule(read="0", write="1", moves="R", state=3)
    assert len(caught.value.faults) == 4


def test_lists_and_sets_are_taken_and_frozen() -> None:
    loose = built(rules=[rule(read=["0"], write=["1"], moves=[RIGHT])], halting=["b"])
    assert loose == built()
    assert hash(loose) == hash(built())
    assert tf.simulate(loose, ["0"]).state == "b"


def test_a_str_is_a_word_of_characters() -> None:
    assert tf.simulate(MACHINE, "abba") == tf.simulate(MACHINE, ("a", "b", "b", "a"))
    assert tf.simulate(LONG, ["b>", "c"]).steps == 2
    assert tf.simulate(LONG, "cc").steps == 2


def test_faults_are_looked_for_once() -> None:
    machine = replace(MACHINE)
    tf.simulate(machine, "ab")
    faults = machine.faults
    tf.simulate(machine, "ba")
    assert machine.faults is faults
