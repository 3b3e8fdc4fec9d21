"""A cache of kernels, keyed by a hash of everything they depend on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tapeformer.cache.objects import get_object, put_object
from tapeformer.cache.store import Store
from tapeformer.engines.batch import Counted
from tapeformer.engines.gpu.kernel import Kernel, kernel_of
from tapeformer.engines.gpu.ptx import ptx_of
from tapeformer.engines.native.cache import key_of
from tapeformer.engines.stream import Value
from tapeformer.weights.record import TransformerWeights


class Module(NamedTuple):
    """A kernel, and the PTX that the driver loads."""

    kernel: Kernel
    ptx: bytes


def module_of(
    weights: TransformerWeights,
    offsets: Sequence[int],
    stop: Value,
    counted: Counted,
    folder: Path | None = None,
) -> Module:
    """Return a model's kernels, cached or made now; NotLogicError if it has no gates."""
    import llvmlite  # type: ignore[import-untyped]

    store = Store("kernel", folder)
    key = key_of(weights, tuple(offsets), stop, counted, llvmlite.__version__)
    found = get_object(store, key, Module)
    if found is None:
        kernel = kernel_of(weights, offsets, stop, counted)
        found = Module(kernel, ptx_of(kernel.text))
        put_object(store, key, found)
    return found
