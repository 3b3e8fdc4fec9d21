"""The engine of a bundle: where its vocabulary is flat, seen through the factors of its tokens."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tapeformer.bundle.record import Bundle
from tapeformer.engines.flat import FlatStream
from tapeformer.engines.registry import make_engine
from tapeformer.engines.stream import Stream

Variant = Mapping[str, str | float]


def engine_for(
    bundle: Bundle, kind: str, window: int | None = None, variant: Variant | None = None
) -> Stream:
    """Return an engine that takes and gives tokens by the bundle's `token_factors`.

    A flat model runs on the sparse engine unless another is named.
    """
    flat = bundle.vocabulary
    name = "sparse" if flat and kind == "auto" else kind
    made = make_engine(name, bundle.weights, bundle.offsets, window, **dict(variant or {}))
    if not flat:
        return made
    numbers = [{v: n for n, v in enumerate(factor.values)} for factor in bundle.token_factors]
    rows = [[number[v] for number, v in zip(numbers, token, strict=True)] for token in flat]
    return FlatStream(made, np.array(rows, np.int32))
