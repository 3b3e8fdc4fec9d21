"""The operations of a batch in LLVM, and the table of addresses that they load from and store to.

`locate` fills the table for every token. An ended input keeps its window: stores leave its bits
unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator

from tapeformer.engines.logic.program import LoadFetched, Program, Store, StoreNext
from tapeformer.engines.logic.token_words import TokenWords
from tapeformer.engines.native.llvm_functions import (
    Liveness,
    StraightLineFunction,
    function_ranges,
)
from tapeformer.engines.native.word_shape import CACHE_LINE, WordShape

NEWEST, NEXT, FIRST_RING = range(3)
"""Entries of the table: the newest token, the next one; then, for each ring, its slots of the next
token, of the newest one, and of the tokens that its heads attend to."""


class AddressTable:
    """The index in the table of each address."""

    def __init__(self, words: TokenWords, shape: WordShape) -> None:
        self.words, self.shape = words, shape
        self.entries: dict[tuple[int, int | str], int] = {}
        for ring, (_, _, *heads) in enumerate(words.rings):
            keys: tuple[int | str, ...] = ("next", "newest", *heads)
            for key in keys:
                self.entries[ring, key] = FIRST_RING + len(self.entries)

    @property
    def octets(self) -> int:
        """Return the size of the table."""
        size = 8 * (FIRST_RING + len(self.entries))
        return -(-size // CACHE_LINE) * CACHE_LINE

    def entry_octets(self, words: int) -> int:
        """Return the distance in bytes between tokens of this many words."""
        return self.shape.octets * self.shape.entry_words(words)


class BatchFunction(StraightLineFunction):
    """One function, whose addresses come from the table."""

    def __init__(
        self, number: int, indices: range, program: Program, table: AddressTable, liveness: Liveness
    ) -> None:
        super().__init__(number, indices, program, table.shape, liveness)
        self.table = table
        self.bases: set[str] = set()

    def text(self) -> str:
        """Return the function as LLVM text."""
        self._load("%active", "%unended", 0)
        parameters = "ptr noalias %table, ptr noalias %slots, ptr noalias %unended"
        return (
            f"define internal void @piece{self.number}({parameters}) noinline {{\n"
            f"{self._body()}\nret void\n}}"
        )

    def _base(self, name: str, entry: int) -> str:
        """Return an address from the table, loaded once."""
        if name not in self.bases:
            self.bases.add(name)
            address = self._temporary(f"getelementptr ptr, ptr %table, i64 {entry}")
            self._define(f"%{name}", f"load ptr, ptr {address}")
        return f"%{name}"

    def _ring_base(self, word: int, key: int | str) -> tuple[str, int]:
        """Return a token's address in the ring of a word, and the word's index there."""
        ring = self.table.words.ring_of(word)
        first = self.table.words.rings[ring][0]
        return self._base(f"ring{ring}.{key}", self.table.entries[ring, key]), word - first

    def _load_token(self, name: str, word: int) -> None:
        self._load(name, self._base("newest", NEWEST), word)

    def _load_fetched(self, name: str, operation: LoadFetched) -> None:
        ((head, _),) = operation.masks
        self._load(name, *self._ring_base(operation.word, head))

    def _store_word(self, operation: Store) -> None:
        """Store a word, except the bits of ended inputs."""
        word, kind = operation.word, "next" if isinstance(operation, StoreNext) else "newest"
        if word < self.table.words.resident_words:
            base, index = self._base("next", NEXT), word
        else:
            base, index = self._ring_base(word, kind)
        old, type_ = self._name(), self.shape.type
        self._load(old, base, index)
        change = self._temporary(f"xor {type_} %v{operation.operand}, {old}")
        active = self._temporary(f"and {type_} {change}, %active")
        self._store(self._temporary(f"xor {type_} {old}, {active}"), base, index)


def batch_functions(program: Program, table: AddressTable, liveness: Liveness) -> list[str]:
    """Return the operations of a token as functions to call one after another."""
    return [
        BatchFunction(number, indices, program, table, liveness).text()
        for number, indices in enumerate(function_ranges(program))
    ]


def locate_text(table: AddressTable) -> str:
    """Return the function `locate`, which fills the table with the addresses for one token.

    `geometry` has, for each ring, where it begins in memory and the mask of its slots.
    """
    lines = [
        "define internal void @locate(ptr %memory, i64 %now, ptr %back, ptr %geometry, ptr %table) {",
        "%after = add i64 %now, 1",
        *_newest(table),
    ]
    for ring, (_, words, *heads) in enumerate(table.words.rings):
        lines += _ring(ring)
        for key, place in (("next", "%after"), ("newest", "%now")):
            lines += _place(table, (ring, key), words, place)
        for head in heads:
            name = f"{ring}.{head}"
            lines += _number("%back", head, f"back.{name}")
            lines.append(f"%at.{name} = sub i64 %now, %back.{name}")
            lines += _place(table, (ring, head), words, f"%at.{name}")
    return "\n".join([*lines, "ret void", "}"])


def _newest(table: AddressTable) -> Iterator[str]:
    """Yield the addresses of the resident words: two buffers take turns, by position modulo 2."""
    size = table.entry_octets(table.words.resident_words)
    for name, place, entry in (("newest", "%now", NEWEST), ("next", "%after", NEXT)):
        yield f"%{name}.p = and i64 {place}, 1"
        yield f"%{name}.o = mul i64 %{name}.p, {size}"
        yield f"%{name} = getelementptr i8, ptr %memory, i64 %{name}.o"
        yield from _entry(entry, f"%{name}")


def _ring(ring: int) -> Iterator[str]:
    yield from _number("%geometry", 2 * ring, f"start.{ring}")
    yield from _number("%geometry", 2 * ring + 1, f"mask.{ring}")
    yield f"%ring.{ring} = getelementptr i8, ptr %memory, i64 %start.{ring}"


def _place(
    table: AddressTable, key: tuple[int, int | str], words: int, place: str
) -> Iterator[str]:
    """Yield the store of a position's address in a ring, with `words` words per token."""
    ring, name = key[0], f"{key[0]}.{key[1]}"
    yield f"%p.{name} = and i64 {place}, %mask.{ring}"
    yield f"%o.{name} = mul i64 %p.{name}, {table.entry_octets(words)}"
    yield f"%a.{name} = getelementptr i8, ptr %ring.{ring}, i64 %o.{name}"
    yield from _entry(table.entries[key], f"%a.{name}")


def _entry(entry: int, value: str) -> Iterator[str]:
    yield f"%e.{entry} = getelementptr ptr, ptr %table, i64 {entry}"
    yield f"store ptr {value}, ptr %e.{entry}"


def _number(array: str, index: int, name: str) -> Iterator[str]:
    yield f"%n.{name} = getelementptr i64, ptr {array}, i64 {index}"
    yield f"%{name} = load i64, ptr %n.{name}"
