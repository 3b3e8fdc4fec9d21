"""Measures the native engine: code generation cold and warm, and tokens per second.

`python -m tests.bench.native busy_beaver_5 --construction realtime --levels 12 --base 2` prints one
line of JSON; `--batch` measures as many streams at once as a vector register has bits. The best of several short runs is given,
because other work on the machine can only slow a run down.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from tapeformer.bundle.record import Bundle
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.engines import native
from tapeformer.engines.batch import Budget, prompts_of
from tapeformer.engines.logic.synthesis import netlist_of
from tapeformer.engines.native.batch import Batch
from tapeformer.engines.native.packed_program import packed_program
from tapeformer.gallery import gallery_machine
from tapeformer.inference.decode import Reader


def codegen(bundle: Bundle, folder: Path) -> tuple[native.Engine, dict[str, float]]:
    """An engine, and the seconds to make it without and with cached code."""
    started = perf_counter()
    native.Engine(bundle.weights, bundle.offsets, cache=folder)
    cold = perf_counter()
    engine = native.Engine(bundle.weights, bundle.offsets, cache=folder)
    return engine, {"cold": cold - started, "warm": perf_counter() - cold}


def single(engine: native.Engine, bundle: Bundle, tokens: int, runs: int) -> float:
    """Tokens per second of one stream: the best of several runs, one after another."""
    engine.prompt(Reader(bundle).prompt(()))
    engine.run(2 * bundle.window)
    best = 0.0
    for _ in range(runs):
        started = perf_counter()
        engine.run(tokens)
        best = max(best, tokens / (perf_counter() - started))
    return best


def batch(bundle: Bundle, folder: Path, tokens: int, runs: int) -> float:
    """Tokens per second of equal streams that do not stop before their limit."""
    reader = Reader(bundle)
    streams = Batch(bundle.weights, bundle.offsets, folder, watched=reader.watched)
    prompts = prompts_of([np.asarray(reader.prompt(()), np.int32)] * streams.inputs)
    best = 0.0
    for _ in range(runs):
        started = perf_counter()
        budget = Budget(1 << 40, tokens)
        ended = streams.run(prompts, reader.goes_on, reader.step_values, budget)
        made = sum(int(end.tokens.sum()) for end in chain.from_iterable(ended))
        best = max(best, made / (perf_counter() - started))
    return best


def main() -> None:
    """Prints what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("machine")
    parser.add_argument("--construction", default="paper")
    parser.add_argument("--levels", type=int, default=2)
    parser.add_argument("--base", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--batch", action="store_true")
    given = parser.parse_args()
    options = CompileOptions(given.construction, given.levels, given.base)
    bundle = compile_machine(gallery_machine(given.machine), options)
    record: dict[str, Any] = {**vars(given)}
    with tempfile.TemporaryDirectory() as folder:
        if given.batch:
            record["tokens_per_second"] = batch(bundle, Path(folder), given.tokens, given.runs)
        else:
            engine, seconds = codegen(bundle, Path(folder))
            record |= {"seconds": seconds, "reason": engine.reason}
            record["tokens_per_second"] = single(engine, bundle, given.tokens, given.runs)
            netlist = netlist_of(bundle.weights)
            record["gates"] = len(netlist.gates)
            record["operations"] = len(packed_program(netlist)[0].operations)
    print(json.dumps(record))


if __name__ == "__main__":
    main()
