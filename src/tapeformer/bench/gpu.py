"""The GPU engine: its kernels alone, its tokens against the native engine's, end-to-end times."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from tapeformer.bench.report import Row
from tapeformer.bundle.record import Bundle
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.engines.batch import UNLIMITED, Budget, Prompts
from tapeformer.engines.gpu.batch import GpuBatch
from tapeformer.engines.gpu.blocks import Blocks
from tapeformer.engines.gpu.driver import CudaDevice, has_device
from tapeformer.engines.gpu.memory_layout import BLOCK_INPUTS, BLOCK_THREADS
from tapeformer.engines.gpu.prompt_masks import block_groups
from tapeformer.engines.native.engine import Engine
from tapeformer.faults import Fault, TapeformerError
from tapeformer.gallery import gallery_machine
from tapeformer.inference.batch.prompts import PromptEncoder, Word
from tapeformer.inference.batch.run import run_batch_file
from tapeformer.inference.decode import Reader
from tapeformer.windows import Integers

Say = Callable[[str], None]

MODELS = {
    "busy_beaver_5, realtime, 5 levels": ("busy_beaver_5", CompileOptions(levels=5)),
    "busy_beaver_5, realtime, 12 levels": ("busy_beaver_5", CompileOptions(levels=12)),
    "palindrome, paper, 3 levels, base 4": (
        "palindrome",
        CompileOptions(construction="paper", levels=3, base=4),
    ),
}
LONG_PALINDROME = tuple("ab" * 15 + "ba" * 15)
NEVER = UNLIMITED
LAUNCHES, LAUNCH_TOKENS = 5, 1024
COUNTER_BITS = 24
"""Digits of the binary counter's inputs: distinct numbers, all far from their end."""
STEPS = (10**5, 10**4, 5_000, 2_000, 1_000)
CROSSING_INPUTS, CROSSING_STEPS = (1 << 12, 1 << 14, 1 << 16), 10**4
SAMPLE_TOKENS, SAMPLE_INPUTS = 1 << 32, (1 << 15, 1 << 19)
"""The sample that two cores answer: its tokens, and its least and most inputs. Its time is scaled,
so it must be long compared to the second in which one core works and the other starts."""


def check_device() -> None:
    """Raise if there is no GPU to measure."""
    if not has_device():
        what = "there is no GPU that an NVIDIA driver can use"
        raise TapeformerError(Fault(what, remedy="measure where there is one"))


class TimedDevice(CudaDevice):
    """A device that records how long its last launch took."""

    seconds = 0.0

    def launch(
        self,
        kernel: str,
        blocks: int,
        threads: int,
        pointers: Sequence[int],
        numbers: Sequence[int],
    ) -> None:
        """Launch a kernel, wait for it, and time it."""
        started = perf_counter()
        super().launch(kernel, blocks, threads, pointers, numbers)
        self.seconds = perf_counter() - started


def kernel_rows(say: Say) -> Iterator[Row]:
    """Measure the kernels alone: all blocks that run concurrently, every input still running."""
    for name, (machine, options) in MODELS.items():
        say(f"kernel: {name}")
        word = LONG_PALINDROME if machine == "palindrome" else ()
        bundle = compile_machine(gallery_machine(machine), options)
        with tempfile.TemporaryDirectory() as nothing:
            yield {"model": name, **_kernel(bundle, word, Path(nothing))}


def _kernel(bundle: Bundle, word: Word, cache: Path) -> Row:
    started, device, reader = perf_counter(), TimedDevice(), Reader(bundle)
    batch = GpuBatch(bundle.weights, bundle.offsets, lambda: device, cache)
    kernel = batch.prepared(reader.goes_on, reader.step_values)
    ready = perf_counter() - started
    count = device.concurrent_blocks(BLOCK_THREADS)
    prompts = _repeated(PromptEncoder(reader).prompts([word]), count * BLOCK_INPUTS)
    with Blocks(kernel, device, prompts, Budget(NEVER, NEVER), count) as blocks:
        blocks.feed(dict(enumerate(block_groups(prompts.lengths))))
        while int(blocks.newest[0]) < kernel.window:
            blocks.advance(kernel.window)
        rates = _rates(blocks, device)
        assert blocks.live.all(), "an input has ended while the kernel was measured"
    device.close()
    return {
        "inputs at once": count * BLOCK_INPUTS,
        "tokens per second": median(rates),
        "least": min(rates),
        "most": max(rates),
        "seconds to make and load": ready,
    }


def _repeated(prompts: Prompts, count: int) -> Prompts:
    """Repeat a prompt."""
    ids = np.repeat(prompts.ids, count, axis=1)
    return Prompts(prompts.rows, ids, np.repeat(prompts.lengths, count))


def _rates(blocks: Blocks, device: TimedDevice) -> list[float]:
    """Measure the tokens per second of several launches."""
    rates = []
    for _ in range(LAUNCHES):
        blocks.advance(LAUNCH_TOKENS)
        rates.append(LAUNCH_TOKENS * blocks.live.size / device.seconds)
    return rates


def compared_rows(say: Say, inputs: int = 768, tokens: int = 800) -> Iterator[Row]:
    """Compare every token of distinct inputs with the native engine's."""
    for name, (machine, options) in MODELS.items():
        say(f"comparing: {name}")
        bundle = compile_machine(gallery_machine(machine), options)
        symbols = "ab" if machine == "palindrome" else "01"
        words = [_numeral(number, symbols) for number in range(inputs)]
        yield {"model": name, **_compared(bundle, words, tokens)}


def _numeral(number: int, symbols: str) -> Word:
    """Return number + 1 in binary without its first digit: all words differ, the first is empty."""
    return tuple(symbols[int(digit)] for digit in f"{number + 1:b}"[1:])


def _compared(bundle: Bundle, words: Sequence[Word], tokens: int) -> Row:
    """Make one token at a time on the GPU, and compare all of it."""
    reader, device = Reader(bundle), CudaDevice()
    batch = GpuBatch(bundle.weights, bundle.offsets, lambda: device)
    kernel = batch.prepared(reader.goes_on, reader.step_values)
    prompts = PromptEncoder(reader).prompts(words)
    traces = list(_native_traces(bundle, reader, words, tokens))
    groups = block_groups(prompts.lengths)
    compared = wrong = 0
    with Blocks(kernel, device, prompts, Budget(NEVER, NEVER), len(groups)) as blocks:
        blocks.feed(dict(enumerate(groups)))
        for made in range(tokens):
            block, lane = np.nonzero(blocks.live)
            if not len(block):
                break
            blocks.advance(1)
            found = _newest(blocks, block, lane, len(bundle.weights.factors))
            numbers = blocks.inputs[block, lane].tolist()
            said = np.stack([traces[number][made] for number in numbers])
            compared += len(said)
            wrong += int((found != said).any(axis=1).sum())
    device.close()
    return {"inputs": len(words), "tokens compared": compared, "wrong": wrong}


def _newest(blocks: Blocks, block: Integers, lane: Integers, factors: int) -> Integers:
    """Read every factor of the newest tokens in some blocks and lanes."""
    windows = blocks.windows(block, lane, blocks.newest[block])
    newest = windows.at(np.arange(len(block)), np.array(0))
    return np.stack([newest.values(factor) for factor in range(factors)], axis=1)


def _native_traces(
    bundle: Bundle, reader: Reader, words: Sequence[Word], tokens: int
) -> Iterator[np.ndarray[tuple[int, ...], np.dtype[np.int32]]]:
    """Yield the first tokens of each word, made by the native engine."""
    engine = Engine(bundle.weights, bundle.offsets)
    for word in words:
        engine.restart()
        engine.prompt(reader.prompt(word))
        yield engine.advance(tokens, (reader.goes_on,))


def end_to_end_rows(say: Say, inputs: int) -> Iterator[Row]:
    """Measure files of distinct inputs, from reading them to the last answer on disk.

    Two cores answer a sample, and their time is scaled up to all inputs.
    """
    with tempfile.TemporaryDirectory() as folder:
        words = Path(folder) / "words.txt"
        _write_numbers(words, inputs)
        for steps in STEPS:
            say(f"end to end: {inputs:,} inputs, {steps:,} steps each")
            gpu = _answered(words, Path(folder) / f"gpu.{steps}", "gpu", steps)
            least, most = SAMPLE_INPUTS
            count = min(inputs, most, max(least, SAMPLE_TOKENS // steps))
            sample = Path(folder) / f"sample.{steps}"
            _write_numbers(sample, count)
            native = _answered(sample, Path(folder) / f"native.{steps}", "native", steps)
            native *= inputs / count
            yield {
                "inputs": inputs,
                "steps each": steps,
                "gpu, seconds": gpu,
                "gpu, microseconds per input": 1e6 * gpu / inputs,
                "gpu, tokens per second": inputs * steps / gpu,
                "two cores, seconds (scaled)": native,
                "sample": count,
                "gpu over two cores": native / gpu,
            }


def crossing_rows(say: Say) -> Iterator[Row]:
    """Measure few to many inputs on two cores and on the GPU, and which one `auto` ends up on."""
    with tempfile.TemporaryDirectory() as folder:
        for count in CROSSING_INPUTS:
            say(f"crossing: {count:,} inputs, {CROSSING_STEPS:,} steps each")
            words = Path(folder) / f"words.{count}"
            _write_numbers(words, count)
            answers = {name: words.with_suffix(f".{name}") for name in ("native", "gpu", "auto")}
            seconds = {
                name: _answered(words, path, name, CROSSING_STEPS) for name, path in answers.items()
            }
            yield {
                "inputs": count,
                "steps each": CROSSING_STEPS,
                **{f"{name}, seconds": taken for name, taken in seconds.items()},
                "gpu over two cores": seconds["native"] / seconds["gpu"],
                "auto ends on": _last_engine(answers["auto"]),
                "answers differ": _differing(answers["native"], answers["gpu"]),
            }


def _last_engine(answers: Path) -> str:
    return str(json.loads(answers.read_bytes().splitlines()[-1])["engine"])


def _differing(native: Path, gpu: Path) -> int:
    """Count the answers that differ in more than the engine's name."""
    lines = zip(native.read_bytes().splitlines(), gpu.read_bytes().splitlines(), strict=True)
    return sum(
        one != other.replace(b'"engine": "gpu"', b'"engine": "native"') for one, other in lines
    )


def _write_numbers(path: Path, count: int) -> None:
    numbers = (f"{number:0{COUNTER_BITS}b}\n" for number in range(count))
    path.write_text("".join(numbers), encoding="utf-8")


def _answered(words: Path, answers: Path, engine: str, steps: int) -> float:
    started = perf_counter()
    run_batch_file("binary_counter", words, answers, engine=engine, max_steps=steps)
    return perf_counter() - started


def first_answer_rows() -> Iterator[Row]:
    """Measure a whole process that answers a single line, with nothing cached."""
    for name, options in {"busy_beaver_4": [], "busy_beaver_5": ["--max-steps", "1000"]}.items():
        with tempfile.TemporaryDirectory() as folder:
            words = Path(folder) / "words.txt"
            words.write_text("\n", encoding="utf-8")
            command = [sys.executable, "-m", "tapeformer", "run", name, "--batch", str(words)]
            environment = {"XDG_CACHE_HOME": folder, "CUDA_CACHE_DISABLE": "1"}
            started = perf_counter()
            subprocess.run(
                [*command, "--engine", "gpu", *options],
                env={**os.environ, **environment},
                stdout=subprocess.DEVNULL,
                check=name == "busy_beaver_4",
            )
            yield {"machine": name, "levels": 12, "seconds": perf_counter() - started}
