"""How a symbol is kept in a cell: as one value while the alphabet is small, else as bits.

A cell is a set of *planes*, each true or false: every operation on columns acts on each plane
alone. A plane is named by a value of the cell's own factor (END, a symbol, or `SOME` for a symbol
that is kept as bits) or by the number of a bit, which has a factor of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from tapeformer.circuit.record import Literal

Plane = str | int
Cell: TypeAlias = "Mapping[Plane, Literal]"
"""What a cell holds; where no literal is true it holds a dummy."""

SMALL = 5
"""Up to this many symbols, one value each costs no more than bits."""
SOME = "x"


@dataclass(frozen=True)
class SymbolCode:
    """The code of one tape's symbols; the first one, the blank, has no bits."""

    symbols: tuple[str, ...]

    @property
    def bits(self) -> int:
        """The number of bits; none if each symbol is a value."""
        return 0 if len(self.symbols) <= SMALL else (len(self.symbols) - 1).bit_length()

    @property
    def values(self) -> tuple[str, ...]:
        """The values that stand for symbols in a cell's own factor."""
        return (SOME,) if self.bits else self.symbols

    @property
    def head_planes(self) -> tuple[Plane, ...]:
        """The planes of the symbol under the head, which is always there."""
        return tuple(range(self.bits)) if self.bits else self.symbols

    def planes(self, symbol: str) -> frozenset[Plane]:
        """The planes that are true for a symbol."""
        if not self.bits:
            return frozenset([symbol])
        number = self._numbers[symbol]
        return frozenset([SOME, *(bit for bit in range(self.bits) if number >> bit & 1)])

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {symbol: number for number, symbol in enumerate(self.symbols)}
