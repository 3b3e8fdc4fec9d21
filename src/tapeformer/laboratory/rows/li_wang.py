"""Li and Wang 2025b: an adapter to the construction `paper`."""

from __future__ import annotations

from tapeformer.laboratory.compiled import compiled_row
from tapeformer.laboratory.row import Bounds

ROW = compiled_row(
    "paper",
    Bounds("O(1)", "O(1)", "O(s)", "O(t s^c)"),
    name="li_wang",
    title="Li and Wang 2025b",
    source="Li, Wang: Efficient Turing Machine Simulation with Transformers (2025), repaired",
)
