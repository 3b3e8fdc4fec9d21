"""The laws of Table 1: every row on a machine of fixed space, and on one whose space grows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeformer.gallery import gallery_machine
from tapeformer.laboratory.laws import TIMES, Workload, points
from tapeformer.laboratory.registry import find_rows
from tapeformer.machine.word import parse_word

WORKLOADS = {
    "fixed space": ("binary_counter", "0000000"),
    "growing space": ("unary_multiplication", "111111*111111"),
}
FITS = """Bits are fitted to a + b log2 t by least squares. Fixed space is binary_counter on 0000000,
growing space unary_multiplication on 111111*111111, each cut after t steps."""
POINTS = "Least mantissa that is right with every larger one, window, context, tokens per step."


def measured_laws(
    names: Sequence[str], largest: int, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Measure the rows on both workloads up to a number of steps."""
    times = [t for t in TIMES if t <= largest]
    found: list[dict[str, Any]] = []
    for title, (machine_name, text) in WORKLOADS.items():
        machine = gallery_machine(machine_name)
        work = Workload(title, machine, parse_word(machine, text))
        found += points(find_rows(names), work, times, say)
    return found
