"""Check the numbers that a caller passes to the simulator."""

from __future__ import annotations

from collections.abc import Sequence

from tapeformer.faults import Fault, TapeformerError, described


def checked_number(name: str, value: int, least: int) -> int:
    """Return a number if it is an int that is large enough; otherwise raise."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return value
    expected, remedy = f"an int, {least} or more", f"leave out {name}, or pass such a number"
    raise TapeformerError(Fault(f"bad `{name}`", None, expected, described(value), remedy))


def checked_head(head: int, word: Sequence[str]) -> int:
    """Return the start of the head if it is on the word or right after it; otherwise raise."""
    if isinstance(head, int) and not isinstance(head, bool) and 0 <= head <= len(word):
        return head
    expected = f"an int from 0 to {len(word)}, the length of the word"
    remedy = "count cells from the first symbol of the word, which is cell 0"
    raise TapeformerError(Fault("bad `head`", None, expected, described(head), remedy))


def checked_watch(watch: object) -> None:
    """Raise if the function that watches a run cannot be called."""
    if watch is not None and not callable(watch):
        remedy = "pass a function that takes the number of steps, or leave it out"
        raise TapeformerError(Fault("bad `watch`", None, "a function", described(watch), remedy))
