"""The fast simulator against the step-by-step definition, and against automata-lib."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from inspect import signature
from typing import Any

import pytest
from automata.base.exceptions import RejectionException
from automata.tm.dtm import DTM
from automata.tm.mntm import MNTM
from hypothesis import assume, given, settings

from tapeformer import (
    AcceptOn,
    Configuration,
    Move,
    Outcome,
    Rule,
    TapeKind,
    TuringMachine,
    configurations,
    from_automata_lib,
    loads,
    simulate,
)
from tapeformer.inference.batch.runner import BatchOptions
from tapeformer.inference.limits import Limits as RunLimits
from tapeformer.simulator import fast
from tests.strategies import random_machine, random_word, seeds

LIMIT = 150


def last_configuration(machine: TuringMachine, word: tuple[str, ...]) -> Configuration:
    *_, last = itertools.islice(configurations(machine, word), LIMIT + 1)
    return last


@settings(max_examples=300)
@given(seeds)
def test_fast_agrees_with_stepwise(seed: int) -> None:
    machine = random_machine(seed, odd_names=seed % 2 == 0)
    word = random_word(machine, seed)
    last = last_configuration(machine, word)
    result = simulate(machine, word, max_steps=LIMIT)
    assert result.outcome is (last.outcome or Outcome.LIMIT)
    assert (result.steps, result.state, result.tapes) == (last.step, last.state, last.tapes)


@settings(max_examples=100)
@given(seeds)
def test_every_limit_gives_a_prefix_of_the_run(seed: int) -> None:
    machine = random_machine(seed)
    word = random_word(machine, seed, longest=5)
    for configuration in itertools.islice(configurations(machine, word), 12):
        result = simulate(machine, word, max_steps=configuration.step)
        assert (result.state, result.tapes) == (configuration.state, configuration.tapes)
        assert result.outcome is (configuration.outcome or Outcome.LIMIT)


@settings(max_examples=100)
@given(seeds)
def test_cells_are_those_the_heads_were_on(seed: int) -> None:
    machine = random_machine(seed, tapes=1)
    word = random_word(machine, seed)
    positions = {0, *head_positions(machine, word)}
    assert simulate(machine, word, max_steps=LIMIT).cells == (len(positions),)


def head_positions(machine: TuringMachine, word: tuple[str, ...]) -> list[int]:
    """Head positions of a one-tape run, from the definition."""
    cells, at, state = dict(enumerate(word)), 0, machine.start
    positions = []
    for _ in range(LIMIT):
        rule = machine.rule_for.get((state, (cells.get(at, machine.blank),)))
        if state in machine.stopping or rule is None:
            break
        cells[at] = rule.write[0]
        at += rule.moves[0]
        at = max(at, 0) if machine.tape_kind is TapeKind.ONE_WAY else at
        state = rule.next_state
        positions.append(at)
    return positions


def as_dtm(machine: TuringMachine) -> DTM:
    transitions: dict[str, dict[str, tuple[str, str, str]]] = {}
    for rule in machine.rules:
        action = (rule.next_state, rule.write[0], "LNR"[rule.moves[0] + 1])
        transitions.setdefault(rule.state, {})[rule.read[0]] = action
    return DTM(
        states=set(machine.states),
        input_symbols=set(machine.symbols) - {machine.blank},
        tape_symbols=set(machine.symbols),
        transitions=transitions,  # type: ignore[arg-type]
        initial_state=machine.start,
        blank_symbol=machine.blank,
        final_states=set(machine.stopping) or {"none"},
    )


@settings(max_examples=100)
@given(seeds)
def test_automata_lib_agrees(seed: int) -> None:
    machine = random_machine(seed, tapes=1, kind=TapeKind.TWO_WAY, roles=False)
    assume(machine.stopping and machine.start in machine.rules_of)
    word = random_word(machine, seed)
    peer = as_dtm(machine).read_input_stepwise("".join(word))
    ours = itertools.islice(configurations(machine, word), LIMIT)
    for ours_now, theirs_now in zip(ours, safely(peer), strict=False):
        content = "".join(theirs_now.tape.tape).strip(machine.blank)
        assert ours_now.state == theirs_now.state
        assert "".join(ours_now.tapes[0].content) == content


def safely(peer: Iterator[Any]) -> Iterator[Any]:
    try:
        yield from peer
    except RejectionException:
        return


def test_automata_lib_objects_accept_on_their_own_terms() -> None:
    mntm = MNTM(
        states={"a", "f"},
        input_symbols={"1"},
        tape_symbols={"1", "_"},
        n_tapes=2,
        transitions={
            "a": {
                ("1", "_"): [("a", (("1", "R"), ("1", "R")))],
                ("_", "_"): [("f", (("_", "N"), ("_", "L")))],
            },
        },
        initial_state="a",
        blank_symbol="_",
        final_states={"f"},
    )
    machine = from_automata_lib(mntm)
    result = simulate(machine, ("1", "1", "1"))
    assert (result.outcome, result.steps) == (Outcome.ACCEPT, 4)
    assert result.tapes[1].content == ("1", "1", "1")
    assert machine.accept_on is AcceptOn.HALT
    assert machine.no_rule_rejects
    assert from_automata_lib(as_dtm(loads("1RB1LB_1LA1RZ"))).accept_on is AcceptOn.ENTRY


def test_a_star_tape_to_the_left_and_right_is_found_again() -> None:
    """A long sweep to either side keeps the input and grows the tape in both directions."""
    left = loads("0 1 1 l 0\n0 _ 1 l 0\n", format_name="morphett")
    result = simulate(left, ("1",) * 5, head=3, max_steps=5000)
    assert result.tapes[0].content == ("1",) * 5001
    assert result.cells == (5001,)


def test_limits_and_watching() -> None:
    runner = loads("0 _ 1 r 0\n", format_name="morphett")
    assert simulate(runner, max_cells=10**5).outcome is Outcome.OUT_OF_SPACE
    told: list[int] = []

    def watch(steps: int) -> bool:
        told.append(steps)
        return len(told) < 2

    result = simulate(runner, watch=watch)
    assert result.outcome is Outcome.LIMIT
    assert told == [fast.CHUNK, 2 * fast.CHUNK]
    assert simulate(runner, max_steps=0).steps == 0


@pytest.mark.parametrize(
    ("tapes", "shown"),
    [
        (1, "tape 'x'>"),
        (3, "tapes 'x', 'x', 'x'>"),
        (4, "tapes 'x', 'x', 'x' and 1 more>"),
        (6, "tapes 'x', 'x', 'x' and 3 more>"),
    ],
)
def test_a_result_shows_three_tapes_and_counts_the_others(tapes: int, shown: str) -> None:
    start = Rule("go", ("_",) * tapes, ("x",) * tapes, (Move.STAY,) * tapes, "end")
    machine = TuringMachine("x", tapes, "_", "go", (start,), halting=frozenset({"end"}))
    assert repr(simulate(machine)).endswith(shown)


@pytest.mark.parametrize("rejects", [False, True])
def test_only_a_state_that_is_not_halting_rejects_for_want_of_a_rule(rejects: bool) -> None:
    """State y has a rule for another symbol than the one that it is entered on."""
    ways = (("go", "a", "x"), ("go", "b", "y"), ("y", "a", "y"))
    rules = tuple(Rule(s, (read,), (read,), (Move.STAY,), to) for s, read, to in ways)
    machine = TuringMachine(
        "ends", 1, "_", "go", rules, halting=frozenset({"x"}), no_rule_rejects=rejects
    )
    found = [simulate(machine, word).outcome for word in ("a", "b", "")]
    wanted = Outcome.REJECT if rejects else Outcome.HALT
    assert found == [Outcome.HALT, wanted, wanted]


def test_a_machine_and_its_model_may_go_equally_far_by_default() -> None:
    """A run that the simulation finishes is one that the model may finish, and the other way round."""
    default = signature(simulate).parameters["max_steps"].default
    assert {default, RunLimits().max_steps, BatchOptions().max_steps} == {10**9}
