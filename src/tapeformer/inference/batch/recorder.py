"""Answers as lines of JSON: what was asked of which model, and what it came to."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from tapeformer.bundle.save import model_digest
from tapeformer.faults import TapeformerError
from tapeformer.inference.batch.runner import BatchModel, BatchRunner, Found
from tapeformer.inference.records import Record, model_record, outcome_record
from tapeformer.machine.word import parse_word

ERROR = "error"


class Line(NamedTuple):
    """One answer: its outcome, or "error", and its JSON."""

    outcome: str
    text: str


encoded = json.JSONEncoder(ensure_ascii=False).encode


class Recorder:
    """Makes lines of JSON of lines of input; what all lines share is encoded once."""

    def __init__(self, model: BatchModel) -> None:
        self.machine, self.spaced = model.machine, model.options.spaced
        self.runner = BatchRunner(model.bundle, model.options)
        start = answer_start(None, model_digest(model.bundle), self.spaced)
        del start["input"]
        self.start = encoded(start)[1:-1]
        self.model = encoded(start | model_record(model.bundle))[1:-1]

    def lines(self, texts: list[str]) -> list[Line]:
        """The answers to some inputs, in order; equal ones are answered once."""
        distinct = list(dict.fromkeys(texts))
        known = dict(zip(distinct, self._answered(distinct), strict=True))
        return [known[text] for text in texts]

    def _answered(self, texts: list[str]) -> list[Line]:
        parsed = [self._parsed(text) for text in texts]
        words = [word for word in parsed if not isinstance(word, TapeformerError)]
        answers = iter(self.runner.answers(words))
        found = (word if isinstance(word, TapeformerError) else next(answers) for word in parsed)
        return [self._line(text, answer) for text, answer in zip(texts, found, strict=True)]

    def _parsed(self, text: str) -> tuple[str, ...] | TapeformerError:
        try:
            return parse_word(self.machine, text, self.spaced)
        except TapeformerError as error:
            return error

    def _line(self, text: str, answer: Found) -> Line:
        """Return the record of an answer: its input, what is the same in all, and the rest."""
        if isinstance(answer, TapeformerError):
            outcome, shared, rest = ERROR, self.start, encoded({ERROR: str(answer)})
        else:
            outcome, shared = answer.outcome.value, self.model
            rest = encoded(outcome_record(answer))
        return Line(outcome, f'{{"input": {encoded(text)}, {shared}, {rest[1:]}')


def answer_start(text: str | None, digest: str, spaced: bool) -> Record:
    """The keys that every line begins with: what was asked of which model, and how it was read."""
    return {"input": text, "model": digest, "spaced": spaced}


@dataclass(frozen=True)
class AnswerLines:
    """The task of a batch: lines of input become lines of JSON."""

    model: BatchModel

    def ready(self) -> Callable[[list[str]], list[Line]]:
        """Load the model, and its machine code where there is any."""
        return Recorder(self.model).lines
