"""Faults as they travel from one process to another."""

from __future__ import annotations

import pickle

from tapeformer.faults import Fault, SourceLocation, TapeformerError

FAULTS = (
    Fault("no such state", SourceLocation("machine.yaml", 3), got="'q9'", remedy="name one"),
    Fault("another thing"),
)


def test_an_error_that_travels_is_the_same_error() -> None:
    error = TapeformerError(FAULTS)
    found = pickle.loads(pickle.dumps(error))
    assert (found.faults, str(found)) == (FAULTS, str(error))
