"""Engines by name; each is imported only when it is used."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from tapeformer.engines.stream import Stream
from tapeformer.faults import Fault, TapeformerError, quoted
from tapeformer.weights.record import TransformerWeights

ENGINES = ("dense", "sparse")
AUTO = "auto"


def engine_name(asked: str) -> str:
    """The engine that is meant: `auto` is the fastest that there is."""
    if asked == AUTO:
        return "sparse"
    if asked not in ENGINES:
        expected = ", ".join((AUTO, *ENGINES))
        raise TapeformerError(Fault("unknown engine", expected=expected, got=quoted(asked)))
    return asked


def make_engine(
    asked: str, weights: TransformerWeights, offsets: Sequence[int], window: int | None = None
) -> Stream:
    """An engine over the weights and the look-backs: it is given nothing else."""
    module = import_module(f"tapeformer.engines.{engine_name(asked)}")
    stream: Stream = module.Engine(weights, offsets, window)
    return stream
