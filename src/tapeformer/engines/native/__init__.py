"""The native engine: gates as machine code, one stream or hundreds at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tapeformer.engines.native.engine import Engine

__all__ = ["Engine"]


def __getattr__(name: str) -> object:
    """Import the single-stream engine only when it is used: a batch does not need it."""
    if name != "Engine":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tapeformer.engines.native.engine import Engine

    return Engine
