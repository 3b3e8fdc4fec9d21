"""The words of a dataset: drawn without repetition, or read from a file; the same for a seed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import accumulate

from tapeformer.export.dataset.permutation import permuted
from tapeformer.faults import Fault, SourceLocation, TapeformerError
from tapeformer.machine.record import TuringMachine
from tapeformer.machine.word import parse_word

Word = tuple[str, ...]


class Words(ABC):
    """Distinct words in a fixed order; iterating twice gives the same."""

    @abstractmethod
    def __iter__(self) -> Iterator[Word]: ...

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def lengths(self) -> tuple[int, int]:
        """The least and the greatest length."""

    @abstractmethod
    def record(self) -> dict[str, object]:
        """Describe where the words come from, so that they can be told from others."""


@dataclass(frozen=True)
class Drawn(Words):
    """Random words of some lengths, as many of each length as there are, evenly.

    `mirrored` is the share of words that read the same backwards: random words almost never do.
    """

    alphabet: tuple[str, ...]
    count: int
    shortest: int
    longest: int
    seed: int = 0
    mirrored: float = 0.0

    @property
    def lengths(self) -> tuple[int, int]:
        """The lengths asked for."""
        return self.shortest, self.longest

    def record(self) -> dict[str, object]:
        """Describe the draw."""
        return {
            "alphabet": list(self.alphabet),
            "count": self.count,
            "lengths": [self.shortest, self.longest],
            "seed": self.seed,
            "mirrored": self.mirrored,
        }

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Word]:
        ends = list(accumulate(group.count for group in self._groups))
        for position in range(self.count):
            place = permuted(position, self.count, f"{self.seed}/order")
            number = bisect_right(ends, place)
            group = self._groups[number]
            yield group.word(place - ends[number] + group.count)

    @cached_property
    def _groups(self) -> list[_Group]:
        """Share the count out over lengths, shortest first, and each length's over two kinds."""
        groups: list[_Group] = []
        left = self.count
        for length in range(self.shortest, self.longest + 1):
            share = -(-left // (self.longest + 1 - length))
            made = self._of_length(length, share)
            left -= sum(group.count for group in made)
            groups += made
        if left:
            raise _too_few(self, self.count - left)
        return groups

    def _of_length(self, length: int, share: int) -> list[_Group]:
        key, alphabet = f"{self.seed}/{length}", self.alphabet
        if not self.mirrored:
            every = _Group(alphabet, length, "any", 0, key)
            return [every.of(min(share, every.size))]
        same, other = (_Group(alphabet, length, kind, 0, key) for kind in ("mirrored", "other"))
        mirrored = min(round(share * self.mirrored), same.size)
        others = min(share - mirrored, other.size)
        return [same.of(min(share - others, same.size)), other.of(others)]


@dataclass(frozen=True)
class _Group:
    """The first `count` words of one length and kind, in an order that a key chooses."""

    alphabet: tuple[str, ...]
    length: int
    kind: str
    count: int
    key: str

    def of(self, count: int) -> _Group:
        """Return the group with another count."""
        return _Group(self.alphabet, self.length, self.kind, count, self.key)

    @property
    def size(self) -> int:
        """How many words there are of this length and kind."""
        every, mirrored = self._power(self.length), self._power((self.length + 1) // 2)
        return {"any": every, "mirrored": mirrored, "other": every - mirrored}[self.kind]

    def _power(self, digits: int) -> int:
        return int(len(self.alphabet) ** digits)

    def word(self, index: int) -> Word:
        """Return the word at a place of the order."""
        number = permuted(index, self.size, f"{self.key}/{self.kind}")
        if self.kind == "any":
            return self._letters(number, self.length)
        second = self.length // 2
        if self.kind == "mirrored":
            half = self._letters(number, self.length - second)
            return half + half[:second][::-1]
        return self._not_mirrored(*divmod(number, self._power(second) - 1))

    def _not_mirrored(self, first: int, second: int) -> Word:
        """Return the word of a first half and of a second one, counted without the first's mirror."""
        digits = self.length // 2
        half = self._letters(first, self.length - digits)
        mirror = self._number(half[:digits][::-1])
        return half + self._letters(second + (second >= mirror), digits)

    def _letters(self, number: int, digits: int) -> Word:
        letters = []
        for _ in range(digits):
            number, digit = divmod(number, len(self.alphabet))
            letters.append(self.alphabet[digit])
        return tuple(letters)

    def _number(self, letters: Word) -> int:
        number = 0
        for letter in reversed(letters):
            number = number * len(self.alphabet) + self.alphabet.index(letter)
        return number


def _too_few(drawn: Drawn, there_are: int) -> TapeformerError:
    return TapeformerError(
        Fault(
            f"there are only {there_are:,} words of {drawn.shortest} to {drawn.longest} symbols"
            " of this kind, and no word comes twice",
            expected=f"at most {there_are:,}",
            got=f"{drawn.count:,}",
            remedy="give a smaller --count, or longer --lengths",
        )
    )


@dataclass(frozen=True, eq=False)
class Listed(Words):
    """Words that a file lists, one per line; a line that repeats an earlier one is left out."""

    machine: TuringMachine
    text: str
    spaced: bool = False
    source: str = "words"

    @cached_property
    def _lines(self) -> list[str]:
        return list(dict.fromkeys(self.text.splitlines()))

    def __iter__(self) -> Iterator[Word]:
        for number, line in enumerate(self._lines, 1):
            try:
                yield parse_word(self.machine, line, self.spaced)
            except TapeformerError as error:
                place = SourceLocation(self.source, number)
                raise TapeformerError(Fault(str(error.faults[0]), place)) from None

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def lengths(self) -> tuple[int, int]:
        """The lengths that occur."""
        lengths = [len(line.split()) if self.spaced else len(line) for line in self._lines]
        return min(lengths, default=0), max(lengths, default=0)

    def record(self) -> dict[str, object]:
        """Describe the list by its hash."""
        digest = sha256(self.text.encode()).hexdigest()
        return {"count": len(self), "sha256": digest, "spaced": self.spaced}


def letters_of(machine: TuringMachine) -> tuple[str, ...]:
    """Return the symbols that random words have: those declared for input, else all but the blank."""
    return machine.input_symbols or tuple(s for s in machine.symbols if s != machine.blank)
