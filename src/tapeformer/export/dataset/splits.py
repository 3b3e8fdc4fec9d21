"""Which split a word belongs to: decided by the word alone, so that no word is in two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

TRAIN, VALIDATION, TEST = SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class SplitRule:
    """Words longer than `train_up_to` are for testing; of the others a share is held out."""

    train_up_to: int
    held_out: float = 0.1

    def split_of(self, word: Sequence[str]) -> str:
        """Return the split of a word."""
        if len(word) > self.train_up_to:
            return TEST
        return VALIDATION if word_hash(word) < self.held_out * 2**64 else TRAIN


def word_hash(word: Sequence[str]) -> int:
    """Return 64 bits that depend on a word's symbols only."""
    digest = blake2b("\0".join(word).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")
