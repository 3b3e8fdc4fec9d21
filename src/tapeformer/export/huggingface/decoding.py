"""Reading a window of tokens back as state, tapes and heads, whatever the construction.

In an exported folder this file holds the decoder of the model's own construction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapeformer.constructions import Decoded, construction
from tapeformer.faults import TapeformerError
from tapeformer.layout import Layout

__all__ = ["Layout", "TapeformerError", "decode"]


def decode(
    reading: Mapping[str, Any], layout: Layout, tokens: Sequence[tuple[str, ...]]
) -> Decoded:
    """Return the configuration that the last token leaves."""
    return construction(layout.construction).decode(reading, layout, tokens)
