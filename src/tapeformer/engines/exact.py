"""Which whole numbers a type holds exactly, and the check that no sum leaves them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapeformer.faults import Fault, TapeformerError
from tapeformer.weights.bounds import Bounds
from tapeformer.weights.parameters import nonzero_values, parameters
from tapeformer.weights.record import TransformerWeights

EXACT = {
    "bfloat16": 1 << 8,
    "float16": 1 << 11,
    "float32": 1 << 24,
    "float64": 1 << 53,
}
"""All whole numbers up to this size are exact, and no larger ones need be."""

WHOLE = (np.int8, np.int16, np.int32, np.int64)


def whole_dtype(largest: int, smallest: type[np.signedinteger[Any]] = np.int32) -> np.dtype[Any]:
    """Return the smallest type of integers, from a given one on, that holds numbers of this size.

    Python's own integers are the type for what exceeds 64 bits.
    """
    for kind in WHOLE[WHOLE.index(smallest) :]:
        if largest <= np.iinfo(kind).max:
            return np.dtype(kind)
    return np.dtype(object)


def as_whole(numbers: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return whole numbers of any type as integers; those of floating point fit 64 bits."""
    whole = numbers.astype(np.int64) if numbers.dtype.kind == "f" else numbers
    return whole.astype(dtype)


@dataclass(frozen=True)
class SumCheck:
    """Refuses a matrix product whose sums may be too large for a floating-point type.

    `needed` is a size that no sum of the model exceeds. Where the type holds it, nothing is left
    to check in a run; otherwise every product is checked with the inputs that it has.
    """

    dtype: str
    needed: int

    @property
    def idle(self) -> bool:
        """Whether the weights alone tell that every sum is exact."""
        return self.needed <= EXACT[self.dtype]

    def __call__(self, inputs: Any, norms: tuple[int, int]) -> None:
        """Check one product: `norms` are the largest sum of |weight| in a row and |bias|."""
        if not self.idle and len(inputs):
            self.below_limit(norms[0] * int(abs(inputs).max()) + norms[1])

    def below_limit(self, size: int) -> None:
        """Refuse sums that may reach a size at which the type rounds."""
        if not self.idle and size >= EXACT[self.dtype]:
            raise TapeformerError(_too_large(self.dtype, "sum", size, self.needed))


def check_exact(weights: TransformerWeights, bounds: Bounds, dtype: str) -> SumCheck:
    """Refuse a type that rounds a parameter or an embedding; return the check for the rest."""
    entries = (np.abs(nonzero_values(parameter)) for parameter in parameters(weights))
    largest = max((int(part.max(initial=0)) for part in entries), default=0)
    for what, size in (("parameter", largest), ("embedding", bounds.embedded)):
        if size > EXACT[dtype]:
            raise TapeformerError(_too_large(dtype, what, size, bounds.sums))
    return SumCheck(dtype, bounds.sums)


def _too_large(dtype: str, what: str, size: int, needed: int) -> Fault:
    return Fault(
        f"{dtype} does not hold every {what} of this model exactly",
        expected=f"whole numbers up to {EXACT[dtype]}",
        got=str(size),
        remedy=_remedy(needed),
    )


def _remedy(needed: int) -> str:
    """Return the smallest type in which every sum is exact whatever the tokens are."""
    enough = [name for name, limit in EXACT.items() if needed <= limit]
    whole = "use engine='sparse', which computes with whole numbers"
    return f"use dtype={enough[0]!r}, or engine='sparse'" if enough else whole
