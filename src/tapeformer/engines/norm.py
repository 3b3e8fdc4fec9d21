"""Layer normalisation, without gain or bias, where the model has it."""

from __future__ import annotations

from torch import Tensor


def normalised(stream: Tensor, wanted: bool) -> Tensor:
    """The residual stream as a sub-layer reads it.

    Written out because it is then exact: means of +1 and -1 are whole numbers divided once, while
    torch's fused kernel rounds on the way.
    """
    if not wanted:
        return stream
    centred = stream - stream.mean()
    return centred / centred.square().mean().sqrt()
