"""The memory of a batch, seen from Python: where each word of a token is, at any position."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tapeformer.engines.logic.factor_codes import codes, digits_of, values_by_code
from tapeformer.engines.native.memory_layout import BatchLayout, aligned
from tapeformer.windows import Integers


class BatchMemory:
    """Two tokens of resident words, then rings: `words` in all.

    `kept` has, for each factor, the number of tokens for which it is kept.
    """

    def __init__(self, layout: BatchLayout, farthest: Integers) -> None:
        self.layout, self.shape, token = layout, layout.shape, layout.words
        self.sizes = np.array(token.sizes)
        entry_words, octets = self.shape.entry_words, self.shape.octets
        newest = entry_words(token.resident_words)
        starts, strides, masks = [0], [newest], [1]
        self.words = 2 * newest
        for _, words, *heads in token.rings:
            length = 1 << int(farthest[heads].max()).bit_length()
            starts.append(self.words)
            strides.append(entry_words(words))
            masks.append(length - 1)
            self.words += length * entry_words(words)
        self.starts, self.strides, self.masks = map(np.array, (starts, strides, masks))
        geometry = [[octets * start, mask] for start, mask in zip(starts, masks, strict=True)]
        self.geometry = np.array(geometry[1:], np.int64).reshape(-1)
        self._place_words()
        self._place_factors()

    def allocate(self) -> NDArray[np.uint64]:
        """Allocate the memory."""
        return aligned(self.words, self.shape.elements)

    def _place_words(self) -> None:
        """Find each word's ring (number 0: the resident words) and its index in an entry there."""
        token = self.layout.words
        counts = [token.resident_words, *(words for _, words, *_ in token.rings)]
        ends = np.cumsum(counts).tolist()
        bounds = zip(ends, counts, strict=True)
        words = [slice(end - count, end) for end, count in bounds]
        geometry = (self.starts.tolist(), self.strides.tolist(), self.masks.tolist())
        self._parts = list(zip(*geometry, words, strict=True))
        self.ring = np.repeat(np.arange(len(counts)), counts)
        self.index = np.concatenate([np.arange(count) for count in counts])

    def _place_factors(self) -> None:
        """Find each factor's first word and encoding: binary digits, or one word per value."""
        token = self.layout.words
        self.coded = np.zeros(len(self.sizes), bool)
        self.first = np.zeros(len(self.sizes), np.int64)
        self.resident_of = np.zeros(len(self.sizes), np.int64)
        for number, (factor, word) in enumerate(sorted(token.resident, key=lambda row: row[1])):
            self.first[factor], self.resident_of[factor] = word, number
        self.resident_starts = np.array(sorted(word for _, word in token.resident), np.int64)
        sizes = np.diff(self.resident_starts, append=token.resident_words)
        values = np.arange(token.resident_words) - np.repeat(self.resident_starts, sizes)
        self.resident_values = values.astype(np.min_scalar_type(int(values.max(initial=0))))
        for factor, word in token.coded:
            self.first[factor], self.coded[factor] = word, True
        self.digits = np.array([digits_of(size) for size in token.sizes])
        self.factor_ring = np.append(self.ring, 0)[self.first]
        self.kept = np.where(self.coded, self.masks[self.factor_ring] + 1, 1)
        most = 1 << int(self.digits.max(initial=0))
        self.value_of = np.full((len(self.sizes), most), -1)
        self.code_of = np.zeros((len(self.sizes), int(self.sizes.max())), np.int64)
        for factor, size in enumerate(token.sizes):
            self.value_of[factor, : 1 << digits_of(size)] = values_by_code(size)
            self.code_of[factor, :size] = codes(size)

    def resident_word(self, factor: int, value: int) -> int:
        """Return the word of the newest token that says whether a factor has a value."""
        first = next(word for resident, word in self.layout.resident if resident == factor)
        return first + value

    def parts(self, place: int) -> Iterator[tuple[slice, slice]]:
        """Yield the parts of the token at a position: a slice of memory, a slice of its words."""
        for start, stride, mask, words in self._parts:
            begin = start + (place & mask) * stride
            yield slice(begin, begin + words.stop - words.start), words

    def places(self, place: int) -> Integers:
        """Return which row of memory holds each word of the token at a position."""
        entries = self.starts + (place & self.masks) * self.strides
        found: Integers = entries[self.ring] + self.index
        return found

    def bits(self, rows: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return the words of tokens as single bits, indexed by word and token."""
        found = np.zeros((len(self.ring) + 1, len(rows)), bool)
        factor, first = np.array(self.layout.resident, np.int64).reshape(-1, 2).T
        found[first[:, None] + rows.T[factor], np.arange(len(rows))] = True
        factor, first = np.array(self.layout.coded, np.int64).reshape(-1, 2).T
        code = self.code_of[factor[:, None], rows.T[factor]]
        for digit in range(int(self.digits.max(initial=0))):
            has = digit < self.digits[factor]
            found[first[has] + digit] = code[has] >> digit & 1
        return found[:-1]
