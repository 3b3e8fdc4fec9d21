"""The numbers that depend on n: they belong to no stage, and no step function or weight knows them."""

from __future__ import annotations

from collections.abc import Mapping

from tapeformer.dataclass import dataclass


@dataclass(frozen=True)
class Layout:
    """Levels, base, and the length that each rule gives; `capacity` is cells beside a tape's head."""

    construction: str
    levels: int
    base: int
    lengths: Mapping[str, int]
    capacity: int

    @property
    def window(self) -> int:
        """Tokens that must be kept: the longest queue."""
        return max(self.lengths.values())
