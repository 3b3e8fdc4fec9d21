"""The executable proof, that its constants are the least, and that the model is the machine."""

from __future__ import annotations

from random import Random

import pytest

from tapeformer.constructions.realtime.model import StackModel
from tapeformer.constructions.realtime.names import TRACKS
from tapeformer.constructions.realtime.proofs import base_two as proof
from tapeformer.constructions.realtime.proofs.search import Workload, measured, worst_found
from tapeformer.queues.run import QueueRun, factor_names
from tests.constructions.machines import one_tape
from tests.constructions.realtime.workloads import REALTIME


def test_a_level_never_makes_the_level_below_wait() -> None:
    found = proof.check_level()
    assert found.violations == ()
    assert found.states > 40


def test_level_0_never_makes_the_machine_wait() -> None:
    found = proof.check_top()
    assert found.violations == ()
    assert found.states > 20


@pytest.mark.parametrize(("tracks", "high"), [(4, 2), (4, 3), (5, 2), (5, 4)])
def test_the_check_fails_for_other_constants(
    monkeypatch: pytest.MonkeyPatch, tracks: int, high: int
) -> None:
    monkeypatch.setattr(proof, "TRACKS", tracks)
    monkeypatch.setattr(proof, "HIGH", high)
    assert proof.check_level().violations
    assert proof.check_top().violations


@pytest.mark.parametrize("base", [4, 6, 8])
def test_the_worst_waits_that_a_short_search_finds(base: int) -> None:
    found = worst_found(base, 2, tries=200)
    assert base - 1.2 < found.average <= base - 1
    assert (base - 2) * base - 2 <= found.longest_wait <= (base - 2) * base
    again = measured(base, 2, found.longest_wait_by)
    assert again.longest_wait == found.longest_wait


def test_base_2_never_waits() -> None:
    assert measured(2, 6, Workload(300, (-200, 150, -150, 200), 3)).longest_wait == 0


@pytest.mark.parametrize(("base", "levels"), [(2, 4), (4, 2), (4, 3), (6, 2), (8, 2)])
def test_the_model_is_the_machine(base: int, levels: int) -> None:
    """The left stack's operations are the model's at every token; the right stack may start a level."""
    rng = Random(base * levels)
    lines = [f"q{i} _ _ {rng.choice('RRLL')} q{(i + 1) % 97}" for i in range(97)]
    machine = one_tape("walk", *lines)
    run = QueueRun(
        REALTIME.queue_machine(machine, levels), REALTIME.layout(machine, levels, base), ()
    )
    names = factor_names(run.machine)
    model = StackModel(base, levels)
    for _ in range(1500):
        token = dict(zip(names, run.advance(), strict=True))
        held = sum(token[f"tape1.left/top.track{t}"] != "." for t in range(TRACKS))
        for level in range(1, levels + 1):
            if token[f"started{level}"] == "1" and model.started[level] < 0:
                model.started[level] = model.tokens
        model.advance(0)
        model.blocks[0] = held
        assert [token[f"tape1.left/op{i}"] for i in range(1, levels + 1)] == model.ops[1:]
