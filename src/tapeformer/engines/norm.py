"""Layer normalisation, without gain or bias, in whole numbers: exact, or refused.

A model made by the compiler has streams of mean 0 and variance 1, which normalising leaves as they
are. A stream whose normalised coordinates are not whole numbers would be rounded, differently in
every type, so it is refused.
"""

from __future__ import annotations

from math import isqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.exact import as_whole, whole_dtype
from tapeformer.faults import Fault, TapeformerError

Vector: TypeAlias = NDArray[Any]


def norm_dtype(width: int, largest: int) -> np.dtype[Any]:
    """Return the integers that hold the sum of squares of a centred stream."""
    return whole_dtype(width * (2 * largest) ** 2, np.int64)


def normalised(stream: Vector, dtype: np.dtype[Any]) -> Vector:
    """Return the stream as a sub-layer reads it, in the type that it came in."""
    whole = as_whole(stream, dtype)
    total, squares = whole.sum(), (whole * whole).sum()
    if total == 0 and squares == len(whole):
        return stream
    return _divided(whole).astype(stream.dtype)


def _divided(whole: Vector) -> Vector:
    """Return the stream less its mean, divided by its standard deviation."""
    mean, mean_rest = divmod(int(whole.sum()), len(whole))
    centred = whole - mean
    variance, variance_rest = divmod(int((centred * centred).sum()), len(whole))
    deviation = isqrt(variance)
    if mean_rest or variance_rest or deviation**2 != variance or not deviation:
        raise _rounded()
    if (centred % deviation).any():
        raise _rounded()
    return np.asarray(centred // deviation)


def _rounded() -> TapeformerError:
    return TapeformerError(
        Fault(
            "layer normalisation would round the residual stream of this model",
            expected="normalised coordinates that are whole numbers",
            remedy="compile the machine again: its own weights are normalised exactly",
        )
    )
