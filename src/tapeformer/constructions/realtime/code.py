"""How a symbol is kept in a cell: as one value while the alphabet is small, else as bits.

A cell is a set of *planes*, each true or false: every operation on columns acts on each plane
alone. A plane is named by a value of the cell's own factor (END, a symbol, or `SOME` for a symbol
that is kept as bits) or by the number of a bit, which has a factor of its own. A block of several
tape cells is kept as one symbol is: `SOME`, and the bits of each of its cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from tapeformer.dataclass import dataclass

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
    """The code of one tape's symbols, or of blocks of `cells` symbols; the blank has no bits."""

    symbols: tuple[str, ...]
    cells: int = 1

    @property
    def one_hot(self) -> bool:
        """Whether each symbol is a value: no block is."""
        return self.cells == 1 and len(self.symbols) <= SMALL

    @property
    def width(self) -> int:
        """The bits of one symbol; none if each symbol is a value."""
        return 0 if self.one_hot else (len(self.symbols) - 1).bit_length()

    @property
    def bits(self) -> int:
        """The bits of a symbol or block."""
        return self.cells * self.width

    @property
    def values(self) -> tuple[str, ...]:
        """The values that stand for symbols in a cell's own factor."""
        return self.symbols if self.one_hot else (SOME,)

    @property
    def head_planes(self) -> tuple[Plane, ...]:
        """The planes of the symbol under the head, which is always there."""
        return self.symbols if self.one_hot else tuple(range(self.width))

    def planes(self, symbol: str) -> frozenset[Plane]:
        """Return the planes that are true for a symbol."""
        if self.one_hot:
            return frozenset([symbol])
        number = self._numbers[symbol]
        return frozenset([SOME, *(bit for bit in range(self.width) if number >> bit & 1)])

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {symbol: number for number, symbol in enumerate(self.symbols)}
