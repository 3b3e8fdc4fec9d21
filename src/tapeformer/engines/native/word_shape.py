"""The shape of words and tokens in memory, shared by generated code and its callers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tapeformer.dataclass import dataclass
from tapeformer.engines.logic.machine_words import WORD_BITS

if TYPE_CHECKING:
    from tapeformer.engines.logic.program import Program

CACHE_LINE = 64
"""Tokens begin at multiples of this many bytes."""


@dataclass(frozen=True)
class WordShape:
    """A word is a vector of `elements` times 64 bits; a token takes `stride` words."""

    elements: int
    stride: int

    def __post_init__(self) -> None:
        if self.elements < 1 or self.elements & (self.elements - 1):
            raise ValueError("vectors of other sizes than powers of two have gaps in memory")

    @property
    def type(self) -> str:
        """Return the LLVM type of a word."""
        return "i64" if self.elements == 1 else f"<{self.elements} x i64>"

    @property
    def bits(self) -> int:
        """Return the size of a word in bits."""
        return WORD_BITS * self.elements

    @property
    def octets(self) -> int:
        """Return the size of a word in bytes."""
        return self.bits // 8

    @property
    def token_bytes(self) -> int:
        """Return the size of a token in bytes."""
        return self.octets * self.stride

    def entry_words(self, words: int) -> int:
        """Return how many words a token takes in memory, padded to begin at a cache line."""
        line = max(1, CACHE_LINE // self.octets)
        return -(-words // line) * line

    def constant(self, bits: int) -> str:
        """Return the LLVM constant with the same 64 bits in every element."""
        signed = bits - (1 << WORD_BITS) if bits >> WORD_BITS - 1 else bits
        if self.elements == 1:
            return str(signed)
        return "<" + ", ".join(f"i64 {signed}" for _ in range(self.elements)) + ">"


def word_shape(program: Program, elements: int) -> WordShape:
    """Return the shape for a program, with tokens padded to cache lines."""
    return WordShape(elements, WordShape(elements, 1).entry_words(program.width))
