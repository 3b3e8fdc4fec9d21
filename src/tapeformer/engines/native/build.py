"""Machine code for a model, from the cache or compiled now."""

from __future__ import annotations

from collections.abc import Sequence

from tapeformer.engines.native.cache import CodeCache, MachineCode, key_of
from tapeformer.engines.native.compiler import target
from tapeformer.engines.native.memory_layout import BatchLayout, MemoryLayout
from tapeformer.weights.family import WeightFamily
from tapeformer.weights.record import TransformerWeights


def single_code(weights: TransformerWeights, cache: CodeCache) -> MachineCode[MemoryLayout]:
    """Return machine code for one stream."""

    def make() -> MachineCode[MemoryLayout]:
        from tapeformer.engines.native import codegen

        return codegen.single_stream(weights)

    return cache.get(_single_key(weights), make)


def is_made(weights: TransformerWeights, cache: CodeCache) -> bool:
    """Check whether the cache has machine code for one stream."""
    return isinstance(cache.find(_single_key(weights)), MachineCode)


def _single_key(weights: TransformerWeights) -> str:
    return key_of(weights, "single", target())


def batch_code(
    family: WeightFamily, cache: CodeCache, watched: Sequence[int], inputs: int
) -> MachineCode[BatchLayout]:
    """Return machine code that runs `inputs` inputs at once, each by a member of a family.

    `watched` are the factors to watch.
    """

    def make() -> MachineCode[BatchLayout]:
        from tapeformer.engines.native import codegen

        return codegen.batch(family, watched, inputs)

    shifts = family.shifts
    entries = (shifts.rows.tobytes(), shifts.columns.tobytes(), shifts.values.tobytes())
    asked = ("batch", family.sizes, entries, tuple(watched), inputs, target())
    return cache.get(key_of(family.weights, *asked), make)
