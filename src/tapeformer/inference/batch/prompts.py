"""Words become prompts for a batch: few different tokens, and which of them stands where."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from tapeformer.constructions import construction
from tapeformer.engines.batch import Prompts
from tapeformer.inference.decode import Reader
from tapeformer.weights.tokens import prompt_token

Word = tuple[str, ...]


class PromptEncoder:
    """The tokens of one model's prompts: two for each value received, at even and odd places."""

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
        self.ids = {symbol: 2 * i for i, symbol in enumerate(prompt.symbols, start=self.first)}

    def fits(self, word: Word) -> bool:
        """Say whether a word has a prompt here."""
        return len(word) <= self.longest and self.ids.keys() >= set(word)

    def prompts(self, words: Sequence[Word]) -> Prompts:
        """Return the prompts of words that fit."""
        sizes = np.fromiter(map(len, words), np.int64, len(words))
        lengths = sizes + self.first
        ids = np.zeros((int(lengths.max(initial=0)), len(words)), np.int32)
        inputs = np.repeat(np.arange(len(words)), sizes)
        places = np.arange(len(inputs)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + self.first
        symbols = map(self.ids.__getitem__, chain.from_iterable(words))
        ids[places, inputs] = np.fromiter(symbols, np.int32, len(inputs))
        ids += (np.arange(1, len(ids) + 1) % 2).astype(np.int32)[:, None]
        return Prompts(self.rows, ids, lengths)
