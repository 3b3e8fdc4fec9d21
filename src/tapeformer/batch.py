"""Many inputs of one model: decoded at once where there is machine code, answers in order.

A file of inputs, one per line, becomes a file of JSON lines. Answers are appended in order and
in whole lines, so that a run that was interrupted goes on where it ended.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from tapeformer.engines.nativecode.batch import INPUTS, Batch, Ended, Limits
from tapeformer.engines.nativecode.facts import NotLogicError
from tapeformer.faults import Fault, Place, TapeformerError
from tapeformer.generation import Answer, Reader, generate
from tapeformer.simulator.result import Outcome
from tapeformer.weights.bundle import Bundle

Word = tuple[str, ...]
Record = dict[str, Any]


@dataclass(frozen=True)
class BatchOptions:
    """How far each input may go, and where machine code is kept (None: the user's folder)."""

    max_steps: int = 10**9
    max_tokens: int = 1 << 62
    cache: Path | None = None


class BatchRunner:
    """One model, ready for any number of inputs, up to 256 at once."""

    def __init__(self, bundle: Bundle, options: BatchOptions) -> None:
        self.bundle, self.options, self.reader = bundle, options, Reader(bundle)
        self.batch: Batch | None = None
        try:
            self.batch = Batch(bundle.weights, bundle.offsets, options.cache)
        except NotLogicError:
            self.batch = None

    def answers(self, words: Sequence[Word]) -> list[Answer | TapeformerError]:
        """What each input comes to, in order; an input that does not fit gives its error."""
        found: list[Answer | TapeformerError | None] = [None] * len(words)
        prompts = {}
        for index, word in enumerate(words):
            try:
                prompts[index] = np.asarray(self.reader.prompt(word), np.int32)
            except TapeformerError as error:
                found[index] = error
        order = sorted(prompts, key=lambda index: len(prompts[index]))
        for start in range(0, len(order), INPUTS):
            group = order[start : start + INPUTS]
            for index, answer in zip(group, self._group(words, prompts, group), strict=True):
                found[index] = answer
        return [answer for answer in found if answer is not None]

    def _group(
        self, words: Sequence[Word], prompts: dict[int, Any], group: list[int]
    ) -> Iterator[Answer]:
        reader, options = self.reader, self.options
        if self.batch is None:
            yield from (self._alone(words[index]) for index in group)
            return
        started = perf_counter()
        ended = self.batch.run(
            [prompts[index] for index in group],
            stop=(reader.verdict, reader.running),
            count=(reader.stepped, reader.step_mark),
            limits=Limits(options.max_steps, options.max_tokens),
        )
        seconds = (perf_counter() - started) / len(group)
        for index, end in zip(group, ended, strict=True):
            whole = self._alone(words[index]) if end.doubted else None
            yield whole or self._answer(end, len(prompts[index]), seconds)

    def _alone(self, word: Word) -> Answer:
        """An input that machine code cannot decide, by the sparse engine."""
        options = self.options
        return generate(
            self.bundle,
            word,
            engine="sparse",
            max_steps=options.max_steps,
            max_tokens=options.max_tokens,
        )

    def _answer(self, end: Ended, prompt_tokens: int, seconds: float) -> Answer:
        outcome = self.reader.outcome(end.window[-1].tolist()) if end.stopped else None
        read = self.reader.configuration(end.window)
        return Answer(
            bundle=self.bundle,
            engine="native",
            outcome=outcome or Outcome.LIMIT,
            state=read.state,
            steps=end.counted,
            tapes=read.tapes,
            prompt_tokens=prompt_tokens,
            boot_tokens=end.before,
            cot_tokens=end.tokens,
            margin=end.margin,
            seconds=seconds,
        )


def record_of(word: Word, answer: Answer | TapeformerError) -> Record:
    """The JSON of one input."""
    if isinstance(answer, TapeformerError):
        return {"input": list(word), "error": str(answer)}
    return {
        "input": list(word),
        "outcome": answer.outcome.value,
        "state": answer.state,
        "steps": answer.steps,
        "tapes": [list(tape.content) for tape in answer.tapes],
        "heads": [tape.head for tape in answer.tapes],
        "prompt_tokens": answer.prompt_tokens,
        "boot_tokens": answer.boot_tokens,
        "cot_tokens": answer.cot_tokens,
        "margin": answer.margin,
    }


def run_file(
    bundle: Bundle,
    inputs: Path,
    answers: Path,
    options: BatchOptions,
    *,
    read: Callable[[str], Word] = tuple,
    processes: int = 2,
    watch: Callable[[int], None] | None = None,
) -> int:
    """Answers every line of a file, in order, as JSON lines; answers that are there are kept.

    `read` makes a word of a line; `watch` is told how many inputs are answered. The number of
    inputs is the answer.
    """
    words = [read(line) for line in inputs.read_text(encoding="utf-8").splitlines()]
    done = _resumed(answers, words)
    with answers.open("a", encoding="utf-8") as file:
        for found in _groups(bundle, options, words[done:], processes):
            file.write("".join(f"{json.dumps(record)}\n" for record in found))
            file.flush()
            os.fsync(file.fileno())
            done += len(found)
            if watch is not None:
                watch(done)
    return done


def _resumed(answers: Path, words: Sequence[Word]) -> int:
    """How many inputs are answered already; half a line at the end is removed."""
    if not answers.exists():
        return 0
    content = answers.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    lines = whole.splitlines()
    try:
        answered = [tuple(json.loads(line)["input"]) for line in lines]
    except (ValueError, KeyError, TypeError):
        answered = [("?",) * (1 + max(map(len, words), default=0))]
    if answered != list(words[: len(answered)]):
        raise TapeformerError(
            Fault(
                "the file has answers to other inputs",
                Place(str(answers)),
                expected="the answers of an interrupted run, or no such file",
                remedy="remove it, or choose another name",
            )
        )
    os.truncate(answers, len(whole))
    return len(lines)


def _groups(
    bundle: Bundle, options: BatchOptions, words: Sequence[Word], processes: int
) -> Iterator[list[Record]]:
    """The answers of one group of inputs after another; a few are under way at a time."""
    groups = iter([list(words[i : i + INPUTS]) for i in range(0, len(words), INPUTS)])
    if processes < 2 or len(words) <= INPUTS:
        yield from (_records(bundle, options, group) for group in groups)
        return
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:

        def begin(count: int) -> list[Future[list[Record]]]:
            return [pool.submit(_records, bundle, options, g) for g in islice(groups, count)]

        pending = begin(processes + 1)
        while pending:
            yield pending.pop(0).result()
            pending += begin(1)


def _records(bundle: Bundle, options: BatchOptions, words: list[Word]) -> list[Record]:
    """The work of one process; machine code comes from the cache after the first time."""
    answers = BatchRunner(bundle, options).answers(words)
    return [record_of(word, answer) for word, answer in zip(words, answers, strict=True)]
