"""Straight-line programs over machine words: what machine code is made from.

A word has one bit for each input of a batch, or, for a single stream, one for each of several
equal parts of the model. Equal operations stand once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

ONES = (1 << 64) - 1

Operation = tuple[str, *tuple[int, ...]]
"""Its name and its operands: earlier operations, or numbers.

`token w`: word w of the newest token; `fetched w h mask h mask ...`: word w of the tokens that
heads attend to, each head's part picked by a mask; `and`, `or`, `xor`, `less` (the first without
the second): of two; `keep a mask`, `shift a n` (to the left; to the right where n is negative),
`spread a lane` (one bit to all places), `any a mask` (whether a bit is set, to all places),
`constant c`; `kept w a`: stores a further word of the newest token before heads fetch it.
"""


@dataclass(frozen=True)
class Program:
    """Operations in order; the words of the next token, the guard and the margin's digits.

    A token has `width` words, the first `len(following)` of which are its factors'.
    """

    operations: tuple[Operation, ...]
    width: int
    following: tuple[int, ...]
    guard: int
    margin: tuple[int, ...]


class Words:
    """Makes operations, each once, and folds constants."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self._known: dict[Operation, int] = {}

    def make(self, *operation: str | int) -> int:
        """The number of an operation, which is appended if it is new."""
        if operation not in self._known:
            self._known[operation] = len(self.operations)  # type: ignore[index]
            self.operations.append(operation)  # type: ignore[arg-type]
        return self._known[operation]  # type: ignore[index]

    def constant(self, bits: int) -> int:
        """A word that never changes."""
        return self.make("constant", bits & ONES)

    def all_of(self, yes: Sequence[int], no: Sequence[int]) -> tuple[int, bool]:
        """AND of words and of complements; the answer may be the complement of the word given."""
        if not yes:
            return self._chain("or", no), True
        result = self._chain("and", yes)
        return (self.make("less", result, self._chain("or", no)) if no else result), False

    def xor(self, left: int, right: int) -> int:
        """The exclusive OR of two words."""
        return self.make("xor", *sorted((left, right)))

    def complement(self, word: int) -> int:
        """Every bit the other way."""
        return self.make("less", self.constant(ONES), word)

    def keep(self, word: int, mask: int) -> int:
        """The bits of a mask, all others 0."""
        if mask & ONES == ONES:
            return word
        if self.operations[word][0] == "keep":
            numbers = self.operations[word][1:]
            word, mask = numbers[0], mask & numbers[1]
        return self.make("keep", word, mask & ONES)

    def shift(self, word: int, places: int) -> int:
        """Moved to the left."""
        return self.make("shift", word, places) if places else word

    def either(self, words: Iterable[int]) -> int:
        """OR of words."""
        return self._chain("or", list(words))

    def _chain(self, kind: str, words: Sequence[int]) -> int:
        """A balanced tree, so that no operand waits for long."""
        level = sorted(set(words))
        while len(level) > 1:
            pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
            level = [self.make(kind, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
        return level[0]
