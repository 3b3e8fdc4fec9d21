"""Where a kernel keeps tokens: ring buffers in device memory, and the newest token on the chip.

A thread runs 32 inputs, one per bit of its words. The words of a block's threads are interleaved,
so that loads coalesce into one cache line: word w of thread t is at 4 * (BLOCK_THREADS * w + t).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tapeformer.engines.logic.factor_codes import digits_of
from tapeformer.engines.logic.program import LoadFetched, Program

WORD_INPUTS = 32
BLOCK_THREADS = 32
BLOCK_INPUTS = WORD_INPUTS * BLOCK_THREADS
"""Inputs per block. A block is a single warp, so it never waits for another one."""

REGISTER_WORDS = 128
"""The newest token is kept in registers if it has at most this many words."""
LARGEST_RING = 1 << 32
"""Bytes of a block's ring: kernels compute where a token is in it with 32 bits."""
SHARED_WORDS = 220
"""Otherwise, how many of its words are kept in shared memory: eight blocks fit a multiprocessor."""


@dataclass(frozen=True)
class Ring:
    """The ring buffer of factors that the same heads fetch: `length` tokens of `words` words each.

    `offset` is its first word in a thread's memory, `first_word` that of each factor in a token.
    `oldest_head` always fetches the oldest token, which is overwritten next, once the ring is full.
    """

    heads: tuple[int, ...]
    length: int
    offset: int
    first_word: Mapping[int, int]
    words: int
    oldest_head: int | None = None

    @property
    def block_bytes(self) -> int:
        """Bytes that the ring takes in a block's memory."""
        return 4 * BLOCK_THREADS * self.words * self.length


@dataclass(frozen=True)
class KernelLayout:
    """The memory of one thread; the newest values of `resident` factors are kept on the chip.

    No head looks back farther than the oldest token of its longest ring.
    """

    sizes: tuple[int, ...]
    rings: tuple[Ring, ...]
    resident: tuple[int, ...]
    in_registers: bool
    heads: int

    @cached_property
    def ring_of(self) -> dict[int, int]:
        """The ring of each factor that has one."""
        return {f: number for number, ring in enumerate(self.rings) for f in ring.first_word}

    @cached_property
    def newest_words(self) -> tuple[tuple[int, int], ...]:
        """The factor and digit of each word that stays on the chip."""
        return tuple((f, digit) for f in self.resident for digit in range(digits_of(self.sizes[f])))

    @property
    def memory_words(self) -> int:
        """Words of device memory for a thread's rings."""
        return sum(ring.words * ring.length for ring in self.rings)

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a block."""
        return 0 if self.in_registers else 4 * BLOCK_THREADS * len(self.newest_words)

    @property
    def schedule_words(self) -> int:
        """Words of a block's schedule: tokens to make, a slot per ring, an offset per head."""
        return 1 + len(self.rings) + self.heads


@dataclass(frozen=True)
class HeadOffsets:
    """Each head's farthest offset, and whether it keeps to that once the context is long enough."""

    farthest: Sequence[int]
    settled: Sequence[bool]


@dataclass
class _Space:
    """Allocates a thread's memory, ring after ring."""

    sizes: Sequence[int]
    used: int = 0
    rings: list[Ring] = field(default_factory=list)

    def add(self, heads: tuple[int, ...], factors: Sequence[int], looks: HeadOffsets) -> None:
        first_word, words = {}, 0
        for factor in factors:
            first_word[factor] = words
            words += digits_of(self.sizes[factor])
        length = max([2, *(looks.farthest[head] + 1 for head in heads)])
        oldest = (h for h in heads if looks.settled[h] and looks.farthest[h] == length - 1)
        ring = Ring(heads, length, self.used, first_word, words, next(oldest, None))
        self.rings.append(ring)
        self.used += words * length


def kernel_layout(program: Program, sizes: Sequence[int], looks: HeadOffsets) -> KernelLayout:
    """Lay out the memory for a program and the offsets of its heads."""
    fetched = _fetched_by(program, sizes)
    resident, in_registers = _resident(fetched, sizes)
    groups: dict[tuple[int, ...], list[int]] = {}
    for factor, readers in fetched.items():
        if readers or factor not in resident:
            groups.setdefault(tuple(sorted(readers)), []).append(factor)
    space = _Space(sizes)
    for heads, factors in sorted(groups.items()):
        space.add(heads, factors, looks)
    return KernelLayout(
        tuple(sizes), tuple(space.rings), resident, in_registers, len(looks.farthest)
    )


def _fetched_by(program: Program, sizes: Sequence[int]) -> dict[int, set[int]]:
    """Return which heads fetch each factor."""
    factor_of = factors_by_word(sizes)
    fetched: dict[int, set[int]] = {factor: set() for factor in range(len(sizes))}
    for operation in program.operations:
        if isinstance(operation, LoadFetched):
            ((head, _),) = operation.masks
            fetched[factor_of[operation.word][0]].add(head)
    return fetched


def factors_by_word(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Return the factor and value that each word of a bit-sliced token stands for."""
    return [(factor, value) for factor, size in enumerate(sizes) for value in range(size)]


def _resident(
    fetched: Mapping[int, set[int]], sizes: Sequence[int]
) -> tuple[tuple[int, ...], bool]:
    """Return the factors whose newest value stays on the chip, and whether in registers.

    Factors that no head fetches go first: once on the chip, they need no device memory at all.
    """
    if sum(digits_of(size) for size in sizes) <= REGISTER_WORDS:
        return tuple(range(len(sizes))), True
    found, left = [], SHARED_WORDS
    for factor in sorted(fetched, key=lambda factor: bool(fetched[factor])):
        digits = digits_of(sizes[factor])
        if digits <= left:
            left -= digits
            found.append(factor)
    return tuple(sorted(found)), False
