"""Published machines with known outcomes, through the direct simulator."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tapeformer import Outcome, configurations, load, loads, parse_word, simulate

DATA = Path(__file__).parent.parent / "data" / "machines"
EXPECTED: dict[str, Any] = json.loads((DATA / "expected.json").read_text())
CASES = [(name, case) for name, entry in EXPECTED.items() for case in entry["cases"]]
BEAVERS = list(csv.DictReader((DATA / "busy_beavers.tsv").open(), delimiter="\t"))


@pytest.mark.parametrize(("name", "case"), CASES)
def test_multi_tape_machines(name: str, case: dict[str, Any]) -> None:
    machine = load(DATA / f"{name}.txt")
    assert machine.tapes == EXPECTED[name]["tapes"]
    word = parse_word(machine, case["input"])
    result = simulate(machine, word)
    tapes = [machine.spell(tape.content) for tape in result.tapes]
    got = {"outcome": result.outcome.value, "state": result.state, "steps": result.steps}
    assert got | {"tapes": tapes, "input": case["input"]} == case
    *_, last = configurations(machine, word)
    assert (last.step, last.tapes) == (result.steps, result.tapes)


@pytest.mark.parametrize("row", BEAVERS, ids=lambda row: str(row["machine"]))
def test_busy_beavers(row: dict[str, str]) -> None:
    machine = loads(row["machine"])
    steps = int(row["steps"])
    long = steps > 10**6
    result = simulate(machine, max_steps=10**6 if long else 10**5)
    if long:
        assert (result.outcome, result.steps) == (Outcome.LIMIT, 10**6)
        return
    non_blank = sum(symbol != "0" for symbol in result.tapes[0].content)
    assert result.outcome is Outcome.HALT
    assert (result.steps, non_blank) == (steps, int(row["non_blank"]))


def test_a_halting_step_counts_and_a_missing_rule_does_not() -> None:
    with_step = simulate(loads("1RB1LB_1LA1RZ"))
    without = simulate(loads("1RB1LB_1LA---"))
    assert (with_step.steps, with_step.state) == (6, "Z")
    assert (without.steps, without.state) == (5, "B")
    assert without.outcome is Outcome.HALT
