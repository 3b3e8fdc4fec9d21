"""What a user may choose about a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class CompileOptions:
    """The construction, its sizes (of levels, base and space, two fix the third), and the heads."""

    construction: str = "realtime"
    levels: int | None = None
    base: int | None = None
    space: int | None = None
    heads: Literal["offset", "queue"] = "offset"
    layers: int = 1
    layer_norm: bool = False
