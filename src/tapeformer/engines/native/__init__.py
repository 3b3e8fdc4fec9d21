"""The native engine: gates as machine code, one stream or 256 at once."""

from tapeformer.engines.native.engine import Engine

__all__ = ["Engine"]
