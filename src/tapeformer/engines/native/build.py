"""Machine code for a model: from the cache, or made now."""

from __future__ import annotations

from tapeformer.engines.native.cache import CodeCache, MachineCode, key_of
from tapeformer.engines.native.compiler import target
from tapeformer.weights.record import TransformerWeights

BATCH_ELEMENTS = 4
"""A batch has 256 inputs: four times 64 bits are a vector register."""


def single_code(weights: TransformerWeights, cache: CodeCache) -> MachineCode:
    """Return machine code for one stream."""

    def make() -> MachineCode:
        from tapeformer.engines.native import codegen

        return codegen.single_stream(weights)

    return cache.get(_single_key(weights), make)


def is_made(weights: TransformerWeights, cache: CodeCache) -> bool:
    """Check whether the cache has machine code for one stream."""
    return isinstance(cache.find(_single_key(weights)), MachineCode)


def _single_key(weights: TransformerWeights) -> str:
    return key_of(weights, "single", target())


def batch_code(weights: TransformerWeights, cache: CodeCache) -> MachineCode:
    """Return machine code for many inputs at once."""

    def make() -> MachineCode:
        from tapeformer.engines.native import codegen

        return codegen.batch(weights, BATCH_ELEMENTS)

    return cache.get(key_of(weights, "batch", target()), make)
