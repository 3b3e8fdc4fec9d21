"""A machine's steps as a circuit of two-input gates, O(t log t) of them.

2^k steps on a window of 3 * 2^k cells, the head in the middle third, are twice 2^(k-1) steps on
three of six blocks with the head in the middle one; multiplexers choose the blocks. A cell is its
symbol's bits, a bit for the head, and the state's bits (0 without the head).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from tapeformer.laboratory.preparation import Prepared

Wire: TypeAlias = int
"""0 and 1 are constants; larger numbers are tokens: 2 is the first."""
Truth: TypeAlias = tuple[int, int, int, int]
"""A gate's output for inputs 00, 01, 10, 11."""
Cell: TypeAlias = tuple[Wire, ...]


class Circuit:
    """Two-input gates with any truth table, in the order of evaluation, folded and shared."""

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.gates: list[tuple[Wire, Wire, Truth]] = []
        self._seen: dict[tuple[Wire, Wire, Truth], Wire] = {}

    def gate(self, a: Wire, b: Wire, truth: Truth) -> Wire:
        """Return the wire of a gate; constants, equal and ignored inputs are folded away."""
        if a < 2:
            a, b, truth = b, b, (truth[2 * a], truth[2 * a], truth[2 * a + 1], truth[2 * a + 1])
        if b < 2:
            if a < 2:
                return truth[2 * a + b]
            a, b, truth = a, a, (truth[b], truth[b], truth[2 + b], truth[2 + b])
        if a == b:
            truth = (truth[0], truth[0], truth[3], truth[3])
        if truth[:2] == truth[2:]:
            a, truth = b, (truth[0], truth[0], truth[1], truth[1])
        if truth[0] == truth[1] and truth[2] == truth[3]:
            b = a
            if truth[0] == truth[2]:
                return truth[0]
            if truth == (0, 0, 1, 1):
                return a
        if a > b:
            a, b, truth = b, a, (truth[0], truth[2], truth[1], truth[3])
        return self._shared((a, b, truth))

    def _shared(self, key: tuple[Wire, Wire, Truth]) -> Wire:
        if key not in self._seen:
            self.gates.append(key)
            self._seen[key] = 1 + self.inputs + len(self.gates)
        return self._seen[key]

    def both(self, a: Wire, b: Wire) -> Wire:
        """Return a and b."""
        return self.gate(a, b, (0, 0, 0, 1))

    def either(self, a: Wire, b: Wire) -> Wire:
        """Return a or b."""
        return self.gate(a, b, (0, 1, 1, 1))

    def choose(self, flag: Wire, a: Wire, b: Wire) -> Wire:
        """Return a if the flag is set, else b."""
        if a == b:
            return a
        return self.either(self.both(flag, a), self.gate(flag, b, (0, 1, 0, 0)))

    def values(self, bits: Sequence[int]) -> list[int]:
        """Return the value of every wire for the inputs' bits."""
        values = [0, 1, *bits]
        for a, b, truth in self.gates:
            values.append(truth[2 * values[a] + values[b]])
        return values


class StepCircuit:
    """2^k steps of a prepared machine with one tape, on a word of a given length."""

    def __init__(self, prepared: Prepared, letters: int, k: int) -> None:
        self.symbols, self.states = prepared.machine.symbols, prepared.states
        self.symbol_bits = max(1, (len(self.symbols) - 1).bit_length())
        self.state_bits = max(1, (len(self.states) - 1).bit_length())
        self.circuit = Circuit(letters * self.symbol_bits)
        self.seen: list[tuple[Cell, Cell]] = []
        self.starts: list[int] = []
        self._tables = self._truth_tables(prepared)
        self._run(self._window(prepared, letters, k), k)

    def coded(self, symbol: str) -> list[int]:
        """Return the bits of a symbol."""
        number = self.symbols.index(symbol)
        return [number >> bit & 1 for bit in range(self.symbol_bits)]

    def _truth_tables(self, prepared: Prepared) -> list[list[int | None]]:
        """Tabulate the bits of symbol, state and move over state and symbol; None is free."""
        g, c = self.symbol_bits, self.state_bits
        rows: list[list[int] | None] = []
        for number in range(1 << g + c):
            state, symbol = number >> g, number & (1 << g) - 1
            if state >= len(self.states) or symbol >= len(self.symbols):
                rows.append(None)
                continue
            after, written, moves = prepared.delta[self.states[state], (self.symbols[symbol],)]
            q = self.states.index(after)
            bits = [*self.coded(written[0]), *(q >> bit & 1 for bit in range(c))]
            rows.append([*bits, *(int(moves[0] == move) for move in (-1, 0, 1))])
        return [[None if one is None else one[j] for one in rows] for j in range(g + c + 3)]

    def _window(self, prepared: Prepared, letters: int, k: int) -> list[Cell]:
        g, c = self.symbol_bits, self.state_bits
        blank = (*self.coded(prepared.machine.blank), *[0] * (1 + c))
        cells: list[Cell] = [blank] * (3 << k)
        middle = 1 << k
        for at in range(min(letters, 2 << k)):
            cells[middle + at] = (*range(2 + at * g, 2 + (at + 1) * g), *[0] * (1 + c))
        q = self.states.index(prepared.machine.start)
        cells[middle] = (*cells[middle][:g], 1, *(q >> bit & 1 for bit in range(c)))
        return cells

    def _run(self, cells: list[Cell], k: int) -> list[Cell]:
        if k == 0:
            return self._step(cells)
        size = 1 << k - 1
        for where in ((2, 3), (1, 2, 3, 4)):
            flags = [self._held(cells[b * size : (b + 1) * size]) for b in where]
            around = [cells[(b - 1) * size : (b + 2) * size] for b in where]
            inner = self._run(self._picked(flags, around), k - 1)
            cells = self._put_back(cells, inner, flags, where, size)
        return cells

    def _held(self, cells: list[Cell]) -> Wire:
        """Return whether a block has the head."""
        found = 0
        for cell in cells:
            found = self.circuit.either(found, cell[self.symbol_bits])
        return found

    def _picked(self, flags: list[Wire], options: list[list[Cell]]) -> list[Cell]:
        picked = options[0]
        for flag, option in zip(flags[1:], options[1:], strict=True):
            picked = self._chosen(flag, option, picked)
        return picked

    def _chosen(self, flag: Wire, a: list[Cell], b: list[Cell]) -> list[Cell]:
        choose = self.circuit.choose
        return [
            tuple(choose(flag, x, y) for x, y in zip(p, q, strict=True))
            for p, q in zip(a, b, strict=True)
        ]

    def _put_back(
        self,
        cells: list[Cell],
        inner: list[Cell],
        flags: list[Wire],
        where: Sequence[int],
        size: int,
    ) -> list[Cell]:
        out: list[Cell] = []
        for block in range(6):
            now = cells[block * size : (block + 1) * size]
            for flag, at in zip(flags, where, strict=True):
                part = block - at + 1
                if 0 <= part <= 2:
                    now = self._chosen(flag, inner[part * size : (part + 1) * size], now)
            out += now
        return out

    def _step(self, cells: list[Cell]) -> list[Cell]:
        """Make one step: the middle cell has the head, which goes to one of the three."""
        g, c = self.symbol_bits, self.state_bits
        middle = cells[1]
        self.seen.append((middle[g + 1 :], middle[:g]))
        self.starts.append(len(self.circuit.gates))
        bits = [*middle[:g], *middle[g + 1 :]]
        made = [self._function(bits, table) for table in self._tables]
        symbol, state, moves = made[:g], made[g : g + c], made[g + c :]
        return [
            (
                *(symbol if at == 1 else cells[at][:g]),
                moves[at],
                *(self.circuit.both(moves[at], bit) for bit in state),
            )
            for at in range(3)
        ]

    def _function(self, bits: Sequence[Wire], values: Sequence[int | None]) -> Wire:
        """Return any function of bits by Shannon's expansion."""
        known = {value for value in values if value is not None}
        if len(known) < 2:
            return known.pop() if known else 0
        half = len(values) // 2
        low, high = values[:half], values[half:]
        pairs = list(zip(low, high, strict=True))
        if all(x is None or y is None or x == y for x, y in pairs):
            return self._function(bits[:-1], [y if x is None else x for x, y in pairs])
        above, below = self._function(bits[:-1], high), self._function(bits[:-1], low)
        return self.circuit.choose(bits[-1], above, below)
