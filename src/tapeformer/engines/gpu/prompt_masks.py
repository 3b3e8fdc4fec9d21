"""Prompts as a kernel reads them: which inputs have each token at a position, and what it sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.batch import Prompts
from tapeformer.engines.gpu.memory_layout import BLOCK_INPUTS, KernelLayout
from tapeformer.engines.logic.factor_codes import codes, digits_of
from tapeformer.windows import Integers

UNUSED = -1
"""The input number of an empty lane."""


@dataclass(frozen=True, eq=False)
class BlockGroup:
    """Up to 1,024 inputs with prompts of equal length: they fill the first lanes of one block."""

    inputs: Integers
    length: int


def block_groups(lengths: Integers) -> list[BlockGroup]:
    """Group inputs by prompt length, longest first, since those run longest."""
    order = np.argsort(-lengths, kind="stable")
    cuts = np.flatnonzero(np.diff(lengths[order])) + 1
    return [
        BlockGroup(part[start : start + BLOCK_INPUTS], int(lengths[part[0]]))
        for part in np.split(order, cuts)
        for start in range(0, len(part), BLOCK_INPUTS)
    ]


def token_table(layout: KernelLayout, rows: NDArray[np.int32]) -> NDArray[np.uint32]:
    """Return the words that each token sets, as masks: those of rings, then those on the chip."""
    words = [
        (factor, digit)
        for ring in layout.rings
        for factor in ring.first_word
        for digit in range(digits_of(layout.sizes[factor]))
    ]
    words += layout.newest_words
    columns = [
        np.array(codes(layout.sizes[factor]))[rows[:, factor]] >> digit & 1
        for factor, digit in words
    ]
    bits = np.stack(columns, axis=1).astype(np.uint32)
    return np.ascontiguousarray(bits * np.uint32(0xFFFFFFFF))


class PromptMasks:
    """The prompts of groups fed together, each to its own block."""

    def __init__(self, prompts: Prompts, groups: dict[int, BlockGroup], blocks: int) -> None:
        self.prompts, self.tokens = prompts, len(prompts.rows)
        self.lengths = np.zeros(blocks, np.uint32)
        self.lanes = np.full(blocks * BLOCK_INPUTS, UNUSED)
        for block, group in groups.items():
            self.lengths[block] = group.length
            start = block * BLOCK_INPUTS
            self.lanes[start : start + len(group.inputs)] = group.inputs

    @property
    def used(self) -> NDArray[np.uint32]:
        """Which lanes have an input."""
        return packed_words(self.lanes != UNUSED)

    def places(self, first: int, count: int) -> NDArray[np.uint32]:
        """Return the masks of some positions, indexed by position, token and thread."""
        ids = self.prompts.ids[first : first + count]
        masks = np.zeros((len(ids), self.tokens, len(self.lanes) // 32), np.uint32)
        used = self.lanes != UNUSED
        for place, row in enumerate(ids):
            here = np.where(used, row[self.lanes], UNUSED)
            for token in range(self.tokens):
                masks[place, token] = packed_words(here == token)
        return masks


def packed_words(flags: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """Pack the flags of lanes into words, 32 to a word."""
    return np.packbits(flags, bitorder="little").view(np.uint32)


def unpacked_words(words: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Unpack words into flags, one per lane."""
    octets = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(octets, bitorder="little").astype(bool)
