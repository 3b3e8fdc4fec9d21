"""A short fuzzing campaign; `make fuzz` runs the long one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.campaign import attack
from tests.fuzz.mutate import SEEDS


@pytest.mark.parametrize("format_name", SEEDS)
def test_a_machine_or_one_clean_error(format_name: str, tmp_path: Path) -> None:
    tally = attack(format_name, 300, 7, tmp_path)
    assert tally.machines > 0
    assert tally.errors > 0
