"""The names of the ring's tracks and of a tape's registers, for the circuit and for the decoder."""

RING, BEFORE, HERE = "ring", "before", "here"
MARKS = ("0", "1")
NOT_YET = "no"
"""The value of a tape's `done` until it has acted in a step; then the name of its move."""


def track(place: str, tape: int) -> str:
    """Return the name of a tape's track (from 0) in the ring or in a held cell."""
    return f"{place}.{tape + 1}"


def first_of(place: str) -> str:
    """Return the name of the track that marks the first cell."""
    return f"{place}.first"
