"""Answers as lines of JSON: what was asked of which model, and what it came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tapeformer.dataclass import dataclass
from tapeformer.faults import TapeformerError
from tapeformer.inference.batch.columns import ERROR, AnswerColumns, Ending, encoded, ending
from tapeformer.inference.batch.prompts import CodedWords, TextEncoder, Word
from tapeformer.inference.batch.runner import BatchModel, BatchRunner, Found
from tapeformer.inference.records import Record, model_record
from tapeformer.machine.word import parse_word
from tapeformer.windows import Integers

MOST_KEPT = 1 << 13
"""Answers that are kept for equal inputs to come."""


class Line(NamedTuple):
    """One answer: its outcome, or "error", and its JSON."""

    outcome: str
    text: str


class Answered(NamedTuple):
    """The answers to a group of lines: how many came to each outcome, and their lines."""

    outcomes: Counter[str]
    content: bytes


def joined(lines: Iterable[Line]) -> Answered:
    """Return lines as they are written to a file."""
    outcomes, texts = zip(*lines, strict=True)
    return Answered(Counter(outcomes), "\n".join((*texts, "")).encode())


class Recorder:
    """Makes lines of JSON of lines of input; what all lines share is encoded once."""

    def __init__(self, model: BatchModel) -> None:
        self.machine, self.spaced = model.machine, model.options.spaced
        self.runner = BatchRunner(model.bundle, model.options)
        self.columns = AnswerColumns(self.runner)
        self.encoder = TextEncoder(self.runner.encoder, self.machine.word_symbols)
        self.kept: dict[str, Line] = {}
        start = answer_start(None, model.bundle.digest, self.spaced)
        del start["input"]
        self.start = encoded(start)[1:-1]
        self.model = encoded(start | model_record(model.bundle))[1:-1]

    def lines(self, texts: Sequence[str]) -> list[Line]:
        """The answers to some inputs, in order; equal ones are answered once while they are kept."""
        new = [text for text in dict.fromkeys(texts) if text not in self.kept]
        if len(self.kept) + len(new) > MOST_KEPT:
            self.kept.clear()
            new = list(dict.fromkeys(texts))
        for text, end in zip(new, self._endings(new), strict=True):
            self.kept[text] = self._line(text, end)
        return [self.kept[text] for text in texts]

    def _endings(self, texts: Sequence[str]) -> Iterator[Ending]:
        found: list[Ending | None] = [None] * len(texts)
        fitting, words = self._words(texts)
        for block in self.runner.blocks(words):
            numbers = fitting[block.numbers].tolist()
            for number, end in zip(numbers, self.columns.endings(block), strict=True):
                found[number] = end
        for text, known in zip(texts, found, strict=True):
            yield known or ending(self._alone(text))

    def _words(self, texts: Sequence[str]) -> tuple[Integers, CodedWords]:
        """Return the texts that fit, by number, and their words."""
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
        """Return what an input comes to that does not run beside others."""
        word = self._parsed(text)
        return word if isinstance(word, TapeformerError) else self.runner.alone(word)

    def _parsed(self, text: str) -> Word | TapeformerError:
        try:
            return parse_word(self.machine, text, self.spaced)
        except TapeformerError as error:
            return error

    def _line(self, text: str, end: Ending) -> Line:
        """Return the line of an answer: its input, what is the same in all, and the rest."""
        outcome, rest = end
        shared = self.start if outcome == ERROR else self.model
        return Line(outcome, f'{{"input": {encoded(text)}, {shared}, {rest}')


def answer_start(text: str | None, digest: str, spaced: bool) -> Record:
    """The keys that every line begins with: what was asked of which model, and how it was read."""
    return {"input": text, "model": digest, "spaced": spaced}


@dataclass(frozen=True)
class AnswerLines:
    """The task of a batch: lines of input become lines of JSON."""

    model: BatchModel

    def ready(self) -> Callable[[Sequence[str]], Answered]:
        """Load the model, and its machine code where there is any."""
        recorder = Recorder(self.model)
        return lambda texts: joined(recorder.lines(texts))
