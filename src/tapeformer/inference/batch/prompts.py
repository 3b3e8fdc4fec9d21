"""Words become prompts for a batch: a few distinct tokens, and which of them stands where."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tapeformer.constructions import construction
from tapeformer.dataclass import dataclass
from tapeformer.engines.batch import Prompts
from tapeformer.inference.decode import Reader
from tapeformer.weights.tokens import prompt_token
from tapeformer.windows import Flags, Integers, numbered_within

Word = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class CodedWords:
    """Words as token ids, one word after another, with their lengths in `sizes`."""

    ids: NDArray[np.int32]
    sizes: Integers

    def __len__(self) -> int:
        return len(self.sizes)

    def part(self, words: Integers) -> CodedWords:
        """Return some of the words, by index."""
        sizes = self.sizes[words]
        ends = np.cumsum(self.sizes)
        starts = np.repeat(ends[words] - sizes, sizes)
        return CodedWords(self.ids[starts + numbered_within(sizes)], sizes)


class PromptEncoder:
    """The tokens of one model's prompts: two for each symbol, for even and odd positions."""

    def __init__(self, reader: Reader) -> None:
        bundle = reader.bundle
        prompt, layout = bundle.prompt, bundle.layout
        self.longest = construction(layout.construction).longest_word(layout)
        self.first = int(bool(prompt.start))
        values = [*[prompt.start] * self.first, *prompt.symbols.values()]
        rows = [
            prompt_token(prompt, reader.factors, v, parity) for v in values for parity in (0, 1)
        ]
        self.rows = np.asarray(rows, np.int32)
        self.symbols = tuple(prompt.symbols)
        self.ids = {symbol: 2 * i for i, symbol in enumerate(prompt.symbols, start=self.first)}

    def fits(self, word: Word) -> bool:
        """Say whether a word has a prompt: its length and its symbols fit the model."""
        return len(word) <= self.longest and self.ids.keys() >= set(word)

    def coded(self, words: Sequence[Word]) -> CodedWords:
        """Encode words that fit."""
        sizes = np.fromiter(map(len, words), np.int64, len(words))
        symbols = map(self.ids.__getitem__, chain.from_iterable(words))
        return CodedWords(np.fromiter(symbols, np.int32, int(sizes.sum())), sizes)

    def word(self, words: CodedWords, number: int) -> Word:
        """Decode one of the words to symbols."""
        ids = words.part(np.array([number])).ids // 2 - self.first
        return tuple(self.symbols[index] for index in ids.tolist())

    def prompts(self, words: Sequence[Word] | CodedWords) -> Prompts:
        """Return the prompts of words that fit."""
        coded = words if isinstance(words, CodedWords) else self.coded(words)
        lengths = coded.sizes + self.first
        ids = np.zeros((int(lengths.max(initial=0)), len(coded)), np.int32)
        inputs = np.repeat(np.arange(len(coded)), coded.sizes)
        ids[numbered_within(coded.sizes) + self.first, inputs] = coded.ids
        ids += (np.arange(1, len(ids) + 1) % 2).astype(np.int32)[:, None]
        return Prompts(self.rows, ids, lengths)


class TextEncoder:
    """Encodes many texts at once, whose characters are symbols."""

    def __init__(self, encoder: PromptEncoder, allowed: Collection[str]) -> None:
        self._longest = encoder.longest
        letters = {s: i for s, i in encoder.ids.items() if len(s) == 1 and s in allowed}
        self._ids = np.full(max(map(ord, letters), default=0) + 2, -1, np.int32)
        self._ids[[ord(letter) for letter in letters]] = list(letters.values())

    def coded(self, texts: Sequence[str]) -> tuple[CodedWords, Flags]:
        """Encode texts as words, and say which of them fit."""
        points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), "<u4")
        ids = self._ids[np.minimum(points, len(self._ids) - 1)]
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        fits = sizes <= self._longest
        if (ids < 0).any():
            fits[np.repeat(np.arange(len(texts)), sizes)[ids < 0]] = False
        return CodedWords(ids, sizes), fits
