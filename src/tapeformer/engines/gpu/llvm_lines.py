"""A builder of LLVM text with fresh names."""

from __future__ import annotations

GLOBAL = "ptr addrspace(1)"
"""A pointer to device memory."""
SHARED = "ptr addrspace(3)"
"""A pointer to the shared memory of a block."""


class LlvmLines:
    """Appends instructions and names their results."""

    def __init__(self, prefix: str) -> None:
        self.lines: list[str] = []
        self._prefix, self._names = prefix, 0

    def add(self, text: str) -> None:
        """Append a line without a result."""
        self.lines.append(text)

    def define(self, text: str, name: str | None = None) -> str:
        """Append an instruction; return the name of its result, a fresh one unless given."""
        if name is None:
            self._names += 1
            name = f"%{self._prefix}{self._names}"
        self.lines.append(f"{name} = {text}")
        return name

    def offset(self, pointer: str, base: str, count: int | str, kind: str = "i8") -> str:
        """Return the address of the element `count` places after a base address."""
        return self.define(f"getelementptr {kind}, {pointer} {base}, i64 {count}")

    def load(self, pointer: str, address: str) -> str:
        """Return the word at an address."""
        return self.define(f"load i32, {pointer} {address}")

    def store(self, value: str, pointer: str, address: str) -> None:
        """Store a word at an address."""
        self.add(f"store i32 {value}, {pointer} {address}")

    def fold(self, opcode: str, words: list[str]) -> str:
        """Combine one or more words by an operation."""
        result = words[0]
        for word in words[1:]:
            result = self.define(f"{opcode} i32 {result}, {word}")
        return result
