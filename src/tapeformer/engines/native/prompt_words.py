"""Prompts as words of a batch, written to its memory token by token."""

from __future__ import annotations

import numpy as np

from tapeformer.engines.batch import Prompts
from tapeformer.engines.native.batch_memory import BatchMemory
from tapeformer.engines.native.lanes import Words, packed

PLACES = 64
"""Positions of prompts whose words are made at once."""


class PromptWords:
    """The words of prompts, made for several positions at once; most are the same in all tokens."""

    def __init__(self, places: BatchMemory, memory: Words, prompts: Prompts) -> None:
        self.places, self.memory, self.prompts = places, memory, prompts
        bits = places.bits(prompts.rows)
        common = bits.all(axis=1)
        self.varying = np.flatnonzero(bits.any(axis=1) & ~common)
        self.bits = bits[self.varying]
        alike = np.where(common, ~np.uint64(0), np.uint64(0))
        self.words = alike[:, None].repeat(places.shape.elements, axis=1)
        self.all_read = min(prompts.lengths.tolist(), default=0)
        self.begin, self.made = 0, np.zeros((0, *self.words[self.varying].shape), np.uint64)

    def write(self, place: int) -> None:
        """Write the token at a position, for all inputs whose prompts reach that far."""
        if place >= self.begin + len(self.made):
            self._make(place)
        self.words[self.varying] = self.made[place - self.begin]
        memory, mask = self.memory, None
        if place >= self.all_read:
            mask = packed(self.prompts.lengths > place, self.places.shape.bits)
        for there, here in self.places.parts(place):
            if mask is None:
                memory[there] = self.words[here]
            else:
                memory[there] ^= (memory[there] ^ self.words[here]) & mask

    def _make(self, place: int) -> None:
        """Make the words that differ between tokens, for the next positions."""
        found = self.bits[:, self.prompts.ids[place : place + PLACES]]
        self.begin, self.made = place, packed(found.swapaxes(0, 1), self.places.shape.bits)
