"""Many inputs of one model: at once by machine code or on a GPU, one by one without gates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tapeformer.bundle.record import Bundle
from tapeformer.dataclass import dataclass
from tapeformer.engines.batch import UNLIMITED, BatchEngine, Budget, Ended
from tapeformer.engines.logic.not_logic import NotLogicError
from tapeformer.engines.native.batch import Batch
from tapeformer.faults import Fault, TapeformerError
from tapeformer.inference.batch.prompts import CodedWords, PromptEncoder, Word
from tapeformer.inference.decode import Reader
from tapeformer.inference.limits import MOST_STEPS, Limits
from tapeformer.machine.record import TuringMachine
from tapeformer.simulator.outcome import Outcome
from tapeformer.windows import Integers
from tapeformer.workers.task import still_wanted

if TYPE_CHECKING:
    from tapeformer.inference.answer import Answer

MOST_TOKENS = UNLIMITED
"""How many tokens an input may take if no limit is given."""
MOST_PROMPT_TOKENS = 1 << 28
"""Tokens of prompts that are kept at once, all as long as the longest: a gibibyte."""

Found: TypeAlias = "Answer | TapeformerError"
"""The result of an input: an answer, or an error, such as why it does not fit the model."""


@dataclass(frozen=True)
class BatchOptions:
    """How far each input may go, how lines are read, and where machine code is cached.

    `cache` defaults to the user's cache folder. `processes`: how many run side by side; if memory
    is too small for all of them, each answers fewer inputs at once.
    """

    engine: str = "native"
    max_steps: int = MOST_STEPS
    max_tokens: int = MOST_TOKENS
    spaced: bool = False
    cache: Path | None = None
    processes: int = 1

    @property
    def limits(self) -> Limits:
        """How far an input that runs alone may go."""
        return Limits(self.max_steps, self.max_tokens)


@dataclass(frozen=True, eq=False)
class BatchModel:
    """A machine, its model and the options: everything that answers depend on."""

    machine: TuringMachine
    bundle: Bundle
    options: BatchOptions = BatchOptions()


def prompts_at_once(sizes: Integers) -> int:
    """Return how many of some words, shortest first, have prompts that fit into memory together."""
    padded = (sizes + 1) * np.arange(1, len(sizes) + 1)
    return max(1, int(np.searchsorted(padded, MOST_PROMPT_TOKENS, side="right")))


def batch_engine(reader: Reader, options: BatchOptions) -> BatchEngine:
    """Return the engine that was asked for; NotLogicError if the weights have no gates."""
    bundle = reader.bundle
    if options.engine == "gpu":
        from tapeformer.engines.gpu.driver import REMEDY, opened_ahead

        opened = opened_ahead()  # before more imports: the driver is slow to start
        from tapeformer.engines.gpu.batch import GpuBatch

        batch = GpuBatch(bundle.weights, bundle.offsets, opened, options.cache)
        try:
            batch.prepared(reader.goes_on, reader.step_values)
        except NotLogicError as error:
            what = "a GPU cannot run this model"
            raise TapeformerError(Fault(what, got=str(error), remedy=REMEDY)) from None
        return batch
    return Batch(
        bundle.weights,
        bundle.offsets,
        options.cache,
        options.processes,
        watched=reader.watched,
    )


@dataclass(frozen=True, eq=False)
class Block:
    """Inputs that ended together, by number, with the length of each one's prompt.

    `found` has their results if those cannot be read from their windows.
    """

    numbers: Integers
    ended: Ended
    prompt_tokens: Integers
    seconds: float
    found: list[Found] | None = None

    def answers(self, reader: Reader, engine: str) -> Iterator[Found]:
        """Yield the result of each input; an error if edited weights made a meaningless window."""
        if self.found is not None:
            return iter(self.found)
        return answers_of(reader, engine, self.ended, self.prompt_tokens, self.seconds)


class BatchRunner:
    """One model, ready for any number of inputs."""

    def __init__(self, bundle: Bundle, options: BatchOptions) -> None:
        self.bundle, self.options, self.reader = bundle, options, Reader(bundle)
        self.encoder = PromptEncoder(self.reader)
        self.rest = options.max_steps % self.reader.steps_per_token
        self.budget = Budget(options.max_steps - self.rest, options.max_tokens)
        self.batch: BatchEngine | None = None
        try:
            self.batch = batch_engine(self.reader, options)
        except NotLogicError:
            self.batch = None

    @property
    def engine(self) -> str:
        """The name of the engine that answers many inputs at once; "" if there is none."""
        return self.batch.name if self.batch is not None else ""

    def answers(self, words: Sequence[Word]) -> list[Found]:
        """Return the result of each input, in order; an input that does not fit gives its error."""
        found: list[Found | None] = [None] * len(words)
        fitting = []
        for index, word in enumerate(words):
            if self.batch is not None and self.encoder.fits(word):
                fitting.append(index)
            else:
                found[index] = self.alone(word)
        coded = self.encoder.coded([words[index] for index in fitting])
        for block in chain.from_iterable(self.blocks(coded)):
            answers = block.answers(self.reader, self.engine)
            for number, answer in zip(block.numbers.tolist(), answers, strict=True):
                found[fitting[number]] = answer
        return [answer for answer in found if answer is not None]

    def blocks(self, words: CodedWords) -> Iterator[list[Block]]:
        """Run words that fit, those of similar length together; yield those that end together.

        Their windows are only valid until the next ones are asked for.
        """
        order = np.argsort(words.sizes, kind="stable")
        size = self.batch.inputs if self.batch is not None else 1
        while len(order):
            group = order[: prompts_at_once(words.sizes[order[:size]])]
            yield from self._group(group, words.part(group))
            order = order[len(group) :]

    def _group(self, group: Integers, words: CodedWords) -> Iterator[list[Block]]:
        """Run words side by side."""
        assert self.batch is not None
        started, reader = perf_counter(), self.reader
        prompts = self.encoder.prompts(words)
        for parts in self.batch.run(prompts, reader.goes_on, reader.step_values, self.budget):
            known = [self._known(words, ended) for ended in parts]
            seconds = (perf_counter() - started) / len(words)
            yield [
                Block(group[ended.inputs], ended, prompts.lengths[ended.inputs], seconds, found)
                for ended, found in zip(parts, known, strict=True)
            ]

    def _known(self, words: CodedWords, ended: Ended) -> list[Found] | None:
        """Return the results of inputs if windows alone cannot tell them, else None."""
        if ended.doubted.any():
            return [self.alone(self.encoder.word(words, n)) for n in ended.inputs.tolist()]
        if self.rest and not ended.stopped.any():
            return list(self._continued(words, ended))
        return None

    def _continued(self, words: CodedWords, ended: Ended) -> Iterator[Found]:
        """Continue inputs with fewer steps left than a token makes: one may still end in them."""
        from tapeformer.inference.generation import Counters, Generation, finished

        columns = (ended.inputs, ended.tokens, ended.counted, ended.before, ended.margin)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for number, (index, tokens, steps, before, margin) in enumerate(rows):
            run = Generation(self.bundle, self.encoder.word(words, index), "sparse")
            counts = Counters(tokens, steps, before if steps else None)
            run.resume(ended.windows.rows(number), run.prompt_tokens, counts)
            run.engine.margin = margin
            yield _or_error(partial(finished, run, self.options.limits))

    def alone(self, word: Word) -> Found:
        """Return the result of an input that machine code cannot decide, from the sparse engine."""
        from tapeformer.inference.generation import generate

        options = self.options
        return _or_error(
            lambda: generate(
                self.bundle,
                word,
                engine="sparse",
                max_steps=options.max_steps,
                max_tokens=options.max_tokens,
                watch=still_wanted,
            )
        )


def answers_of(
    reader: Reader, engine: str, ended: Ended, prompt_tokens: Integers, seconds: float
) -> Iterator[Found]:
    """Yield the answers in the last windows of inputs; an error for a meaningless window."""
    from tapeformer.inference.answer import Answer

    verdicts = reader.outcomes(ended.windows)
    columns = (prompt_tokens, ended.before, ended.tokens, ended.counted, ended.margin)
    numbers = zip(*(column.tolist() for column in columns), strict=True)
    read = zip(verdicts, reader.configurations(ended.windows), numbers, strict=True)
    for verdict, decoded, (prompt, before, tokens, counted, margin) in read:
        if isinstance(decoded, TapeformerError):
            yield decoded
            continue
        yield Answer(
            bundle=reader.bundle,
            engine=engine,
            outcome=verdict or Outcome.LIMIT,
            state=decoded.state,
            steps=counted,
            tapes=decoded.tapes,
            prompt_tokens=prompt,
            boot_tokens=before,
            cot_tokens=tokens,
            margin=margin,
            seconds=seconds,
        )


def _or_error(make: Callable[[], Answer]) -> Found:
    """Return an answer, or the error: edited weights may make meaningless windows."""
    try:
        return make()
    except TapeformerError as error:
        return error
