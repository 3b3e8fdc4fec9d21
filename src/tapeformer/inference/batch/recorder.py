"""A model that turns lines of input into lines of JSON; duplicate lines are answered once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from tapeformer.dataclass import dataclass
from tapeformer.faults import TapeformerError
from tapeformer.inference.batch.answer_lines import Answered, LineMaker, Lines, joined
from tapeformer.inference.batch.columns import ending
from tapeformer.inference.batch.prompts import CodedWords, TextEncoder, Word
from tapeformer.inference.batch.runner import BatchModel, BatchRunner, Found
from tapeformer.machine.word import parse_word
from tapeformer.windows import Integers
from tapeformer.workers.task import still_wanted

if TYPE_CHECKING:
    from tapeformer.inference.batch.readers import Part, Readers

MOST_KEPT = 1 << 13
"""How many answers to keep for duplicate inputs to come."""
MOST_BYTES = 1 << 24
"""Bytes of such answers."""


class Recorder:
    """Turns lines of input into lines of JSON, with the help of `readers` if there are any."""

    def __init__(self, model: BatchModel, readers: Readers | None = None) -> None:
        self.machine, self.spaced = model.machine, model.options.spaced
        self.readers = readers
        if readers is not None:
            readers.begin()
        self.runner = BatchRunner(model.bundle, model.options)
        self.maker = LineMaker(model, self.runner.reader, self.runner.engine)
        self.encoder = TextEncoder(self.runner.encoder, self.machine.word_symbols)
        self.kept: dict[str, Lines] = {}
        self._bytes = 0

    def answered(self, texts: Sequence[str]) -> Answered:
        """Return the answers to some inputs, in order."""
        if len(set(texts)) > max(MOST_KEPT, len(texts) // 2):  # too many to keep each by itself
            return joined(self._in_order(texts))
        return joined(self.lines(texts))

    def lines(self, texts: Sequence[str]) -> list[Lines]:
        """Return a line for each input; duplicates are answered once while answers are kept."""
        new = [text for text in dict.fromkeys(texts) if text not in self.kept]
        if len(self.kept) + len(new) > MOST_KEPT:
            self._forget()
            new = list(dict.fromkeys(texts))
        for numbers, lines in self._found(new):
            self.kept.update(zip([new[number] for number in numbers], lines.each(), strict=True))
            self._bytes += len(lines.content)
        found = [self.kept[text] for text in texts]
        if self._bytes > MOST_BYTES:
            self._forget()
        return found

    def _forget(self) -> None:
        self.kept, self._bytes = {}, 0

    def _in_order(self, texts: Sequence[str]) -> list[Lines]:
        """Return the lines in order of inputs; those of consecutive inputs stay in one piece."""
        placed: list[tuple[int, Lines]] = []
        for numbers, lines in self._found(texts):
            if numbers == list(range(numbers[0], numbers[0] + len(numbers))):
                placed.append((numbers[0], lines))
            else:
                placed += zip(numbers, lines.each(), strict=True)
        return [lines for _, lines in sorted(placed, key=itemgetter(0))]

    def _found(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Lines]]:
        """Yield the lines of inputs as they end, with the indices of the inputs."""
        fitting, words = self._words(texts)
        alone = np.ones(len(texts), bool)
        alone[fitting] = False
        for blocks in self.runner.blocks(words):
            still_wanted()
            numbers = [fitting[block.numbers].tolist() for block in blocks]
            parts = [
                (block, [texts[number] for number in mine])
                for block, mine in zip(blocks, numbers, strict=True)
            ]
            yield from zip(numbers, self._read(parts), strict=True)
        for number in np.flatnonzero(alone).tolist():
            text = texts[number]
            yield [number], self.maker.line(text, ending(self._alone(text)))

    def _read(self, parts: Sequence[Part]) -> Iterator[Lines]:
        """Return the lines of parts that ended together."""
        if self.readers is not None:
            return self.readers.lines(parts, self.maker)
        return (self.maker.lines(*part) for part in parts)

    def _words(self, texts: Sequence[str]) -> tuple[Integers, CodedWords]:
        """Return the indices of the texts that fit, and their words."""
        if self.runner.batch is None:
            texts = ()
        if not self.spaced:
            words, fits = self.encoder.coded(texts)
            fitting = np.flatnonzero(fits)
            return fitting, words.part(fitting)
        parsed = [(number, self._parsed(text)) for number, text in enumerate(texts)]
        encoder = self.runner.encoder
        kept = [
            (number, word)
            for number, word in parsed
            if not isinstance(word, TapeformerError) and encoder.fits(word)
        ]
        numbers = np.array([number for number, _ in kept], np.int64)
        return numbers, encoder.coded([word for _, word in kept])

    def _alone(self, text: str) -> Found:
        """Return the answer to an input that cannot run in a batch."""
        word = self._parsed(text)
        return word if isinstance(word, TapeformerError) else self.runner.alone(word)

    def _parsed(self, text: str) -> Word | TapeformerError:
        try:
            return parse_word(self.machine, text, self.spaced)
        except TapeformerError as error:
            return error


@dataclass(frozen=True)
class AnswerLines:
    """The task of a batch: lines of input become lines of JSON."""

    model: BatchModel
    readers: Readers | None = None

    def ready(self) -> Callable[[Sequence[str]], Answered]:
        """Load the model, and its machine code if it has any."""
        return Recorder(self.model, self.readers).answered
