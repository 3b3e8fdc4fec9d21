"""Straight-line programs over machine words: the form of gates that back ends compile.

A word has one bit per input of a batch (bit-slicing) or, for a single stream, one lane for each of
several equal parts of the model (packing). Operands are indices of earlier operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from tapeformer.engines.logic.machine_words import ONES


class BinaryOpcode(StrEnum):
    """A bitwise operation on two words; `AND_NOT` is the first without the bits of the second."""

    AND = "and"
    OR = "or"
    XOR = "xor"
    AND_NOT = "and_not"


@dataclass(frozen=True, slots=True)
class Operation:
    """What all operations share."""

    @property
    def operands(self) -> tuple[int, ...]:
        """Return the earlier operations whose values this one reads."""
        return ()


@dataclass(frozen=True, slots=True)
class Constant(Operation):
    """A word that never changes."""

    bits: int


@dataclass(frozen=True, slots=True)
class LoadToken(Operation):
    """A word of the newest token."""

    word: int


@dataclass(frozen=True, slots=True)
class LoadFetched(Operation):
    """A word of the tokens that heads attend to: from each head, the lanes of its mask."""

    word: int
    masks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class LoadChoice(Operation):
    """Whether each input's model has chosen a column: a word that does not change during a run."""

    column: int


AT_HAND = (Constant, LoadToken, LoadChoice)
"""Operations that cost no more to repeat than to keep their values."""


@dataclass(frozen=True, slots=True)
class Store(Operation):
    """What operations that store a word share."""

    word: int
    operand: int

    @property
    def operands(self) -> tuple[int, ...]:
        """Return the operation whose value is stored."""
        return (self.operand,)


@dataclass(frozen=True, slots=True)
class StoreToken(Store):
    """Stores an extra word of the newest token, for heads to fetch later."""


@dataclass(frozen=True, slots=True)
class StoreNext(Store):
    """Stores a word of the next token, in programs that schedule these stores themselves."""


@dataclass(frozen=True, slots=True)
class Binary(Operation):
    """A bitwise operation on two words."""

    opcode: BinaryOpcode
    left: int
    right: int

    @property
    def operands(self) -> tuple[int, ...]:
        """Return both operands."""
        return (self.left, self.right)


@dataclass(frozen=True, slots=True)
class Unary(Operation):
    """What operations on one word share."""

    operand: int

    @property
    def operands(self) -> tuple[int, ...]:
        """Return the only operand."""
        return (self.operand,)


@dataclass(frozen=True, slots=True)
class Mask(Unary):
    """A word masked: all bits outside the mask are 0."""

    mask: int


@dataclass(frozen=True, slots=True)
class Shift(Unary):
    """All lanes shifted to the left, or to the right if `places` is negative."""

    places: int


@dataclass(frozen=True, slots=True)
class Broadcast(Unary):
    """One lane copied to all lanes."""

    lane: int


@dataclass(frozen=True, slots=True)
class AnyLane(Unary):
    """Whether any lane is 1, in all lanes."""


@dataclass(frozen=True)
class Program:
    """Operations in order, and the indices of the outputs.

    A token has `width` words; the first `len(next_token)` hold its factors, and `next_token` has
    the operation that computes each of those words for the next token.
    """

    operations: tuple[Operation, ...]
    width: int
    next_token: tuple[int, ...]
    guard: int
    margin: tuple[int, ...]


def renumbered(operation: Operation, index: Mapping[int, int]) -> Operation:
    """Return an operation with its operands renumbered."""
    if isinstance(operation, Binary):
        return Binary(operation.opcode, index[operation.left], index[operation.right])
    if isinstance(operation, Unary | Store):
        return replace(operation, operand=index[operation.operand])
    assert not operation.operands
    return operation


class ProgramBuilder:
    """Appends operations, each only once (value numbering)."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self._index: dict[Operation, int] = {}
        self._binary_index: dict[tuple[BinaryOpcode, int, int], int] = {}

    def add(self, operation: Operation) -> int:
        """Return the index of an operation, appending it if it is new."""
        if isinstance(operation, Binary):
            return self.binary(operation.opcode, operation.left, operation.right)
        index = self._index.setdefault(operation, len(self.operations))
        if index == len(self.operations):
            self.operations.append(operation)
        return index

    def binary(self, opcode: BinaryOpcode, left: int, right: int) -> int:
        """Return the index of a binary operation; they are many, so only new ones make a record."""
        key = opcode, left, right
        index = self._binary_index.get(key)
        if index is None:
            index = self._binary_index[key] = len(self.operations)
            self.operations.append(Binary(opcode, left, right))
        return index

    def constant(self, bits: int) -> int:
        """Return a constant word."""
        return self.add(Constant(bits & ONES))

    def conjunction(self, words: Sequence[int], complements: Sequence[int]) -> tuple[int, bool]:
        """Return the AND of words and complements, and whether it is itself complemented."""
        if not words:
            return self.tree(BinaryOpcode.OR, complements), True
        result = self.tree(BinaryOpcode.AND, words)
        if complements:
            result = self.and_not(result, self.tree(BinaryOpcode.OR, complements))
        return result, False

    def disjunction(self, words: Iterable[int]) -> int:
        """Return the OR of words."""
        return self.tree(BinaryOpcode.OR, words)

    def xor(self, left: int, right: int) -> int:
        """Return the exclusive OR of two words."""
        return self.binary(BinaryOpcode.XOR, min(left, right), max(left, right))

    def and_not(self, left: int, right: int) -> int:
        """Return the first word without the bits of the second."""
        return self.binary(BinaryOpcode.AND_NOT, left, right)

    def complement(self, word: int) -> int:
        """Return a word with every bit inverted."""
        return self.and_not(self.constant(ONES), word)

    def mask(self, word: int, mask: int) -> int:
        """Return the bits of a mask, all others 0."""
        if mask & ONES == ONES:
            return word
        operation = self.operations[word]
        if isinstance(operation, Mask):
            word, mask = operation.operand, mask & operation.mask
        return self.add(Mask(word, mask & ONES))

    def shift(self, word: int, places: int) -> int:
        """Return a word shifted to the left."""
        return self.add(Shift(word, places)) if places else word

    def tree(self, opcode: BinaryOpcode, words: Iterable[int]) -> int:
        """Combine words by a balanced tree, so that the dependency chain is short."""
        level = sorted(set(words))
        while len(level) > 1:
            odd = level[len(level) & ~1 :]
            pairs = zip(level[::2], level[1::2], strict=False)
            level = [self.binary(opcode, left, right) for left, right in pairs] + odd
        return level[0]
