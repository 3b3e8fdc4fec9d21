"""Many inputs of one model: 256 at once by machine code, or one by one where there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from tapeformer.bundle.record import Bundle
from tapeformer.engines.logic.netlist import NotLogicError
from tapeformer.engines.native.batch import INPUTS, Batch, Ended, Limits
from tapeformer.faults import TapeformerError
from tapeformer.inference.answer import Answer
from tapeformer.inference.decode import Reader
from tapeformer.inference.generation import generate
from tapeformer.machine.record import TuringMachine
from tapeformer.simulator.result import Outcome

Word = tuple[str, ...]
Prompt = NDArray[np.int32]
Found = Answer | TapeformerError
"""What an input comes to: an answer, or why it does not fit the model."""


@dataclass(frozen=True)
class BatchOptions:
    """How far each input may go, how lines are read, and where machine code is kept.

    Without a folder it is kept in the user's. `processes`: how many run side by side; a model for
    which they do not all find memory is refused.
    """

    max_steps: int = 10**9
    max_tokens: int = 1 << 62
    spaced: bool = False
    cache: Path | None = None
    processes: int = 1


@dataclass(frozen=True, eq=False)
class BatchModel:
    """A machine, its model, and what is asked of them: all that answers depend on."""

    machine: TuringMachine
    bundle: Bundle
    options: BatchOptions = BatchOptions()


class BatchRunner:
    """One model, ready for any number of inputs, up to 256 at once."""

    def __init__(self, bundle: Bundle, options: BatchOptions) -> None:
        self.bundle, self.options, self.reader = bundle, options, Reader(bundle)
        self.batch: Batch | None = None
        try:
            self.batch = Batch(bundle.weights, bundle.offsets, options.cache, options.processes)
        except NotLogicError:
            self.batch = None

    def answers(self, words: Sequence[Word]) -> list[Found]:
        """What each input comes to, in order; an input that does not fit gives its error."""
        found: dict[int, Found] = {}
        prompts: dict[int, Prompt] = {}
        for index, word in enumerate(words):
            try:
                prompts[index] = np.asarray(self.reader.prompt(word), np.int32)
            except TapeformerError as error:
                found[index] = error
        order = sorted(prompts, key=lambda index: len(prompts[index]))
        for start in range(0, len(order), INPUTS):
            group = order[start : start + INPUTS]
            found |= zip(group, self._group(words, prompts, group), strict=True)
        return [found[index] for index in range(len(words))]

    def _group(
        self, words: Sequence[Word], prompts: dict[int, Prompt], group: list[int]
    ) -> Iterator[Found]:
        if self.batch is None:
            yield from (self._alone(words[index]) for index in group)
            return
        started = perf_counter()
        ended = self._ended(self.batch, [prompts[index] for index in group])
        seconds = (perf_counter() - started) / len(group)
        for index, end in zip(group, ended, strict=True):
            if end.doubted:
                yield self._alone(words[index])
            else:
                yield self._answer(end, len(prompts[index]), seconds)

    def _ended(self, batch: Batch, prompts: list[Prompt]) -> list[Ended]:
        """The prompts of one group, each to its end."""
        reader, options = self.reader, self.options
        return batch.run(
            prompts,
            stop=reader.goes_on,
            count=reader.makes_a_step,
            limits=Limits(options.max_steps, options.max_tokens),
        )

    def _alone(self, word: Word) -> Found:
        """An input that machine code cannot decide, by the sparse engine."""
        options = self.options
        return _or_error(
            lambda: generate(
                self.bundle,
                word,
                engine="sparse",
                max_steps=options.max_steps,
                max_tokens=options.max_tokens,
            )
        )

    def _answer(self, end: Ended, prompt_tokens: int, seconds: float) -> Found:
        """What the last window of an input says."""
        return _or_error(lambda: self._read(end, prompt_tokens, seconds))

    def _read(self, end: Ended, prompt_tokens: int, seconds: float) -> Answer:
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


def _or_error(make: Callable[[], Answer]) -> Found:
    """An answer, or the error instead: edited weights may make windows that mean nothing."""
    try:
        return make()
    except TapeformerError as error:
        return error
