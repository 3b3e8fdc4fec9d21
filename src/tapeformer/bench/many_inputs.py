"""Every engine against the number of inputs, end to end: from words to answers, in one process.

Loading the model is included and machine code is cached, so an engine for many inputs overtakes
one that takes them one by one as soon as its start has paid off.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, permutations
from pathlib import Path
from time import perf_counter

from tapeformer.bench.report import Row
from tapeformer.bundle.record import Bundle
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.engines.native import Engine
from tapeformer.faults import TapeformerError
from tapeformer.gallery import gallery_machine
from tapeformer.inference.answer import Answer
from tapeformer.inference.batch.engine_choice import has_gpu
from tapeformer.inference.batch.runner import BatchOptions, BatchRunner
from tapeformer.inference.generation import Counters, Generation, finished, generate
from tapeformer.inference.limits import Limits

MACHINE, DIGITS, STEPS = "binary_counter", 14, 200
"""Count up from numbers of this many digits, each for this many steps."""
COUNTS = tuple(4**power for power in range(8))
PATIENCE = 20.0
"""An engine stops before the row that would take longer than this many seconds."""

Words = Sequence[tuple[str, ...]]
Answering = Callable[[Words], Sequence[Answer | TapeformerError]]


def counter_words(count: int) -> list[tuple[str, ...]]:
    """Return distinct numbers as words."""
    return [tuple(format(number, f"0{DIGITS}b")) for number in range(count)]


def engines(bundle: Bundle, folder: Path) -> dict[str, Answering]:
    """Return functions that answer words, by engine; the GPU's only if there is one."""
    found: dict[str, Answering] = {
        "dense": lambda words: [_alone(bundle, word, "dense") for word in words],
        "sparse": lambda words: [_alone(bundle, word, "sparse") for word in words],
        "native, one by one": lambda words: list(_one_by_one(bundle, words, folder)),
    }
    for name, engine in (("native, many at once", "native"), ("gpu", "gpu")):
        if engine == "native" or has_gpu():
            options = BatchOptions(engine, max_steps=STEPS, cache=folder)
            found[name] = _together(bundle, options)
    return found


def _alone(bundle: Bundle, word: tuple[str, ...], engine: str) -> Answer:
    return generate(bundle, word, engine=engine, max_steps=STEPS)


def _one_by_one(bundle: Bundle, words: Words, folder: Path) -> Iterator[Answer]:
    """Run words one after another through one engine."""
    run = Generation(bundle, words[0], "sparse")
    run.engine = engine = Engine(bundle.weights, bundle.offsets, cache=folder)
    for word in words:
        tokens = run.reader.prompt(word)
        run.word, run.prompt_tokens = word, len(tokens)
        run.counts, run.outcome, run.ahead = Counters(), None, False
        engine.restart()
        engine.prompt(tokens)
        yield finished(run, Limits(STEPS))


def _together(bundle: Bundle, options: BatchOptions) -> Answering:
    return lambda words: BatchRunner(bundle, options).answers(words)


def many_inputs(
    folder: Path, tell: Callable[[str], None], counts: Sequence[int] = COUNTS
) -> list[Row]:
    """Return seconds end to end, microseconds per input and tokens per second, for each engine."""
    bundle = compile_machine(gallery_machine(MACHINE), CompileOptions(levels=5))
    rows: list[Row] = []
    for name, answering in engines(bundle, folder).items():
        answering(counter_words(1))
        per_input = 0.0
        for count in counts:
            if count * per_input > PATIENCE:
                break
            tell(f"{name}: {count:,} inputs")
            rows.append(_row(name, answering, counter_words(count)))
            per_input = rows[-1]["us per input"] / 1e6
    return rows


def _row(name: str, answering: Answering, words: Words) -> Row:
    started = perf_counter()
    answers = answering(words)
    seconds = perf_counter() - started
    tokens = sum(answer.cot_tokens for answer in answers if isinstance(answer, Answer))
    return {
        "engine": name,
        "inputs": len(words),
        "seconds end to end": seconds,
        "us per input": seconds / len(words) * 1e6,
        "tokens per second": tokens / seconds,
    }


def crossings(rows: Sequence[Row]) -> list[Row]:
    """Return from how many inputs one engine overtakes another, interpolated between two rows."""
    rates: dict[str, dict[int, float]] = {}
    for row in rows:
        rates.setdefault(row["engine"], {})[row["inputs"]] = row["tokens per second"]
    found: list[Row] = []
    for slower, faster in permutations(rates, 2):
        shared = sorted(rates[slower].keys() & rates[faster].keys())
        for low, high in pairwise(shared):
            before, after = (math.log(rates[faster][n] / rates[slower][n]) for n in (low, high))
            if before < 0 <= after:
                inputs = low * (high / low) ** (before / (before - after))
                found.append({"engine": faster, "overtakes": slower, "from inputs": round(inputs)})
    return found
