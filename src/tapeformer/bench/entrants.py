"""What is timed side by side: engines, the direct simulator, automata-lib, and batches.

Each makes one run afresh from its input and says what it made in how many seconds. Making an
engine or a machine is not timed here, nor is writing a word as tokens; reading the prompt is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from tapeformer.bench.peers import peer_machine, peer_name, peer_steps
from tapeformer.bundle.record import Bundle
from tapeformer.engines import native
from tapeformer.engines.batch import UNLIMITED, Budget, Ended, prompts_of
from tapeformer.engines.native.batch import Batch
from tapeformer.engines.registry import make_engine
from tapeformer.engines.stream import Stream
from tapeformer.inference.decode import Reader
from tapeformer.machine.record import TuringMachine
from tapeformer.simulator.fast import simulate

Word = Sequence[str]


@dataclass(frozen=True)
class Made:
    """What was made in a time and in how many runs; a direct simulation makes no tokens."""

    tokens: int
    steps: int
    seconds: float
    runs: int = 1

    def __add__(self, other: Made) -> Made:
        return Made(
            tokens=self.tokens + other.tokens,
            steps=self.steps + other.steps,
            seconds=self.seconds + other.seconds,
            runs=self.runs + other.runs,
        )


@dataclass(frozen=True)
class Entrant:
    """A name, and one run of it."""

    name: str
    once: Callable[[], Made]


def make_stream(engine: str, bundle: Bundle, folder: Path) -> Stream:
    """Return an engine whose machine code, if it has any, is kept in a folder."""
    if engine == "native":
        return native.Engine(bundle.weights, bundle.offsets, cache=folder)
    return make_engine(engine, bundle.weights, bundle.offsets)


def prompt_rows(reader: Reader, word: Word) -> NDArray[np.int32]:
    """Return a word as the tokens of a prompt."""
    return np.asarray(reader.prompt(tuple(word)), np.int32)


def of_engine(
    engine: str, bundle: Bundle, word: Word, folder: Path, steps: int, tokens: int
) -> Entrant:
    """Run an engine for so many steps or tokens, fewer where the machine halts."""
    reader = Reader(bundle)
    prompt = prompt_rows(reader, word)

    def once() -> Made:
        stream = make_stream(engine, bundle, folder)
        started = perf_counter()
        stream.prompt(prompt)
        made, counted = generated(stream, reader, steps, tokens)
        return Made(made, counted, perf_counter() - started)

    return Entrant(f"tapeformer {engine}", once)


def generated(stream: Stream, reader: Reader, steps: int, tokens: int) -> tuple[int, int]:
    """Run up to a number of steps or tokens, or to the verdict; return tokens and steps.

    A token makes at most one step, so no piece can pass the number of steps.
    """
    made = counted = 0
    while room := min(steps - counted, tokens - made):
        more, hits = stream.run(room, (reader.goes_on,), reader.makes_a_step)
        made, counted = made + more, counted + hits
        if more and reader.outcome(stream.last_token()) is not None:
            break
    return made, counted


def of_simulator(machine: TuringMachine, word: Word, steps: int) -> Entrant:
    """Return the project's own direct simulator."""

    def once() -> Made:
        started = perf_counter()
        made = simulate(machine, tuple(word), max_steps=steps).steps
        return Made(0, made, perf_counter() - started)

    return Entrant("tapeformer simulate", once)


def of_peer(machine: TuringMachine, word: Word, steps: int) -> Entrant:
    """Run automata-lib on the same machine, word and number of steps."""
    peer = peer_machine(machine)

    def once() -> Made:
        started = perf_counter()
        made = peer_steps(peer, machine, word, steps)
        return Made(0, made, perf_counter() - started)

    return Entrant(peer_name(machine), once)


def of_batch(bundle: Bundle, words: Sequence[Word], folder: Path, steps: int) -> Entrant:
    """Run many inputs at once in this process, each to its verdict or a number of steps."""
    reader, budget = Reader(bundle), Budget(steps, UNLIMITED)
    batch = Batch(bundle.weights, bundle.offsets, folder, watched=reader.watched)
    rows = [prompt_rows(reader, word) for word in words]
    starts = range(0, len(rows), batch.inputs)
    groups = [prompts_of(rows[start : start + batch.inputs]) for start in starts]

    def once() -> Made:
        started = perf_counter()
        ended: list[Ended] = []
        for prompts in groups:
            found = batch.run(prompts, reader.goes_on, reader.step_values, budget)
            ended += chain.from_iterable(found)
        seconds = perf_counter() - started
        tokens = sum(int(end.tokens.sum()) for end in ended)
        return Made(tokens, sum(int(end.counted.sum()) for end in ended), seconds)

    return Entrant(f"tapeformer native, {min(len(words), batch.inputs)} at once", once)
