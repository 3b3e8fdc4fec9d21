"""Every machine of the gallery: sound, commented, and right on its worked cases."""

from __future__ import annotations

import pytest

from tapeformer import Case, check, configurations, gallery_machine, gallery_names, simulate
from tapeformer.gallery import gallery_text

LONG = 5_000_000
CASES = [
    (name, case)
    for name in gallery_names()
    for case in gallery_machine(name).cases
    if (case.steps or 0) <= LONG
]
"""Without BB(5) to its end, which the benchmark runs."""
REQUIRED = {
    *(f"busy_beaver_{n}" for n in (2, 3, 4, 5)),
    *("busy_beaver_2_3", "binary_increment", "binary_addition", "copy", "palindrome"),
    *("palindrome_two_tapes", "anbncn", "balanced_brackets", "unary_to_binary", "sort_bits"),
    *("primality", "binary_counter", "universal", "bf_interpreter"),
}


def test_the_gallery_is_complete() -> None:
    assert len(gallery_names()) >= 24
    assert set(gallery_names()) >= REQUIRED
    assert any("multiplication" in name for name in gallery_names())


@pytest.mark.parametrize("name", gallery_names())
def test_machines_are_sound_described_and_commented(name: str) -> None:
    machine = gallery_machine(name)
    assert check(machine) == ()
    assert machine.name == name
    assert machine.description
    assert "#" in gallery_text(name)
    assert len(machine.cases) >= 2


@pytest.mark.parametrize(("name", "case"), CASES)
def test_cases(name: str, case: Case) -> None:
    machine = gallery_machine(name)
    result = simulate(machine, case.word)
    assert result.outcome.value == case.outcome
    assert case.state in (None, result.state)
    assert case.steps in (None, result.steps)
    assert case.tapes in (None, tuple(tape.content for tape in result.tapes))
    if result.steps <= 3000:
        *_, last = configurations(machine, case.word)
        assert (last.step, last.state, last.tapes) == (result.steps, result.state, result.tapes)
