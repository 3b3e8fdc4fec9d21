"""Li and Wang 2025a: an adapter to the construction `post`."""

from __future__ import annotations

from tapeformer.laboratory.compiled import compiled_row
from tapeformer.laboratory.row import Bounds

ROW = compiled_row(
    "post",
    Bounds("O(1)", "O(1)", "s", "O(t s)"),
    name="constant",
    title="Li and Wang 2025a",
    source="Li, Wang: Constant Bit-size Transformers Are Turing Complete (2025)",
)
