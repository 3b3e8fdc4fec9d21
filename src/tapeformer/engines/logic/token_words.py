"""Which words of a token a batch keeps in memory."""

from __future__ import annotations

from functools import cached_property

from tapeformer.dataclass import dataclass

Row = tuple[int, ...]


@dataclass(frozen=True)
class TokenWords:
    """The words kept of a token: those of resident factors, then those of one ring after another.

    `resident` and `coded` have pairs of a factor and its first word; a row of `rings` has a ring's
    first word, its number of words, and the heads that fetch from it.
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
