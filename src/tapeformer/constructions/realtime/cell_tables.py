"""Where the cells of all stacks are kept, and what their values mean, as arrays for many inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from tapeformer.constructions.realtime.code import SOME, SymbolCode
from tapeformer.constructions.realtime.names import BEHIND, KINDS, Stack, bit_names
from tapeformer.constructions.record import Domains
from tapeformer.windows import Integers, Tokens


class CellTables:
    """Factors and symbols by number; symbols are numbered in one list for all tapes.

    `behind` has, for a factor that is an operation, how many tracks lower each value leaves a column.
    """

    def __init__(self, reading: Mapping[str, Any], domains: Domains) -> None:
        self.reading, self.domains = reading, domains
        self.factor = {name: index for index, name in enumerate(reading["factors"])}
        tapes = range(1, reading["tapes"] + 1)
        self.stacks = [Stack(tape, side) for tape in tapes for side in ("left", "right")]
        self.coded = any(reading["coded"])
        coded = [symbol for symbols in reading["coded"] for symbol in symbols]
        values = [value for domain in domains for value in domain]
        known = (reading["dummy"], reading["bottom"], reading["blank"])
        self.symbols = tuple(dict.fromkeys([*known, *values, *coded]))
        self._number = {symbol: index for index, symbol in enumerate(self.symbols)}
        self.bottom = self._number[reading["bottom"]]
        self.blank = self._number[reading["blank"]]
        width = max(len(domain) for domain in domains)
        padded = [[self._number[value] for value in domain] for domain in domains]
        self._symbol_of = np.array([row + [0] * (width - len(row)) for row in padded])
        moved = np.array([BEHIND.get(symbol, 0) for symbol in self.symbols])
        self.behind: Integers = moved[self._symbol_of]
        self.top = self._factors([[*stack.top] for stack in self.stacks])
        self._heads = [f"tape{tape}/head" for tape in tapes]
        self._bits, self._code = self._codes() if self.coded else (self.top, self.top)

    def value(self, name: str, value: str) -> int:
        """Return the number of a factor's value."""
        return self.domains[self.factor[name]].index(value)

    @cache  # noqa: B019
    def tracks(self, level: int) -> tuple[Integers, Integers]:
        """Return the factors of a level's cells, [main or delay, stack, track], and their dummies."""
        names = [[stack.tracks(kind, level) for stack in self.stacks] for kind in KINDS]
        factors = np.stack([self._factors(part) for part in names])
        dummies = [
            self.value(name, self.reading["dummy"])
            for part in names
            for row in part
            for name in row
        ]
        return factors, np.array(dummies).reshape(factors.shape)

    def cells(self, tokens: Tokens, factors: Integers) -> Integers:
        """Return the symbols of cells in some tokens: of the tape, the bottom or the dummy."""
        own = self._symbol_of[factors, tokens.values(factors)]
        if not self.coded:
            return own
        kept = (own == self._number[SOME]) & (self._bits[factors, 0] >= 0)
        return np.where(kept, self._coded(tokens, factors), own)

    def heads(self, tokens: Tokens, tape: int) -> Integers:
        """Return the symbols under a tape's head."""
        name = self._heads[tape - 1]
        if not self.reading["coded"][tape - 1]:
            return self.cells(tokens, np.array(self.factor[name]))
        bits = bit_names(name, SymbolCode(tuple(self.reading["coded"][tape - 1])))
        return self._coded(tokens, np.array(self.factor[bits[0]]))

    def _factors(self, names: Sequence[Sequence[str]]) -> Integers:
        return np.array([[self.factor[name] for name in row] for row in names])

    def _codes(self) -> tuple[Integers, Integers]:
        """Return, for each factor, those that have its bits, and the symbols by number."""
        codes = [SymbolCode(tuple(symbols)) for symbols in self.reading["coded"]]
        most = max(code.bits for code in codes)
        bits = np.full((len(self.domains), most), -1)
        table = np.full((len(self.domains), 1 << most), self._number[SOME])
        for name, tape in self._coded_names():
            code = codes[tape - 1]
            found = [self.factor[bit] for bit in bit_names(name, code)]
            for factor in {self.factor.get(name, found[0]), found[0]}:
                bits[factor, : len(found)] = found
                table[factor, : len(code.symbols)] = [self._number[s] for s in code.symbols]
        return bits, table

    def _coded_names(self) -> list[tuple[str, int]]:
        """Return the names of all cells and heads that are kept as bits, with their tapes."""
        names = {name.rpartition(".bit")[0] for name in self.factor if ".bit" in name}
        return [
            (name, int(name.removeprefix("tape").split("/")[0].split(".")[0])) for name in names
        ]

    def _coded(self, tokens: Tokens, factors: Integers) -> Integers:
        """Return the symbols whose numbers the bits are."""
        total: Integers | int = 0
        for place in range(self._bits.shape[1]):
            bit = self._bits[factors, place]
            total = total + ((tokens.has(np.maximum(bit, 0), 1) & (bit >= 0)).astype(int) << place)
        symbols: Integers = self._code[factors, total]
        return symbols
