"""Which integers a floating-point type holds exactly: there is no precision knob, only this check."""

from __future__ import annotations

import numpy as np
import torch

from tapeformer.faults import Fault, TapeformerError
from tapeformer.weights.parameters import nonzero_values, parameters
from tapeformer.weights.record import TransformerWeights

EXACT = {
    torch.bfloat16: 1 << 8,
    torch.float16: 1 << 11,
    torch.float32: 1 << 24,
    torch.float64: 1 << 53,
}
"""All integers up to this size are exact."""


def check_exact(weights: TransformerWeights, dtype: torch.dtype) -> None:
    """Refuses a type in which some parameter would be rounded."""
    if dtype not in EXACT:
        expected = "one of " + ", ".join(str(known) for known in EXACT)
        raise TapeformerError(Fault("unknown type of numbers", expected=expected, got=str(dtype)))
    entries = (np.abs(nonzero_values(parameter)) for parameter in parameters(weights))
    largest = max((int(part.max(initial=0)) for part in entries), default=0)
    if largest > EXACT[dtype]:
        raise TapeformerError(
            Fault(
                f"{dtype} does not hold every parameter of this model exactly",
                expected=f"integers up to {EXACT[dtype]}",
                got=str(largest),
                remedy="use float32",
            )
        )
