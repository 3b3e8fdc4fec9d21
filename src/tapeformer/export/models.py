"""What an export takes: a compiled model, or the folder of one."""

from __future__ import annotations

import os

from tapeformer.bundle.load import load_bundle
from tapeformer.bundle.record import Bundle
from tapeformer.faults import Fault, TapeformerError, described

Model = Bundle | str | os.PathLike[str]
"""A compiled model, or the folder of one."""


def loaded(model: Model) -> Bundle:
    """Return a compiled model, or the one in a folder."""
    if isinstance(model, Bundle):
        return model
    if isinstance(model, str | os.PathLike):
        return load_bundle(model)
    raise TapeformerError(
        Fault(
            "not a compiled model",
            expected="a Bundle, or the path of its folder",
            got=described(model),
            remedy="tf.compile_machine makes one of a machine",
        )
    )
