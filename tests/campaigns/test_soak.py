"""Every kind of soak trial can fail: a planted fault is found, named with its seed, and shrunk."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tapeformer as tf
from tapeformer.bundle.load import load_bundle
from tapeformer.engines import exact, native
from tests.campaigns import kills
from tests.campaigns.soak import __main__ as soak
from tests.campaigns.soak import configs
from tests.campaigns.soak.configs import ConfigTrial, Lie
from tests.campaigns.soak.edited import Edit, EditedTrial
from tests.campaigns.soak.kills import KillTrial
from tests.campaigns.soak.lanes import LaneTrial
from tests.campaigns.soak.machines import MachineTrial
from tests.campaigns.soak.trial import Checked, Trial, WrongError, failure, shrunk

MACHINES, ROUNDED = (60, 38, 57), 12
"""Seeds: machines by each construction, and edits whose sums bfloat16 rounds."""


def sound(trial: Trial) -> bool:
    return not failure(trial, trial.parts)


def miscompile(monkeypatch: pytest.MonkeyPatch, trial: MachineTrial) -> tf.Rule:
    """Make the compiler take the first rule that is applied to another state; return the rule."""
    faithful, read = tf.stream, trial.word[:1] or (trial.machine.blank,)
    start = (trial.machine.start, read)
    first = next(rule for rule in trial.machine.rules if (rule.state, rule.read) == start)
    other = next(name for name in trial.states if name != first.next_state)

    def stream(machine: tf.TuringMachine, *inputs: Any, **options: Any) -> Iterator[Any]:
        wrong = replace(first, next_state=other)
        rules = tuple(wrong if rule == first else rule for rule in machine.rules)
        return faithful(replace(machine, rules=rules), *inputs, **options)

    monkeypatch.setattr(tf, "stream", stream)
    return first


@pytest.mark.parametrize("seed", MACHINES, ids=["realtime", "paper", "post"])
def test_a_miscompiled_rule_is_found(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    trial = MachineTrial(seed)
    miscompile(monkeypatch, trial)
    assert failure(trial, trial.parts).startswith("WrongError: token")


def test_a_miscompiled_rule_is_left_when_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    seed = MACHINES[-1]
    trial = MachineTrial(seed)
    assert sound(trial)
    rule = miscompile(monkeypatch, trial)
    assert f"machines {seed}: WrongError" in soak.repeated("machines", seed)
    assert shrunk(trial) == [rule]


def test_a_lane_that_differs_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One stream has another value in one field of one token."""
    advance = native.Engine.advance

    def advanced(engine: native.Engine, count: int) -> NDArray[np.int32]:
        rows = advance(engine, count).copy()
        rows[-1, 0] = (rows[-1, 0] + 1) % len(engine.weights.factors[0].values)
        return rows

    def trial(seed: int) -> Trial:
        return LaneTrial(seed, tokens=100, only="sort_bits")

    monkeypatch.setitem(soak.KINDS, "lanes", trial)
    assert not soak.repeated("lanes", 4)
    monkeypatch.setattr(native.Engine, "advance", advanced)
    assert "lanes 4: WrongError: a lane differs at token" in soak.repeated("lanes", 4)


def test_a_type_that_rounds_is_found_and_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of bfloat16 is off."""
    trial = EditedTrial(ROUNDED)
    assert sound(trial)
    monkeypatch.setitem(exact.EXACT, "bfloat16", 1 << 62)
    found = soak.repeated("edited", ROUNDED)
    assert f"edited {ROUNDED}: WrongError: dense {{'dtype': 'bfloat16'}}" in found
    left = shrunk(trial)
    assert 0 < len(left) < len(trial.parts)
    assert all(isinstance(part, Edit) for part in left)


def test_a_lie_that_ends_in_another_error_is_found_and_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Loading looks at one entry without a check."""
    seed, trial = next(
        (seed, trial)
        for seed, trial in ((seed, ConfigTrial(seed)) for seed in range(100))
        if len(trial.parts) > 1
    )
    lie = trial.parts[-1]
    assert isinstance(lie, Lie)

    def loaded(folder: Path) -> object:
        entry: Any = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        for key in lie.place:
            entry = entry[key] if not isinstance(entry, str) else None
        if entry == lie.value:
            raise KeyError(lie.place)
        return load_bundle(folder)

    assert sound(trial)
    monkeypatch.setattr(configs, "load_bundle", loaded)
    assert f"configs {seed}: KeyError" in soak.repeated("configs", seed)
    assert shrunk(trial) == [lie]


WRITER = """
import sys, time
from pathlib import Path
answers = Path(sys.argv[1]) / "answers"
done = len(answers.read_text().split()) if answers.exists() else 0
with answers.open("a") as file:
    for line in range(FROM, 8):
        time.sleep(0.02)
        print(line, file=file, flush=True)
"""
CARELESS = WRITER.replace("FROM", "0")
CAREFUL = WRITER.replace("FROM", "done")


@pytest.mark.parametrize(("script", "right"), [(CAREFUL, True), (CARELESS, False)])
def test_a_command_that_does_not_resume_is_found(
    script: str, right: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed command begins again behind what it has written, or goes on where it was."""

    def started(place: kills.Place, batch: bool) -> subprocess.Popen[str]:
        del batch
        command = [sys.executable, "-c", script, str(place.folder)]
        return subprocess.Popen(command, stdout=-1, stderr=-1, text=True, start_new_session=True)

    monkeypatch.setattr(kills.Place, "started", started)
    monkeypatch.setattr(kills, "SIGNALS", (signal.SIGKILL,))
    seed = next(seed for seed in range(100) if KillTrial(seed).batch)
    found = soak.repeated("kills", seed)
    assert (not found) is right
    assert right or f"kills {seed}: WrongError: other answers than undisturbed" in found


class _FailingOnce:
    parts: Sequence[object] = ()
    runs = 0

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def run(self, parts: Sequence[object]) -> Checked:
        del parts
        type(self).runs += self.seed == 1
        if self.seed == self.runs == 1:
            raise WrongError("a moment that is rarely met")
        return Checked()


def test_what_is_wrong_only_once_is_told_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(soak, "HISTORY", tmp_path / "history.jsonl")
    monkeypatch.setitem(soak.KINDS, "kills", _FailingOnce)
    (told,) = soak.campaign(["kills"], 0.001)["wrong"]
    assert told == "kills 1: WrongError: a moment that is rarely met; not when repeated"


class _Failing:
    def __init__(self, seed: int) -> None:
        self.seed, self.parts = seed, list(range(20))

    def run(self, parts: Sequence[object]) -> Checked:
        if self.seed == 4 and {3, 17} <= set(parts):
            raise WrongError("3 and 17 do not go together")
        return Checked(tokens=1)


def test_a_campaign_tells_what_was_wrong_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    history = tmp_path / "history.jsonl"
    history.write_text(json.dumps({"seeds": {"edited": [0, 3]}}) + "\n")
    monkeypatch.setattr(soak, "HISTORY", history)
    monkeypatch.setitem(soak.KINDS, "edited", _Failing)
    found = soak.campaign(["edited"], 0.001)
    first, end = found["seeds"]["edited"]
    assert first == 3
    assert found["tokens"] == end - first - 1
    assert found["wrong"] == [
        "edited 4: WrongError: 3 and 17 do not go together\n  left of 20 parts: [3, 17]"
    ]
