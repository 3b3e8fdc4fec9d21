"""Every row, on machines of the gallery and random ones: whole traces, and ablations that fail."""

from __future__ import annotations

import pytest

from tapeformer.laboratory.arithmetic import MOST_BITS, Rounded
from tapeformer.laboratory.registry import find_row, row_names
from tests.laboratory.cases import gallery_case, random_case, small_random_case

STEPS = 40
ROWS = row_names()
SEEDS = {name: 6 if find_row(name).construction is None else 2 for name in ROWS}
"""Adapters are tried on fewer machines: their constructions have tests of their own."""
MACHINES = ("left_end", "binary_counter", "copy")


@pytest.mark.parametrize(
    ("name", "machine"),
    [(n, m) for n in ROWS if n != "qiu" for m in MACHINES[: 3 if SEEDS[n] > 2 else 1]],
)
def test_whole_traces_of_gallery_machines(name: str, machine: str) -> None:
    row = find_row(name)
    task = row.task(*gallery_case(machine), STEPS)
    assert row.experiment(task).first_wrong(Rounded(MOST_BITS)) is None


@pytest.mark.parametrize(("name", "seed"), [(n, seed) for n in ROWS for seed in range(SEEDS[n])])
def test_whole_traces_of_random_machines(name: str, seed: int) -> None:
    row = find_row(name)
    make = random_case if row.longest is None else small_random_case
    task = row.task(*make(seed), STEPS)
    assert row.experiment(task).first_wrong(Rounded(MOST_BITS)) is None


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "name", [n for n in ROWS if find_row(n).several_tapes and find_row(n).construction is None]
)
def test_whole_traces_on_two_tapes(name: str, seed: int) -> None:
    row = find_row(name)
    task = row.task(*random_case(seed, tapes=2), STEPS)
    assert row.experiment(task).first_wrong(Rounded(MOST_BITS)) is None


@pytest.mark.parametrize(
    ("name", "ablation"), [(name, one) for name in ROWS for one in find_row(name).ablations]
)
def test_ablations_go_wrong(name: str, ablation: str) -> None:
    row = find_row(name)
    small = row.longest is not None
    names = ("busy_beaver_3",) if small else ("binary_counter", "copy")
    tasks = (row.task(*gallery_case(machine), 100) for machine in names)
    found = (row.ablations[ablation](task).first_wrong(Rounded(MOST_BITS)) for task in tasks)
    assert any(wrong is not None for wrong in found)
