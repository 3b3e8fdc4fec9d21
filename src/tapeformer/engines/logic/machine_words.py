"""Machine words: how many bits they have, for programs and for those who read their memory."""

from __future__ import annotations

WORD_BITS = 64
ONES = (1 << WORD_BITS) - 1
"""A word with every bit set."""
