"""Tokens as rows of value numbers, and as words in the memory of one stream."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.native.memory_layout import MemoryLayout, WordMask

CHUNK = 256
"""Tokens decoded at a time, so that intermediate arrays stay in the processor's cache."""


class TokenCodec:
    """Encodes and decodes the tokens of one memory layout."""

    def __init__(self, layout: MemoryLayout) -> None:
        self.stride = layout.stride
        flat = [value for factor in layout.value_masks for value in factor]
        self.words = np.array([word for word, _ in flat])
        self.masks = np.array([mask for _, mask in flat], np.uint64)
        sizes = [len(factor) for factor in layout.value_masks]
        self.starts = np.cumsum([0, *sizes[:-1]])
        self._decoder = _Decoder(layout, np.array(sizes))

    def encode(self, rows: NDArray[np.int32]) -> NDArray[np.uint64]:
        """Encode tokens as words; values shared by all, as most of a prompt are, only once."""
        entries = np.zeros((len(rows), self.stride), np.uint64)
        if len(rows):
            same = (rows == rows[0]).all(axis=0)
            common = np.zeros(self.stride, np.uint64)
            values = (self.starts + rows[0])[same]
            np.bitwise_or.at(common, self.words[values], self.masks[values])
            entries |= common
            values = (self.starts + rows)[:, ~same]
            places = np.arange(len(rows))[:, None], self.words[values]
            np.bitwise_or.at(entries, places, self.masks[values])
        return entries

    def decode(self, entries: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Decode words as tokens."""
        rows = np.empty((len(entries), len(self.starts)), np.int32)
        for start in range(0, len(entries), CHUNK):
            octets = entries[start : start + CHUNK].view(np.uint8)
            rows[start : start + CHUNK] = self._decoder.values(octets).T
        return rows


class _Decoder:
    """Where each value of a factor but the first is found: a byte of a token, and a bit in it.

    Factors are sorted by size, so that those with more values come first. Then all second values
    are looked up at once, all third ones, and so on, for many tokens side by side.
    """

    def __init__(self, layout: MemoryLayout, sizes: NDArray[np.int64]) -> None:
        order = np.argsort(-sizes, kind="stable")
        self.inverse = np.argsort(order)
        self.counts = [int((sizes > value).sum()) for value in range(1, int(sizes.max()))]
        found = [
            (*_lowest_bit(layout.value_masks[factor][value]), value)
            for value, count in enumerate(self.counts, start=1)
            for factor in order[:count].tolist()
        ]
        octets, masks, numbers = np.array(found, np.int64).reshape(-1, 3).T
        self.used, self.octets = np.unique(octets, return_inverse=True)
        self.masks = masks.astype(np.uint8)[:, None]
        self.numbers = numbers.astype(np.min_scalar_type(int(sizes.max())))[:, None]

    def values(self, octets: NDArray[np.uint8]) -> NDArray[np.unsignedinteger]:
        """Return factors x tokens, from tokens x bytes: each value that is set adds its number."""
        columns = np.ascontiguousarray(octets[:, self.used].T)
        found = ((columns[self.octets] & self.masks) != 0) * self.numbers
        values = np.zeros((len(self.inverse), len(octets)), self.numbers.dtype)
        start = 0
        for count in self.counts:
            values[:count] += found[start : start + count]
            start += count
        return values[self.inverse]


def _lowest_bit(value: WordMask) -> WordMask:
    """Return the byte of a token with the lowest bit of a mask, and that bit within the byte."""
    word, mask = value
    low = (mask & -mask).bit_length() - 1
    return 8 * word + low // 8, 1 << low % 8
