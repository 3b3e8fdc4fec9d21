"""Loads machine code without LLVM, whose import takes longer than a short batch runs.

Reads only what LLVM writes for a module without external references on x86-64: sections, and
relocations of 64-bit addresses. Anything else is left to LLVM.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Iterator
from struct import Struct
from typing import Any, NamedTuple

HEADER = Struct("<6s10xHH20xQ10xHHH")
MAGIC, RELOCATABLE, X86_64 = b"\x7fELF\x02\x01", 1, 62
SECTION, SYMBOL, RELOCATION = Struct("<IIQQQQIIQQ"), Struct("<IBBHQQ"), Struct("<QQq")
PROGRAM, SYMBOLS, RELOCATIONS = 1, 2, 4
"""Types of sections."""
ALLOCATED = 2
"""The flag of sections that are loaded into memory."""
ADDRESS = 1
"""The type of relocation that fills in a 64-bit address."""
ALIGNED, LAST_ADDRESS = 64, (1 << 64) - 1


class ObjectFileError(ValueError):
    """An object file that only LLVM can load."""


class Section(NamedTuple):
    """A section's header."""

    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry: int


class Placed(NamedTuple):
    """The address of a function; keep `memory` alive for as long as it is called."""

    address: int
    memory: Any


def placed(code: bytes, function: str) -> Placed | None:
    """Load an object file and return a function's address; None if only LLVM can do it."""
    try:
        return _ObjectFile(code).placed(function.encode())
    except (ObjectFileError, struct.error, LookupError, OSError, AttributeError):
        return None


class _ObjectFile:
    """The sections of an object file, and where the loaded ones begin in memory."""

    def __init__(self, code: bytes) -> None:
        self.code = code
        magic, kind, processor, start, size, count, _ = HEADER.unpack_from(code)
        if (magic, kind, processor, size) != (MAGIC, RELOCATABLE, X86_64, SECTION.size):
            raise ObjectFileError("another kind of file")
        headers = SECTION.iter_unpack(code[start : start + count * size])
        self.sections = [Section(*header) for header in headers]
        self.places: dict[int, int] = {}
        self.size = 0
        for number, section in enumerate(self.sections):
            if section.type == PROGRAM and section.flags & ALLOCATED and section.size:
                if section.size > len(code) or section.alignment > mmap.PAGESIZE:
                    raise ObjectFileError("a section that is too large")
                aligned = max(ALIGNED, section.alignment)
                self.places[number] = -(-self.size // aligned) * aligned
                self.size = self.places[number] + section.size

    def placed(self, function: bytes) -> Placed:
        """Copy the sections, apply relocations, and make the memory executable and read-only."""
        memory = mmap.mmap(-1, self.size)
        whole = (ctypes.c_char * self.size).from_buffer(memory)
        base = ctypes.addressof(whole)
        for number, place in self.places.items():
            memory[place : place + self.sections[number].size] = self._content(number)
        for place, value in self._addresses():
            memory[place : place + 8] = (base + value & LAST_ADDRESS).to_bytes(8, "little")
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        if protect(base, self.size, mmap.PROT_READ | mmap.PROT_EXEC):
            raise OSError(ctypes.get_errno(), "the memory cannot be executed")
        return Placed(base + self._function(function), whole)

    def _content(self, number: int) -> bytes:
        section = self.sections[number]
        content = self.code[section.offset : section.offset + section.size]
        if len(content) != section.size:
            raise ObjectFileError("a section that is not whole")
        return content

    def _addresses(self) -> Iterator[tuple[int, int]]:
        """Yield where each address goes and what it is, both relative to the memory's start."""
        for number, section in enumerate(self.sections):
            if section.type == RELOCATIONS and section.info in self.places:
                for offset, info, added in RELOCATION.iter_unpack(self._content(number)):
                    inside = offset + 8 <= self.sections[section.info].size
                    if info & 0xFFFFFFFF != ADDRESS or not inside:
                        raise ObjectFileError("an address of another kind")
                    value = self._symbol(section.link, info >> 32)
                    yield self.places[section.info] + offset, value + added

    def _symbol(self, table: int, number: int) -> int:
        """Return the offset of a symbol; KeyError if it is not in a loaded section."""
        content = self._content(table)
        _, _, _, section, value, _ = SYMBOL.unpack_from(content, number * SYMBOL.size)
        return self.places[section] + int(value)

    def _function(self, name: bytes) -> int:
        """Return the offset of a function, by name."""
        for table, section in enumerate(self.sections):
            if section.type == SYMBOLS:
                names = self._content(section.link)
                for number, (start, *_) in enumerate(SYMBOL.iter_unpack(self._content(table))):
                    if names[start : names.find(b"\0", start)] == name:
                        return self._symbol(table, number)
        raise ObjectFileError("no such function")
