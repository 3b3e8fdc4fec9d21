"""Where a kernel keeps its tokens: rings in device memory, and the newest token on the chip.

A thread has 32 inputs, one to each bit of its words. The threads of a block stand side by side, so
that they load one line of memory together: word w of thread t is at 4 * (BLOCK_THREADS * w + t).
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
"""Inputs of a block, which is one warp: its threads need not wait for those of others."""

REGISTER_WORDS = 128
"""A newest token of at most so many words stays in registers."""
SHARED_WORDS = 220
"""Words of the newest token in shared memory otherwise: eight blocks then fit a multiprocessor."""


@dataclass(frozen=True)
class Ring:
    """Factors that the same heads fetch, kept for `length` tokens of `words` words each.

    `offset` is its first word in a thread's memory, `first_word` that of each factor in a token.
    `oldest_head` fetches the oldest token, the one to be overwritten, whenever the ring is full.
    """

    heads: tuple[int, ...]
    length: int
    offset: int
    first_word: Mapping[int, int]
    words: int
    oldest_head: int | None = None


@dataclass(frozen=True)
class KernelLayout:
    """The memory of one thread; `resident` factors have their newest value on the chip.

    A head's look-back reaches the oldest token of its longest ring, never farther.
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
        """Numbers that tell a block what to do: tokens to make, a slot per ring, an offset per head."""
        return 1 + len(self.rings) + self.heads


@dataclass(frozen=True)
class HeadOffsets:
    """How far back each head ever looks, and whether it does so once there is such a token."""

    farthest: Sequence[int]
    settled: Sequence[bool]


@dataclass
class _Space:
    """Hands out a thread's memory, ring after ring."""

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

    Those that no head fetches come first: they then need no device memory at all.
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
