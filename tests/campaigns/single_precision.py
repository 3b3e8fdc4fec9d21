"""Ours in single precision, and for very long, beside the direct simulation.

nice python -m tests.campaigns.single_precision --tokens 100000 --native 100000000

BB(5) at 12 levels: every token of the sparse engine in float32 is compared with the native engine's,
whose arithmetic has no floating point, and the tape decoded after every 1,000 tokens with the direct
simulation's. Then a counter of 40 digits runs natively, and its last configuration is compared. A
bound on every sum, from the weights alone, says why nothing is rounded.
"""

from __future__ import annotations

from argparse import ArgumentParser
from itertools import zip_longest
from time import perf_counter

import numpy as np

from tapeformer.bench.beaver import beaver_model
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.engines.exact import EXACT
from tapeformer.gallery import gallery_machine
from tapeformer.inference.generation import Generation
from tapeformer.inference.limits import Limits
from tapeformer.simulator.fast import simulate
from tapeformer.weights.bounds import sum_bounds

EVERY = 1000
DIGITS, LEVELS = 40, 12


def single(tokens: int) -> bool:
    """Compare tokens in float32 with those of integers, and tapes now and then."""
    bundle = beaver_model(LEVELS)
    largest = sum_bounds(bundle.weights).sums
    print(f"no sum exceeds {largest}; float32 is exact up to {EXACT['float32']:,}", flush=True)
    ours, exact = (
        Generation(bundle, (), "sparse", variant={"dtype": "float32"}),
        Generation(bundle, (), "native"),
    )
    limits, started, tapes = Limits(max_tokens=tokens), perf_counter(), 0
    pairs = zip_longest(ours.pieces(limits, EVERY), exact.pieces(limits, EVERY))
    for rows, others in pairs:
        if rows is None or others is None or not np.array_equal(rows, others):
            print(f"DIFFERENT within {EVERY} tokens after token {ours.counts.tokens - len(rows)}")
            return False
        direct = simulate(gallery_machine("busy_beaver_5"), max_steps=ours.counts.steps)
        decoded = ours.reader.configuration(ours.window())
        if (decoded.state, decoded.tapes) != (direct.state, direct.tapes):
            print(f"another configuration after {ours.counts.steps:,} steps")
            return False
        tapes += 1
    print(
        f"float32: {ours.counts.tokens:,} tokens, {ours.counts.steps:,} steps equal to the native"
        f" engine's; {tapes} configurations equal to the direct simulation's;"
        f" {perf_counter() - started:.0f} s",
        flush=True,
    )
    return True


def native(steps: int) -> bool:
    """Run a counter for long and compare where it ends."""
    machine, word = gallery_machine("binary_counter"), ("0",) * DIGITS
    run = Generation(compile_machine(machine, CompileOptions(levels=LEVELS)), word, "native")
    started = perf_counter()
    run.finish(Limits(steps))
    answer = run.answer(perf_counter() - started)
    direct = simulate(machine, word, max_steps=steps)
    same = (answer.steps, answer.state, answer.tapes) == (direct.steps, direct.state, direct.tapes)
    print(
        f"native: {answer.cot_tokens:,} tokens, {answer.steps:,} steps in {answer.seconds:.0f} s;"
        f" configuration {'equal to the direct simulation' if same else 'DIFFERENT'}",
        flush=True,
    )
    return same


def main() -> int:
    """Run both; the exit status is 1 where something differed."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=10**5, help="in float32")
    parser.add_argument("--native", type=int, default=10**8, help="steps of the native engine")
    options = parser.parse_args()
    return int(not all([native(options.native), single(options.tokens)]))


if __name__ == "__main__":
    raise SystemExit(main())
