"""A bit-sliced program in which heads fetch binary codes, so that a batch takes little memory.

A factor that heads fetch has the binary digits of its values kept in a ring, for as many tokens as
heads look back. Other factors are resident: one word per value, of the newest token only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tapeformer.engines.logic.factor_codes import codes, digits_of, digits_to_test
from tapeformer.engines.logic.machine_words import ONES
from tapeformer.engines.logic.program import (
    Binary,
    Constant,
    LoadChoice,
    LoadFetched,
    LoadToken,
    Operation,
    Program,
    ProgramBuilder,
    StoreNext,
    StoreToken,
)
from tapeformer.engines.logic.token_words import Row, TokenWords


def coded_program(
    program: Program, sizes: Sequence[int], watched: Iterable[int] = ()
) -> tuple[Program, TokenWords]:
    """Return the program that loads and stores the kept words, and which words those are.

    Factors in `watched` are resident even if heads fetch them. The next token is stored by
    operations, each of which comes after all loads of what it overwrites.
    """
    return _Coding(program, tuple(sizes), frozenset(watched)).translated()


class _Coding:
    """Translates operation by operation; factors are encoded as soon as their values are known."""

    def __init__(self, program: Program, sizes: Row, watched: frozenset[int]) -> None:
        self.program, self.sizes, self.builder = program, sizes, ProgramBuilder()
        self.factor_of = [(f, value) for f, size in enumerate(sizes) for value in range(size)]
        self.first_value = [sum(sizes[:factor]) for factor in range(len(sizes))]
        self.index: dict[int, int] = {}
        self.heads: dict[int, set[int]] = {}
        read = set(watched)
        for operation in program.operations:
            if isinstance(operation, LoadFetched):
                ((head, _),) = operation.masks
                self.heads.setdefault(self._kept(operation.word), set()).add(head)
            elif isinstance(operation, LoadToken):
                read.add(self.factor_of[operation.word][0])
        self._assign_words(read)

    def _kept(self, word: int) -> int:
        """Return the factor that a word belongs to; extra words are numbered after the factors."""
        values = len(self.factor_of)
        return self.factor_of[word][0] if word < values else len(self.sizes) + word - values

    def _digits(self, kept: int) -> int:
        return digits_of(self.sizes[kept]) if kept < len(self.sizes) else 1

    def _assign_words(self, read: set[int]) -> None:
        end, self.resident, self.coded = 0, dict[int, int](), dict[int, int]()
        for factor, size in enumerate(self.sizes):
            if factor in read or factor not in self.heads:
                self.resident[factor] = end
                end += size
        groups: dict[Row, list[int]] = {}
        for kept, heads in sorted(self.heads.items()):
            groups.setdefault(tuple(sorted(heads)), []).append(kept)
        self.rings: list[Row] = []
        for together, members in sorted(groups.items()):
            start = end
            for kept in members:
                self.coded[kept] = end
                end += self._digits(kept)
            self.rings.append((start, end - start, *together))

    def translated(self) -> tuple[Program, TokenWords]:
        due = self._factors_by_last_operation()
        words = self._resident_words_by_operation()
        for number, operation in enumerate(self.program.operations):
            self.index[number] = self._operation(operation)
            for word in words.get(number, ()):
                self.builder.add(StoreNext(word, self.index[number]))
            for factor in due.get(number, ()):
                self._encode(factor)
        program = Program(
            operations=tuple(self.builder.operations),
            width=sum(words for _, words, *_ in self.rings),
            next_token=(),
            guard=self.index[self.program.guard],
            margin=tuple(self.index[digit] for digit in self.program.margin),
        )
        factors = {kept: word for kept, word in self.coded.items() if kept < len(self.sizes)}
        return program, TokenWords(
            self.sizes, tuple(self.resident.items()), tuple(factors.items()), tuple(self.rings)
        )

    def _factors_by_last_operation(self) -> dict[int, list[int]]:
        """Return the fetched factors whose next value is known after each operation."""
        due: dict[int, list[int]] = {}
        for factor in self.coded:
            if factor < len(self.sizes):
                due.setdefault(max(self._next(factor)), []).append(factor)
        return due

    def _resident_words_by_operation(self) -> dict[int, list[int]]:
        """Return the words of resident factors that each operation computes."""
        words: dict[int, list[int]] = {}
        for factor, first in self.resident.items():
            for value, number in enumerate(self._next(factor)):
                words.setdefault(number, []).append(first + value)
        return words

    def _next(self, factor: int) -> tuple[int, ...]:
        """Return the operations that compute a factor's next value."""
        start = self.first_value[factor]
        return self.program.next_token[start : start + self.sizes[factor]]

    def _operation(self, operation: Operation) -> int:
        match operation:
            case LoadToken(word):
                factor, value = self.factor_of[word]
                return self.builder.add(LoadToken(self.resident[factor] + value))
            case LoadFetched(word, masks):
                return self._fetched(self._kept(word), word, masks)
            case StoreToken(word, operand):
                kept = self.coded[self._kept(word)]
                return self.builder.add(StoreToken(kept, self.index[operand]))
            case Binary(opcode, left, right):
                return self.builder.binary(opcode, self.index[left], self.index[right])
            case Constant() | LoadChoice():
                return self.builder.add(operation)
            case _:
                raise TypeError(f"no bit-sliced operation: {operation}")

    def _fetched(self, kept: int, word: int, masks: tuple[tuple[int, int], ...]) -> int:
        """Return the operation that says whether a fetched factor has a word's value."""
        if kept >= len(self.sizes):
            return self.builder.add(LoadFetched(self.coded[kept], masks))
        size, value = self.sizes[kept], self.factor_of[word][1]
        digits = self._load(kept, masks)
        if not digits:
            return self.builder.constant(ONES)
        ones, zeros = ([digits[digit] for digit in part] for part in digits_to_test(size, value))
        found, complemented = self.builder.conjunction(ones, zeros)
        return self.builder.complement(found) if complemented else found

    def _load(self, kept: int, masks: tuple[tuple[int, int], ...]) -> list[int]:
        words = range(self.coded[kept], self.coded[kept] + self._digits(kept))
        return [self.builder.add(LoadFetched(word, masks)) for word in words]

    def _encode(self, factor: int) -> None:
        """Store the digits of a factor's next value over the oldest, once all heads have loaded."""
        for head in sorted(self.heads[factor]):
            self._load(factor, ((head, ONES),))
        values = [self.index[number] for number in self._next(factor)]
        pairs = list(zip(codes(self.sizes[factor]), values, strict=True))
        for digit in range(self._digits(factor)):
            total = self.builder.disjunction(value for code, value in pairs if code >> digit & 1)
            self.builder.add(StoreNext(self.coded[factor] + digit, total))
