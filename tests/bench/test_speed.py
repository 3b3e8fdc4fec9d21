"""`bench speed` on small machines: what is counted, what is compared, what is left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tapeformer.bench import speed as module
from tapeformer.bench.contests import AT_ONCE, CONTESTS, Contest, counters, mirrored
from tapeformer.bench.entrants import Entrant, Made, of_batch, of_engine, of_peer, of_simulator
from tapeformer.bench.peers import MISSING, peer_machine, peer_run
from tapeformer.bench.speed import Patience, contest_rows, round_robin, speed, summary
from tapeformer.compile.options import CompileOptions
from tapeformer.faults import TapeformerError
from tapeformer.gallery import gallery_machine
from tapeformer.simulator.fast import simulate

QUICK = Patience(repeats=2, fewest=1, most_seconds=0.0, least=0.0)
COUNTER = Contest(
    "binary_counter",
    "0000",
    CompileOptions("paper", levels=2, space=8),
    tokens={"dense": 20, "sparse": 40},
    batch=("0000", "0101", "1111"),
)
ADDER = Contest(
    "binary_addition", "101#11", CompileOptions("paper", levels=1, space=16), tokens={"dense": 5}
)


def quiet(_text: str) -> None:
    """Says nothing."""


def test_steps_and_ratios_come_from_the_same_rows(tmp_path: Path) -> None:
    rows = {row["what"]: row for row in contest_rows(COUNTER, QUICK, tmp_path, quiet)}
    steps = simulate(COUNTER.machine, tuple(COUNTER.word)).steps
    for what in ("automata-lib DTM", "tapeformer simulate", "tapeformer native"):
        assert rows[what]["steps a run"] == steps
    peer = rows["automata-lib DTM"]["steps per second"]
    for row in rows.values():
        if row["steps per second"]:
            assert row["times automata-lib"] == row["steps per second"] / peer
            assert row["least steps"] <= row["steps per second"] <= row["most steps"]
    assert rows["tapeformer dense"]["tokens a run"] == 20
    assert rows["tapeformer simulate"]["tokens per second"] is None


def test_several_tapes_stand_beside_automata_libs_mntm(tmp_path: Path) -> None:
    rows = {row["what"]: row for row in contest_rows(ADDER, QUICK, tmp_path, quiet)}
    steps = simulate(ADDER.machine, tuple(ADDER.word)).steps
    assert rows["automata-lib MNTM"]["steps a run"] == steps
    assert rows["tapeformer sparse"]["steps a run"] == steps


def test_a_batch_counts_the_tokens_and_steps_of_every_input(tmp_path: Path) -> None:
    made = of_batch(COUNTER.bundle, COUNTER.batch, tmp_path, 10**6).once()
    alone = [
        of_engine("native", COUNTER.bundle, word, tmp_path, 10**6, 10**6).once()
        for word in COUNTER.batch
    ]
    assert made.tokens == sum(one.tokens for one in alone)
    assert made.steps == sum(one.steps for one in alone)
    assert made.steps == sum(simulate(COUNTER.machine, tuple(w)).steps for w in COUNTER.batch)


@pytest.mark.parametrize("steps", [1, 7, 26])
def test_a_run_is_cut_off_after_the_same_steps_everywhere(tmp_path: Path, steps: int) -> None:
    machine, word = COUNTER.machine, COUNTER.word
    entrants = (
        of_peer(machine, word, steps),
        of_simulator(machine, word, steps),
        of_engine("sparse", COUNTER.bundle, word, tmp_path, steps, 10**6),
    )
    assert [entrant.once().steps for entrant in entrants] == [steps] * 3


def test_the_peer_ends_in_the_same_configuration() -> None:
    for contest in (COUNTER, ADDER):
        machine, result = contest.machine, simulate(contest.machine, tuple(contest.word))
        *_, last = peer_run(peer_machine(machine), machine, contest.word)
        tapes = [last.tape] if machine.tapes == 1 else next(iter(last)).tapes
        for tape, ours in zip(tapes, result.tapes, strict=True):
            assert "".join(tape.tape).strip(machine.blank) == "".join(ours.content)


def test_entrants_take_turns_and_slow_ones_stop_early() -> None:
    order: list[str] = []

    def entrant(name: str, seconds: float) -> Entrant:
        def once() -> Made:
            order.append(name)
            return Made(1, 1, seconds)

        return Entrant(name, once)

    patience = Patience(repeats=4, fewest=2, most_seconds=5.0, least=1.0)
    timed = round_robin([entrant("slow", 3.0), entrant("fast", 0.5)], patience, quiet)
    assert order == ["slow", "fast", "fast"] * 2 + ["fast", "fast"] * 2
    assert timed[1] == [Made(2, 2, 1.0, runs=2)] * 4


def test_the_summary_has_a_column_for_each_machine() -> None:
    row = {"machine": "m", "what": "tapeformer native", "times automata-lib": 5.25}
    rate = {"per second": 1234567.0, "least": 1000.0, "most": 2e6}
    for unit in ("tokens", "steps"):
        row |= {f"{unit} per second": rate["per second"]}
        row |= {f"least {unit}": rate["least"], f"most {unit}": rate["most"]}
    shown = summary([row])
    assert shown[0] == {
        "per second": "tapeformer native, tokens",
        "m": "1,230,000 (1,000 to 2,000,000)",
    }
    assert shown[-1] == {"per second": "native over automata-lib, steps", "m": "5.2"}


def test_without_automata_lib_its_rows_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "has_peers", lambda: False)
    told: list[str] = []
    rows, first = speed([replace(COUNTER, batch=())], QUICK, told.append)
    assert told.count(MISSING) == 1
    assert not any(row["what"].startswith("automata-lib") for row in rows)
    assert all(row["times automata-lib"] is None for row in rows)
    assert first[0]["native, no code kept"] > first[0]["native, code kept"] > 0


def test_a_model_too_small_for_its_run_is_noticed(tmp_path: Path) -> None:
    beaver = Contest("busy_beaver_4", "", CompileOptions("paper", levels=1, base=2))
    with pytest.raises(TapeformerError, match="steps of busy_beaver_4 differ"):
        contest_rows(beaver, QUICK, tmp_path, quiet)


def test_every_contest_names_a_machine_and_words_of_its_alphabet() -> None:
    for contest in CONTESTS:
        alphabet = set(gallery_machine(contest.machine_name).symbols)
        assert set(contest.word).union(*contest.batch) <= alphabet
    assert len(set(counters(14))) == len(set(mirrored(128))) == AT_ONCE
    assert all(word == word[::-1] for word in mirrored(16))
