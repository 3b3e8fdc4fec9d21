"""Ended inputs become lines of JSON: the input, what all lines of a model share, and the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from tapeformer.inference.batch.columns import ERROR, AnswerColumns, Ending, encoded
from tapeformer.inference.batch.runner import BatchModel, Block
from tapeformer.inference.decode import Reader
from tapeformer.inference.records import Record, model_record


class Lines(NamedTuple):
    """Lines of JSON joined by line feeds, and the outcome of each: "error" if it has no answer."""

    outcomes: Sequence[str]
    content: bytes

    def each(self) -> Iterator[Lines]:
        """Yield each line on its own."""
        for outcome, line in zip(self.outcomes, self.content.split(b"\n"), strict=True):
            yield Lines((outcome,), line)


class Answered(NamedTuple):
    """The answers to a group of inputs: how many came to each outcome, and their lines."""

    outcomes: Counter[str]
    content: bytes


def joined(lines: Iterable[Lines]) -> Answered:
    """Join lines as they are written to a file."""
    outcomes, contents = zip(*lines, strict=True)
    return Answered(Counter(chain.from_iterable(outcomes)), b"\n".join((*contents, b"")))


def answer_start(text: str | None, digest: str, spaced: bool) -> Record:
    """Return the keys that a line begins with: the input, the model, how the input was read."""
    return {"input": text, "model": digest, "spaced": spaced}


class LineMaker:
    """Makes the lines of one model; what they all share is encoded once."""

    def __init__(self, model: BatchModel, reader: Reader, engine: str) -> None:
        self.columns = AnswerColumns(reader, engine)
        start = answer_start(None, model.bundle.digest, model.options.spaced)
        del start["input"]
        self._start = encoded(start)[1:-1]
        self._model = encoded(start | model_record(model.bundle))[1:-1]

    def lines(self, block: Block, texts: Sequence[str]) -> Lines:
        """Return the lines of the inputs of a block."""
        endings = list(self.columns.endings(block))
        content = "\n".join(map(self._line, texts, endings))
        return Lines([outcome for outcome, _ in endings], _octets(content))

    def line(self, text: str, end: Ending) -> Lines:
        """Return the line of one input."""
        return Lines((end[0],), _octets(self._line(text, end)))

    def _line(self, text: str, end: Ending) -> str:
        outcome, rest = end
        shared = self._start if outcome == ERROR else self._model
        return f'{{"input": {encoded(text)}, {shared}, {rest}'


def _octets(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
