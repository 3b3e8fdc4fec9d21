"""A Siegelmann-Sontag step as a network: a tape is a symbol between two stacks, a stack one number.

A stack a_1 (top), a_2, ... is the sum of (2 a_i + 1) / B^i, with B a power of two, so that pushing
and popping are exact shifts; the empty stack is 0 and reads as blank.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tapeformer.laboratory.attention import Head
from tapeformer.laboratory.coordinates import (
    Fields,
    Map,
    Network,
    clipped,
    fields,
    numbered,
    row,
    scaled,
    total,
)
from tapeformer.laboratory.preparation import Prepared, fresh

END = "$"
SIDES = ("L", "R")


class StackNetwork:
    """One decoder layer: cross-attention to the word, then a network of clipped units."""

    def __init__(self, prepared: Prepared, dyadic: bool = True) -> None:
        machine = prepared.machine
        self.prepared, self.symbols = prepared, machine.symbols
        self.number = {symbol: index for index, symbol in enumerate(self.symbols)}
        size = len(self.symbols)
        self.base = 2 * (1 << (size - 1).bit_length() if dyadic else size)
        self.tapes = range(machine.tapes)
        self.load = fresh("load", machine)
        self.states = (self.load, *prepared.states)
        self.fields = self._fields()
        self.units = list(prepared.delta)
        self.network: Network = (*self._compared(), *self._updated())
        self.cross = self._cross()

    def _fields(self) -> Fields:
        blocks: dict[str, Any] = {"q": self.states, "x": (*self.symbols, END)}
        for t in self.tapes:
            blocks |= {f"c.{t}": self.symbols, f"L.{t}": None, f"R.{t}": None}
        return fields(**blocks, one=None, t=None)

    def _cross(self) -> Head:
        """Fetch letter min(t, n + 1) of the word and its end mark."""
        query = Map(self.fields, numbered(2), [row(0, {"one": 1}), row(1, {"t": 1})])
        key = Map(self.fields, numbered(2), [row(0, {"t": 1}), row(1, {"one": -1})])
        value = Map(self.fields, self.fields, self.fields.copied("x"))
        return Head("input", (value,), (query,), (key,), "negative distance", mask="memory")

    def _hidden(self) -> Fields:
        blocks: dict[str, Any] = {"z": self.units, "ld": (*self.symbols, END)}
        for t in self.tapes:
            for side in SIDES:
                blocks |= {f"{side}>={t}": self.symbols, f"{side}.{t}": None}
        return fields(**blocks)

    def _compared(self) -> Network:
        """Compare the tops of the stacks, and find state, symbols and letter: clip(B q - 2a)."""
        rows = []
        for t in self.tapes:
            for side in SIDES:
                rows.append(row(f"{side}.{t}", {f"{side}.{t}": 1}))
                rows += [
                    row((f"{side}>={t}", a), {f"{side}.{t}": self.base}, -2 * self.number[a])
                    for a in self.symbols
                ]
        for state, read in self.units:
            parts = {(f"c.{t}", read[t]): 1 for t in self.tapes}
            rows.append(row(("z", (state, read)), {("q", state): 1, **parts}, -len(self.tapes)))
        rows += [
            row(("ld", a), {("q", self.load): 1, ("x", a): 1}, -1) for a in (*self.symbols, END)
        ]
        self.hidden = self._hidden()
        return (Map(self.fields, self.hidden, rows), clipped)

    def _updated(self) -> Network:
        """Gate the candidates for each stack and symbol by the move, and add them up."""
        blocks: dict[str, Any] = {"q": self.states}
        for t in self.tapes:
            blocks |= {f"{side}{way}.{t}": None for side in SIDES for way in (-1, 0, 1)}
            blocks |= {f"c{way}.{t}": self.symbols for way in (-1, 0, 1)}
            blocks |= {f"empty{way}.{t}": None for way in (-1, 1)}
        gated = fields(**blocks)
        rows = [row(("q", state), self._into(state)) for state in self.states]
        out = gated.copied("q")
        for t in self.tapes:
            rows += self._candidates(t)
            for side in SIDES:
                out.append(row(f"{side}.{t}", {f"{side}{way}.{t}": 1 for way in (-1, 0, 1)}))
            for a in self.symbols:
                ways = {(f"c{way}.{t}", a): 1 for way in (-1, 0, 1)}
                empty = {f"empty{way}.{t}": 1 for way in (-1, 1)}
                out.append(row((f"c.{t}", a), {**ways, **(empty if a == self._blank else {})}))
        return (Map(self.hidden, gated, rows), clipped, Map(gated, self.fields, out))

    @property
    def _blank(self) -> str:
        return self.prepared.machine.blank

    def _into(self, state: str) -> dict[Any, Any]:
        """Return the units after which the machine is in a state."""
        delta = self.prepared.delta
        terms: dict[Any, Any] = {("z", key): 1 for key in self.units if delta[key][0] == state}
        if state == self.load:
            terms |= {("ld", a): 1 for a in self.symbols}
        if state == self.prepared.machine.start:
            terms[("ld", END)] = 1
        return terms

    def _going(self, t: int, way: int) -> dict[Any, Any]:
        """Return the units that move a head; loading moves that of tape 1 to the right."""
        terms: dict[Any, Any] = {
            ("z", key): 1 for key in self.units if self.prepared.delta[key][2][t] == way
        }
        letters = {("ld", a): 1 for a in self.symbols}
        if way == (1 if t == 0 else 0):
            terms |= letters
        if way == 0:
            terms[("ld", END)] = 1
        return terms

    def _digit(self, t: int) -> dict[Any, Any]:
        """Return what a push adds: (2a + 1) / B for the symbol that is written."""
        delta, base = self.prepared.delta, self.base
        terms: dict[Any, Any] = {
            ("z", key): Fraction(2 * self.number[delta[key][1][t]] + 1, base) for key in self.units
        }
        if t == 0:
            terms |= {("ld", a): Fraction(2 * self.number[a] + 1, base) for a in self.symbols}
        return terms

    def _candidates(self, t: int) -> list[Any]:
        rows = []
        going = {way: self._going(t, way) for way in (-1, 0, 1)}
        for side, push in (("L", 1), ("R", -1)):
            stack = f"{side}.{t}"
            digits = {(f"{side}>={t}", a): (-2 if self.number[a] else -1) for a in self.symbols}
            pushed = total(going[push], {stack: Fraction(1, self.base)}, self._digit(t))
            popped = total(going[-push], {stack: self.base}, digits)
            rows.append(row(f"{side}{push}.{t}", pushed, -1))
            rows.append(row(f"{side}{-push}.{t}", popped, -1))
            rows.append(row(f"{side}0.{t}", total(going[0], {stack: 1}), -1))
        for way, side in ((1, "R"), (-1, "L")):
            rows += [
                row((f"c{way}.{t}", a), total(going[way], self._top(side, t, a)), -1)
                for a in self.symbols
            ]
            nonempty = {(f"{side}>={t}", self.symbols[0]): -1}
            rows.append(row(f"empty{way}.{t}", total(going[way], nonempty)))
        for a in self.symbols:
            rows.append(row((f"c0.{t}", a), total(self._staying(t), self._wrote(t, a)), -1))
        return rows

    def _staying(self, t: int) -> dict[Any, Any]:
        return {("z", key): 1 for key in self.units if self.prepared.delta[key][2][t] == 0}

    def _wrote(self, t: int, symbol: str) -> dict[Any, Any]:
        """Return the units that write a symbol; while the word is loaded other heads see blanks."""
        delta = self.prepared.delta
        terms: dict[Any, Any] = {("z", key): 1 for key in self.units if delta[key][1][t] == symbol}
        if symbol == self._blank:
            idle = (END,) if t == 0 else (*self.symbols, END)
            terms |= scaled({("ld", a): 1 for a in idle}, 2)
        return terms

    def _top(self, side: str, t: int, symbol: str) -> dict[Any, Any]:
        """Return [top = a] = [top >= a] - [top >= a + 1]."""
        number = self.number[symbol]
        above = {(f"{side}>={t}", a): -1 for a in self.symbols[number + 1 : number + 2]}
        return {(f"{side}>={t}", symbol): 1, **above}
