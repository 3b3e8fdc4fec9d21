"""The size of machine words and of counters, for programs and for readers of their memory."""

from __future__ import annotations

WORD_BITS = 64
ONES = (1 << WORD_BITS) - 1
"""A word with every bit set."""
COUNTER_DIGITS = 48
"""Binary digits of the engines' counters, a word for each."""
