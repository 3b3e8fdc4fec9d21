"""Limits on steps in a token: said before anything is built, with the most that fits."""

from __future__ import annotations

import re

import pytest

from tapeformer import TapeformerError, compile_machine, gallery_machine
from tapeformer.constructions import construction
from tapeformer.constructions.realtime.speedup.limits import (
    MOST_STEPS,
    check_steps,
    estimate,
    largest_steps,
)
from tapeformer.weights.count import count


@pytest.mark.parametrize(("name", "steps"), [("busy_beaver_4", 3), ("palindrome_two_tapes", 2)])
def test_the_estimate_is_not_below_the_model(name: str, steps: int) -> None:
    machine = gallery_machine(name)
    counts = count(compile_machine(machine, levels=4, steps_per_token=steps).weights)
    guess = estimate(machine, 4, steps)
    assert counts.ff_depth <= guess.depth <= counts.ff_depth + 6
    assert counts.neurons <= guess.neurons <= 3 * counts.neurons


def test_too_many_steps_are_refused_with_the_most_that_fits() -> None:
    machine = gallery_machine("binary_multiplication")
    with pytest.raises(TapeformerError, match="give steps_per_token=") as refused:
        construction("realtime", 40).layout(machine, 12)
    most = int(re.findall(r"steps_per_token=(\d+)", str(refused.value))[0])
    assert most == largest_steps(machine, 12) > 1
    check_steps(machine, 12, most)
    with pytest.raises(TapeformerError, match="paths"):
        check_steps(machine, 12, most + 1)


def test_no_token_makes_more_than_64_steps() -> None:
    with pytest.raises(TapeformerError, match=f"at most {MOST_STEPS} steps"):
        check_steps(gallery_machine("busy_beaver_2"), 4, 10**9)


@pytest.mark.parametrize("name", ["paper", "post"])
def test_other_constructions_refuse(name: str) -> None:
    with pytest.raises(TapeformerError, match="at most one step in a token"):
        construction(name, 2)
