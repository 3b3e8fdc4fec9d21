"""Post-Turing programs: a machine as instructions in a prompt, and the echo of their execution.

Tape operations AL AR A0 A1, jumps `A!` (cell 0) and `A?` (cell 1) with a unary relative offset and `@`,
halt `#`. Executed operations are echoed; a jump not taken is `/`, a taken one `=` with its offset.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tapeformer.laboratory.preparation import STOP, Prepared, StepMade, Symbols

OPERATIONS = ("AL", "AR", "A0", "A1")
JUMPS = ("A!", "A?")
TOKENS = (*OPERATIONS, *JUMPS, "#", "+", "-", "@", "/", "=", "^", "$")
Instruction: TypeAlias = tuple[str, int]
"""An operation, and a jump's relative offset (0 for others)."""


class Program:
    """The program of a machine with one tape: a symbol is g cells, the blank all zeros."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared, self.symbols = prepared, prepared.machine.symbols
        self.g = max(1, (len(self.symbols) - 1).bit_length())
        self.starts: dict[str, int] = {}
        self._code: list[tuple[str, str | int]] = []
        todo = [prepared.machine.start]
        while todo:
            state = todo.pop(0)
            if state not in self.starts:
                self.starts[state] = len(self._code)
                self._node(state, 0, 0, todo)
        self.code = [self._relative(at, *one) for at, one in enumerate(self._code)]

    def _relative(self, at: int, operation: str, target: str | int) -> Instruction:
        if operation not in JUMPS:
            return operation, 0
        return operation, (self.starts[target] if isinstance(target, str) else target) - at

    def _node(self, state: str, bit: int, number: int, todo: list[str]) -> None:
        """Write a node of the tree that reads a symbol bit by bit."""
        if bit == self.g:
            self._leaf(state, number, todo)
            return
        if bit:
            self._code.append(("AR", 0))
        here = len(self._code)
        self._code.append(("A?", 0))
        self._node(state, bit + 1, number, todo)
        self._code[here] = ("A?", len(self._code))
        self._node(state, bit + 1, number | 1 << bit, todo)

    def _leaf(self, state: str, number: int, todo: list[str]) -> None:
        """Write the new symbol backwards, move, and jump: on 0 or on 1, so always."""
        if number >= len(self.symbols):
            self._code.append(("#", 0))
            return
        after, written, moves = self.prepared.delta[state, (self.symbols[number],)]
        if after == STOP:
            self._code.append(("#", 0))
            return
        bits = self.symbols.index(written[0])
        for bit in range(self.g - 1, -1, -1):
            self._code.append((f"A{bits >> bit & 1}", 0))
            self._code += [("AL", 0)] if bit else []
        self._code += [("AR" if moves[0] > 0 else "AL", 0)] * (self.g * abs(moves[0]))
        self._code += [("A!", after), ("A?", after)]
        todo.append(after)

    def spelled(self) -> list[str]:
        """Return the program as tokens, from `^` to `$`."""
        tokens = ["^"]
        for operation, offset in self.code:
            tokens += [operation, *_jumped(offset)] if operation in JUMPS else [operation]
        return [*tokens, "$"]

    def loading(self, word: Symbols) -> list[str]:
        """Return the echo that writes a word, comes back and resets the program counter."""
        out: list[str] = []
        for letter in word:
            number = self.symbols.index(letter)
            for bit in range(self.g):
                out += ["A1", "AR"] if number >> bit & 1 else ["AR"]
        out += ["AL"] * (self.g * len(word))
        return [*out, "=", *_jumped(-len(out))] if out else []


def _jumped(offset: int) -> list[str]:
    return ["+" if offset > 0 else "-"] * abs(offset) + ["@"]


@dataclass
class Echo:
    """Follows echoed tokens: the tape, the program counter, and the configurations at state entries."""

    program: Program
    tape: dict[int, int] = field(default_factory=dict)
    cell: int = 0
    counter: int = 0
    seen: list[tuple[str, Symbols]] = field(default_factory=list)
    halted: bool = False

    def follow(self, tokens: Sequence[str]) -> None:
        """Follow echoed tokens."""
        for token in tokens:
            self.add(token)

    def add(self, token: str) -> None:
        """Follow one echoed token."""
        if token in ("A0", "A1"):
            self.tape[self.cell] = int(token[1])
        self.cell += {"AR": 1, "AL": -1}.get(token, 0)
        self.counter += {"+": 1, "-": -1, "/": 1}.get(token, int(token in OPERATIONS))
        self.halted = self.halted or token == "#"
        if token in (*OPERATIONS, "/", "@"):
            self.enter()

    def enter(self) -> None:
        """Note state and symbol where the counter stands at the first instruction of a state."""
        for state, start in self.program.starts.items():
            if start == self.counter:
                bits = (self.tape.get(self.cell + bit, 0) << bit for bit in range(self.program.g))
                number = min(sum(bits), len(self.program.symbols) - 1)
                self.seen.append((state, (self.program.symbols[number],)))

    def following(self) -> list[str]:
        """Return the tokens that the instruction at the counter echoes."""
        operation, offset = self.program.code[self.counter]
        if operation not in JUMPS:
            return [operation]
        taken = self.tape.get(self.cell, 0) == JUMPS.index(operation)
        return ["=", *_jumped(offset)] if taken else ["/"]


def executed(
    program: Program, word: Symbols, steps: int, most: int
) -> tuple[list[str], list[int], Echo]:
    """Return the echo up to a number of steps or tokens, the step of each token, and what was seen."""
    echo = Echo(program)
    loading = program.loading(word)
    echo.follow(loading[:-1])
    echo.seen.clear()
    echo.enter()
    tokens: list[str] = []
    numbers: list[int] = []
    while not echo.halted and len(echo.seen) <= steps and len(tokens) < most:
        piece = echo.following()
        numbers += [len(echo.seen)] * len(piece)
        echo.follow(piece)
        tokens += piece
    return tokens, numbers, echo


def steps_made(program: Program, word: Symbols, tokens: Sequence[str]) -> list[StepMade]:
    """Read echoed tokens as steps of the machine."""
    echo = Echo(program)
    echo.follow(program.loading(word)[:-1])
    echo.seen.clear()
    echo.enter()
    echo.follow(tokens)
    delta = program.prepared.delta
    after = [state for state, _ in echo.seen[1:]] + ([STOP] if echo.halted else [])
    pairs = zip(after, echo.seen, strict=False)
    return [(state, *delta[key][1:]) for state, key in pairs]
