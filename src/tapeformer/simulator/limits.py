"""Check the numbers that a caller passes to the simulator."""

from __future__ import annotations

from collections.abc import Sequence

from tapeformer.arguments import bad_argument


def checked_head(head: int, word: Sequence[str]) -> int:
    """Return the start of the head if it is on the word or right after it; otherwise raise."""
    if isinstance(head, int) and not isinstance(head, bool) and 0 <= head <= len(word):
        return head
    expected = f"a whole number from 0 to {len(word)}, the length of the word"
    remedy = "count cells from the first symbol of the word, which is cell 0"
    raise bad_argument("head", expected, head, remedy)
