"""Which words are kept of a token in the memory of a batch."""

from __future__ import annotations

from functools import cached_property

from tapeformer.dataclass import dataclass

Row = tuple[int, ...]


@dataclass(frozen=True)
class TokenWords:
    """The words that are kept of a token: those of resident factors, then ring after ring.

    `resident` and `coded` have pairs of a factor and its first word; a row of `rings` has the first
    word of a ring, how many it has, and the heads that fetch from it.
    """

    sizes: Row
    resident: tuple[Row, ...]
    coded: tuple[Row, ...]
    rings: tuple[Row, ...]

    @cached_property
    def resident_words(self) -> int:
        """Return how many words the resident factors take."""
        return sum(self.sizes[factor] for factor, _ in self.resident)

    def ring_of(self, word: int) -> int:
        """Return the ring that a word is in."""
        return next(
            number
            for number, (first, words, *_) in enumerate(self.rings)
            if first <= word < first + words
        )
